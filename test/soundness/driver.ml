(* Runs the extracted rules. Each line of the input asks one question; each line of the output answers one.
   H scheme message digest: the digest of a message, for the real hashes, which are not written here.
   C scheme kind root key proof: one leaf proof
   A scheme stateRoot emptyRoot address keys proof proof*: an answer
   T root key nodes: a Merkle-Patricia proof
   W stateRoot address nodes keys nodes*: what eth_getProof answers, with the nodes of each key
   R values: the root of a list
   V root word*: the receipts of a block: R, type, status, gas and bloom begin one, L, address, topics and data a log of it
   M root message index nodes: the place of a message
   X scheme parentRoot endRoot emptyRoot word*: a transition, where B begins a block, and the words of a trace begin with its
   address, the key of its slot or -, and its type
   where a proof is one of
   E servedKey index value nodes
   N servedKey leftIndex leftValue leftNodes rightIndex rightValue rightNodes
   - *)
open Verifier

let digit = function
  | '0' .. '9' as c -> Char.code c - 48
  | 'a' .. 'f' as c -> Char.code c - 87
  | _ -> failwith "not a digit"

let bytes_of hex =
  let rec from i = if i < 2 then [] else Char.chr ((16 * digit hex.[i - 2]) + digit hex.[i - 1]) :: from (i - 2) in
  List.rev (from (String.length hex))

let string_of bytes =
  let text = Bytes.create (List.length bytes) in
  List.iteri (Bytes.unsafe_set text) bytes;
  Bytes.unsafe_to_string text

let hex_of bytes = String.concat "" (List.map (fun c -> Printf.sprintf "%02x" (Char.code c)) bytes)
let list_of text = List.of_seq (String.to_seq text)

let rec nat_of = function 0 -> O | k -> S (nat_of (k - 1))
let rec positive_of k = if k = 1 then XH else if k land 1 = 1 then XI (positive_of (k / 2)) else XO (positive_of (k / 2))
let natural_of k = if k = 0 then N0 else Npos (positive_of k)

let integer_of text =
  let is_negative = text.[0] = '-' in
  let add total c = N.add (N.mul total (natural_of 10)) (natural_of (digit c)) in
  match String.fold_left (fun total c -> if c = '-' then total else add total c) N0 text with
  | N0 -> Z0
  | Npos p -> if is_negative then Zneg p else Zpos p

let rec int_of_positive = function XH -> 1 | XO p -> 2 * int_of_positive p | XI p -> (2 * int_of_positive p) + 1
let int_of = function N0 -> 0 | Npos p -> int_of_positive p

let digests = Hashtbl.create 100_000

let real_hash name message =
  match Hashtbl.find_opt digests (name, string_of message) with
  | Some digest -> digest
  | None -> failwith ("the other verifier has not hashed " ^ hex_of message)

let md5 message = list_of (Digest.string (string_of message))
let depth = nat_of 40

let scheme_of = function
  | "mimc" -> mimc depth (real_hash "mimc")
  | "poseidon2" -> poseidon2 depth (real_hash "poseidon2")
  | "toy-mimc" -> mimc depth (fun message -> List.init 16 (fun _ -> '\000') @ md5 message)
  | "toy-poseidon2" -> poseidon2 depth (fun message -> widen (md5 message))
  | name -> failwith name

(* The constants of a scheme are computed once. *)
let schemes = Hashtbl.create 4

let scheme name =
  match Hashtbl.find_opt schemes name with
  | Some known -> known
  | None ->
      let made = scheme_of name in
      Hashtbl.add schemes name made;
      made

let name_of = function
  | WRONG_LENGTH -> "WRONG_LENGTH"
  | WRONG_NODE_COUNT -> "WRONG_NODE_COUNT"
  | SCHEME_MISMATCH -> "SCHEME_MISMATCH"
  | ZERO_OPENING -> "ZERO_OPENING"
  | NON_CANONICAL -> "NON_CANONICAL"
  | INDEX_OUT_OF_RANGE -> "INDEX_OUT_OF_RANGE"
  | KEY_MISMATCH -> "KEY_MISMATCH"
  | SENTINEL_MISPLACED -> "SENTINEL_MISPLACED"
  | SUB_ROOT_MISMATCH -> "SUB_ROOT_MISMATCH"
  | STATE_ROOT_MISMATCH -> "STATE_ROOT_MISMATCH"
  | STORAGE_ROOT_MISMATCH -> "STORAGE_ROOT_MISMATCH"
  | LEAF_KEY_MISMATCH -> "LEAF_KEY_MISMATCH"
  | VALUE_MISMATCH -> "VALUE_MISMATCH"
  | VALUE_OUT_OF_RANGE -> "VALUE_OUT_OF_RANGE"
  | ZERO_VALUE -> "ZERO_VALUE"
  | NOT_ADJACENT -> "NOT_ADJACENT"
  | KEY_NOT_BETWEEN -> "KEY_NOT_BETWEEN"
  | STORAGE_PROOF_MISSING -> "STORAGE_PROOF_MISSING"
  | STORAGE_PROOF_UNEXPECTED -> "STORAGE_PROOF_UNEXPECTED"
  | RLP_NON_CANONICAL -> "RLP_NON_CANONICAL"
  | MPT_NODES_MISSING -> "MPT_NODES_MISSING"
  | MPT_HASH_MISMATCH -> "MPT_HASH_MISMATCH"
  | MPT_NODES_UNUSED -> "MPT_NODES_UNUSED"
  | MPT_NODE_MALFORMED -> "MPT_NODE_MALFORMED"
  | MPT_PATH_NON_CANONICAL -> "MPT_PATH_NON_CANONICAL"
  | L1_ACCOUNT_MALFORMED -> "L1_ACCOUNT_MALFORMED"
  | L1_VALUE_MALFORMED -> "L1_VALUE_MALFORMED"
  | MESSAGE_MALFORMED -> "MESSAGE_MALFORMED"
  | MESSAGE_INDEX -> "MESSAGE_INDEX"
  | MESSAGE_ROOT_MISMATCH -> "MESSAGE_ROOT_MISMATCH"
  | MESSAGE_DEPTH_MISMATCH -> "MESSAGE_DEPTH_MISMATCH"
  | TRACE_SIBLING_COUNT -> "TRACE_SIBLING_COUNT"
  | TRACE_KEY_MISMATCH -> "TRACE_KEY_MISMATCH"
  | TRACE_VALUE_MISMATCH -> "TRACE_VALUE_MISMATCH"
  | TRACE_NOT_NEIGHBOURS -> "TRACE_NOT_NEIGHBOURS"
  | TRACE_KEY_NOT_BETWEEN -> "TRACE_KEY_NOT_BETWEEN"
  | TRACE_PATH_MISMATCH -> "TRACE_PATH_MISMATCH"
  | TRACE_INDEX_NOT_NEXT -> "TRACE_INDEX_NOT_NEXT"
  | TRACE_RESULT_MISMATCH -> "TRACE_RESULT_MISMATCH"
  | TRACE_NOT_CONTINUOUS -> "TRACE_NOT_CONTINUOUS"
  | TRACE_NOT_ALLOWED -> "TRACE_NOT_ALLOWED"
  | TRANSITION_PARENT_NOT_OPENED -> "TRANSITION_PARENT_NOT_OPENED"
  | TRANSITION_END_MISMATCH -> "TRANSITION_END_MISMATCH"
  | SEGMENT_STORAGE_BEFORE -> "SEGMENT_STORAGE_BEFORE"
  | SEGMENT_STORAGE_AFTER -> "SEGMENT_STORAGE_AFTER"
  | SEGMENT_ORDER -> "SEGMENT_ORDER"
  | SEGMENT_INCOMPLETE -> "SEGMENT_INCOMPLETE"
  | RECEIPT_STATUS -> "RECEIPT_STATUS"
  | RECEIPTS_ROOT_MISMATCH -> "RECEIPTS_ROOT_MISMATCH"
  | RECEIPT_GAS -> "RECEIPT_GAS"
  | RECEIPT_BLOOM -> "RECEIPT_BLOOM"

let nodes_of text =
  match String.split_on_char ',' text with _ :: nodes -> List.map bytes_of nodes | [] -> failwith "no nodes"

let proof_of index value nodes = { index = integer_of index; nodes = nodes_of nodes; value = bytes_of value }

(* keccak256: the Merkle-Patricia tries and the trees of messages. *)
let rotation = [| 0; 1; 62; 28; 27; 36; 44; 6; 55; 20; 3; 10; 43; 25; 39; 41; 45; 15; 21; 8; 18; 2; 61; 56; 14 |]

let round_constants =
  (* From the linear feedback shift register of the specification. *)
  let register = ref 1 in
  let bit () =
    let out = !register land 1 in
    let shifted = !register lsl 1 in
    register := if shifted land 0x100 <> 0 then shifted lxor 0x171 else shifted;
    out
  in
  Array.init 24 (fun _ ->
      let constant = ref 0L in
      for j = 0 to 6 do
        if bit () = 1 then constant := Int64.logor !constant (Int64.shift_left 1L ((1 lsl j) - 1))
      done;
      !constant)

let permute state =
  let get i = Bytes.get_int64_le state (8 * i) and set i x = Bytes.set_int64_le state (8 * i) x in
  let rotate x n = if n = 0 then x else Int64.logor (Int64.shift_left x n) (Int64.shift_right_logical x (64 - n)) in
  let moved = Array.make 25 0L in
  for round = 0 to 23 do
    let column x = List.fold_left (fun total y -> Int64.logxor total (get (x + (5 * y)))) 0L [ 0; 1; 2; 3; 4 ] in
    let columns = Array.init 5 column in
    for i = 0 to 24 do
      let x = i mod 5 and y = i / 5 in
      let mixed = Int64.logxor columns.((x + 4) mod 5) (rotate columns.((x + 1) mod 5) 1) in
      moved.(y + (5 * (((2 * x) + (3 * y)) mod 5))) <- rotate (Int64.logxor (get i) mixed) rotation.(i)
    done;
    for i = 0 to 24 do
      let x = i mod 5 and y = 5 * (i / 5) in
      let other = Int64.logand (Int64.lognot moved.(y + ((x + 1) mod 5))) moved.(y + ((x + 2) mod 5)) in
      set i (Int64.logxor moved.(i) other)
    done;
    set 0 (Int64.logxor (get 0) round_constants.(round))
  done

let keccak256 text =
  let rate = 136 in
  let state = Bytes.make 200 '\000' in
  let add i byte = Bytes.set state i (Char.chr (Char.code (Bytes.get state i) lxor byte)) in
  String.iteri
    (fun i c ->
      add (i mod rate) (Char.code c);
      if i mod rate = rate - 1 then permute state)
    text;
  add (String.length text mod rate) 1;
  add (rate - 1) 0x80;
  permute state;
  Bytes.sub_string state 0 32

let known = Hashtbl.create 100_000

let keccak message =
  let text = string_of message in
  match Hashtbl.find_opt known text with
  | Some digest -> digest
  | None ->
      let digest = list_of (keccak256 text) in
      Hashtbl.add known text digest;
      digest

(* Transitions. *)

let leaf_of = function
  | prev :: next :: key :: value :: rest ->
      ({ raw_prev = integer_of prev; raw_next = integer_of next; raw_key = bytes_of key; raw_value = bytes_of value }, rest)
  | _ -> failwith "not a leaf"

let place_of = function
  | index :: siblings :: rest -> ({ raw_index = integer_of index; raw_siblings = nodes_of siblings }, rest)
  | _ -> failwith "not a place"

let bytes_first = function word :: rest -> (bytes_of word, rest) | [] -> failwith "no bytes"

let trace_of = function
  | kind :: sub_root :: free :: rest -> (
      let sub_root = bytes_of sub_root and free = integer_of free in
      let leaf = leaf_of and place = place_of in
      match kind with
      | "0" ->
          let l, rest = leaf rest in
          let p, rest = place rest in
          let v, rest = bytes_first rest in
          (Read (sub_root, free, l, p, v), rest)
      | "1" ->
          let l, rest = leaf rest in
          let r, rest = leaf rest in
          let pl, rest = place rest in
          let pr, rest = place rest in
          (ReadAbsent (sub_root, free, l, r, pl, pr), rest)
      | "2" ->
          let l, rest = leaf rest in
          let r, rest = leaf rest in
          let pl, rest = place rest in
          let pr, rest = place rest in
          let pn, rest = place rest in
          let v, rest = bytes_first rest in
          let result, rest = bytes_first rest in
          (Insert (sub_root, free, l, r, pl, pr, pn, v, result), rest)
      | "3" ->
          let l, rest = leaf rest in
          let p, rest = place rest in
          let v, rest = bytes_first rest in
          let w, rest = bytes_first rest in
          let result, rest = bytes_first rest in
          (Update (sub_root, free, l, p, v, w, result), rest)
      | "4" ->
          let l, rest = leaf rest in
          let h, rest = leaf rest in
          let r, rest = leaf rest in
          let pl, rest = place rest in
          let ph, rest = place rest in
          let pr, rest = place rest in
          let v, rest = bytes_first rest in
          let result, rest = bytes_first rest in
          (Delete (sub_root, free, l, h, r, pl, ph, pr, v, result), rest)
      | _ -> failwith kind)
  | _ -> failwith "not a trace"

(* Blocks, last first, each with its last trace first. *)
let rec blocks_of blocks = function
  | [] -> List.rev_map List.rev blocks
  | "B" :: rest -> blocks_of ([] :: blocks) rest
  | address :: slot :: rest -> (
      let trace, rest = trace_of rest in
      let entry =
        { e_address = bytes_of address; e_slot = (if slot = "-" then None else Some (bytes_of slot)); e_trace = trace }
      in
      match blocks with
      | block :: others -> blocks_of ((entry :: block) :: others) rest
      | [] -> failwith "no block")
  | _ -> failwith "not a block"

let spell_option = function None -> "-" | Some bytes -> hex_of bytes

let spell_account { d_address; d_before; d_after; d_slots } =
  let slot ((key, was), now) = String.concat ":" (List.map hex_of [ key; was; now ]) in
  String.concat "/" [ hex_of d_address; spell_option d_before; spell_option d_after; String.concat "," (List.map slot d_slots) ]

let spell_block (root, diffs) = String.concat " " (hex_of root :: List.map spell_account diffs)

let number text = match integer_of text with Zpos p -> Npos p | _ -> N0

(* The logs that a list of words begins with, and the rest. *)
let rec logs_of = function
  | "L" :: address :: topics :: data :: rest ->
      let logs, rest = logs_of rest in
      ({ log_address = bytes_of address; log_topics = nodes_of topics; log_data = bytes_of data } :: logs, rest)
  | rest -> ([], rest)

let rec receipts_of = function
  | [] -> []
  | "R" :: kind :: status :: gas :: bloom :: rest ->
      let r_logs, rest = logs_of rest in
      { r_type = number kind; r_status = number status; r_gas = number gas; r_bloom = bytes_of bloom; r_logs } :: receipts_of rest
  | word :: _ -> failwith word

(* The proofs that a list of words begins with; - stands for none. *)
let rec proofs_of = function
  | [] -> []
  | "-" :: rest -> None :: proofs_of rest
  | "E" :: served :: index :: value :: nodes :: rest ->
      Some (Existence (bytes_of served, proof_of index value nodes)) :: proofs_of rest
  | "N" :: served :: i :: v :: n :: j :: w :: m :: rest ->
      Some (NonExistence (bytes_of served, proof_of i v n, proof_of j w m)) :: proofs_of rest
  | word :: _ -> failwith word

let verdict_of = function
  | None -> "absent"
  | Some (index, value) -> Printf.sprintf "present %d %s" (int_of index) (hex_of value)

let answer line =
  match String.split_on_char ' ' line with
  | [ "H"; name; message; digest ] -> Hashtbl.replace digests (name, string_of (bytes_of message)) (bytes_of digest)
  | "C" :: name :: kind :: root :: key :: proof -> (
      let kind = if kind = "account" then Account else Storage in
      match proofs_of proof with
      | [ Some proof ] ->
          print_endline
            (match check (scheme name) kind (bytes_of root) (bytes_of key) proof with
            | Error code -> name_of code
            | Ok verdict -> verdict_of verdict)
      | _ -> failwith line)
  | "A" :: name :: root :: empty :: address :: keys :: proofs -> (
      match proofs_of proofs with
      | Some account :: slots ->
          print_endline
            (match
               check_answer (scheme name) (bytes_of empty) (bytes_of root) (bytes_of address) (nodes_of keys) account slots
             with
            | Error code -> name_of code
            | Ok (account, slots) ->
                let shown = List.map (function None -> " -" | Some value -> " " ^ hex_of value) slots in
                verdict_of account ^ " with" ^ String.concat "" shown)
      | _ -> failwith line)
  | [ "T"; root; key; nodes ] ->
      print_endline
        (match verify_trie keccak (bytes_of root) (bytes_of key) (nodes_of nodes) with
        | Error code -> name_of code
        | Ok None -> "absent"
        | Ok (Some value) -> "present " ^ hex_of value)
  | "W" :: root :: address :: nodes :: keys :: proofs ->
      print_endline
        (match
           check_eth keccak (bytes_of root) (bytes_of address) (nodes_of nodes) (nodes_of keys) (List.map nodes_of proofs)
         with
        | Error code -> name_of code
        | Ok (account, slots) ->
            let shown = List.map (fun n -> " " ^ hex_of (minimal n)) slots in
            (match account with
            | None -> "absent"
            | Some { l1_nonce; l1_balance; l1_storage_root; l1_code_hash } ->
                let fields = [ minimal l1_nonce; minimal l1_balance; l1_storage_root; l1_code_hash ] in
                "present " ^ String.concat "," (List.map hex_of fields))
            ^ " with" ^ String.concat "" shown)
  | [ "R"; values ] -> print_endline (hex_of (list_root keccak (nodes_of values)))
  | "V" :: root :: words ->
      print_endline
        (match check_receipts keccak (bytes_of root) (receipts_of words) with
        | Error code -> name_of code
        | Ok used -> "accepted " ^ String.concat "," (List.map (fun gas -> string_of_int (int_of gas)) used))
  | [ "M"; root; message; index; nodes ] ->
      print_endline
        (match open_message (fun _ -> true) keccak (bytes_of root) (bytes_of message) (integer_of index) (nodes_of nodes) with
        | Error code -> name_of code
        | Ok () -> "present")
  | "X" :: name :: parent :: last :: empty :: words ->
      let last = if last = "-" then None else Some (bytes_of last) in
      print_endline
        (match check_transition (scheme name) (bytes_of empty) (bytes_of parent) last (blocks_of [] words) with
        | Error code -> name_of code
        | Ok (root, blocks) -> String.concat " ; " (("accepted " ^ hex_of root) :: List.map spell_block blocks))
  | _ -> failwith line

let () =
  (* Lists of characters are short-lived: with much room for new ones, few are ever moved. *)
  Gc.set { (Gc.get ()) with minor_heap_size = 1 lsl 20; space_overhead = 400 };
  try
    while true do
      answer (input_line stdin)
    done
  with End_of_file -> ()
