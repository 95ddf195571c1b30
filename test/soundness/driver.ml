(* Runs the extracted rules. Each line of the input asks one question; each line of the output answers one.
   H scheme message digest: the digest of a message, for the real hashes, which are not written here.
   C scheme kind root key proof: one leaf proof
   A scheme stateRoot emptyRoot address keys proof proof*: an answer
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

let string_of bytes = String.of_seq (List.to_seq bytes)
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

let nodes_of text =
  match String.split_on_char ',' text with _ :: nodes -> List.map bytes_of nodes | [] -> failwith "no nodes"

let proof_of index value nodes = { index = integer_of index; nodes = nodes_of nodes; value = bytes_of value }

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
  | _ -> failwith line

let () =
  try
    while true do
      answer (input_line stdin)
    done
  with End_of_file -> ()
