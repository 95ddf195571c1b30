(** The rules, as one executable function: [check]. One line per rule, in the order and with the codes of the source.
    It starts where hexadecimal and JSON end: a proof is a key, indices, and byte strings. *)
From Soundness Require Export Bytes.

(** What differs between the hash schemes: [HashScheme] in src/verify/scheme/scheme.ts. The depth is 40 in both. *)
Record scheme := {
  depth : nat;
  hash : bytes -> bytes;
  word_length : nat;
  other_word_length : nat;
  canonical : bytes -> bool;
  encode_word : bytes -> bytes;
  (** [decodeWord]: whether a word has no stray bytes, and what it holds. *)
  is_word : bytes -> bool;
  read_word : bytes -> bytes;
  encode_bytes32 : bytes -> bytes;
  encode_address : bytes -> bytes;
  tail_key : bytes;
}.

(** The two kinds of tree: src/verify/tree/kind.ts. *)
Inductive kind := Account | Storage.

Inductive code :=
  | WRONG_LENGTH | WRONG_NODE_COUNT | SCHEME_MISMATCH | ZERO_OPENING | NON_CANONICAL | INDEX_OUT_OF_RANGE | KEY_MISMATCH
  | SENTINEL_MISPLACED | SUB_ROOT_MISMATCH | STATE_ROOT_MISMATCH | STORAGE_ROOT_MISMATCH | LEAF_KEY_MISMATCH
  | VALUE_MISMATCH | VALUE_OUT_OF_RANGE | ZERO_VALUE | NOT_ADJACENT | KEY_NOT_BETWEEN
  | STORAGE_PROOF_MISSING | STORAGE_PROOF_UNEXPECTED
  | RLP_NON_CANONICAL | MPT_NODES_MISSING | MPT_HASH_MISMATCH | MPT_NODES_UNUSED | MPT_NODE_MALFORMED
  | MPT_PATH_NON_CANONICAL | L1_ACCOUNT_MALFORMED | L1_VALUE_MALFORMED
  | MESSAGE_MALFORMED | MESSAGE_INDEX | MESSAGE_ROOT_MISMATCH | MESSAGE_DEPTH_MISMATCH
  | TRACE_SIBLING_COUNT | TRACE_KEY_MISMATCH | TRACE_VALUE_MISMATCH | TRACE_NOT_NEIGHBOURS | TRACE_KEY_NOT_BETWEEN
  | TRACE_PATH_MISMATCH | TRACE_INDEX_NOT_NEXT | TRACE_RESULT_MISMATCH | TRACE_NOT_CONTINUOUS | TRACE_NOT_ALLOWED
  | TRANSITION_PARENT_NOT_OPENED | TRANSITION_END_MISMATCH | SEGMENT_STORAGE_BEFORE | SEGMENT_STORAGE_AFTER
  | SEGMENT_ORDER | SEGMENT_INCOMPLETE
  | RECEIPT_STATUS | RECEIPTS_ROOT_MISMATCH | RECEIPT_GAS | RECEIPT_BLOOM.

(** Every rule has a name, so that a theorem can say which rules it takes, and what is lost without one. *)
Inductive rule :=
  | KeyLength | IndexRange | NodeCount | OtherScheme
  | RootLength | RootCanonical | RootWord | RootRange
  | InnerLength | InnerCanonical
  | SiblingLength | SiblingCanonical | SiblingDigest | ZeroOpening | SiblingWord | SiblingRange
  | LeafLength | LeafCanonical | LeafWord | LeafRange
  | ValueLength | ValueCanonical | BelowNextFree
  | KeyAsked | SentinelPlace | SubRoot | TrustedRoot
  | LeafKey | ValueHash | Nonce | CodeSize | ZeroValue
  | NeighbourLength | SentinelValue | NeighbourHash
  | NextLink | PrevLink | AboveLeft | BelowRight.

Definition code_of (K : kind) (r : rule) : code :=
  match r with
  | NodeCount => WRONG_NODE_COUNT
  | OtherScheme => SCHEME_MISMATCH
  | KeyLength | RootLength | InnerLength | SiblingLength | SiblingDigest | LeafLength | ValueLength
  | NeighbourLength => WRONG_LENGTH
  | RootCanonical | InnerCanonical | SiblingCanonical | LeafCanonical | ValueCanonical
  | RootWord | SiblingWord | LeafWord => NON_CANONICAL
  | IndexRange | RootRange | SiblingRange | LeafRange | BelowNextFree => INDEX_OUT_OF_RANGE
  | ZeroOpening => ZERO_OPENING
  | KeyAsked => KEY_MISMATCH
  | SentinelPlace => SENTINEL_MISPLACED
  | SubRoot => SUB_ROOT_MISMATCH
  | TrustedRoot => match K with Account => STATE_ROOT_MISMATCH | Storage => STORAGE_ROOT_MISMATCH end
  | LeafKey => LEAF_KEY_MISMATCH
  | ValueHash | SentinelValue | NeighbourHash => VALUE_MISMATCH
  | Nonce | CodeSize => VALUE_OUT_OF_RANGE
  | ZeroValue => ZERO_VALUE
  | NextLink | PrevLink => NOT_ADJACENT
  | AboveLeft | BelowRight => KEY_NOT_BETWEEN
  end.

Inductive result (A : Type) := Ok (a : A) | Error (c : code).
Arguments Ok {A}. Arguments Error {A}.

(** A proof as it is served. An index is any integer: JSON numbers with a fraction lie outside. *)
Record raw_proof := { index : Z; nodes : list bytes; value : bytes }.

Inductive leaf_proof :=
  | Existence (key : bytes) (proof : raw_proof)
  | NonExistence (key : bytes) (left_proof right_proof : raw_proof).

Record leaf := { prev : N; next : N; hKey : bytes; hVal : bytes }.

(** A proof, decoded: [DecodedProof]. *)
Record decoded := {
  leaf_index : N;
  root_node : bytes;
  next_free_node : N;
  inner : list bytes;
  sibling_leaf : option bytes;
  leaf_node : bytes;
  the_leaf : leaf;
  the_value : bytes;
  preimage : bytes;
}.

(** The index and the value of the leaf, or [None] where non-existence is proven. *)
Definition verdict := option (N * bytes).

Section Check.

(** Which rules are on. [check] has them all. *)
Variable on : rule -> bool.
Variable S : scheme.
Variable K : kind.

Notation "'demand' r 'that' b ; k" := (if on r && negb b then Error (code_of K r) else k)
  (at level 200, r at level 0, b at level 99, k at level 200).
Notation "'take' x 'from' a ; k" := (match a with Ok x => k | Error c => Error c end)
  (at level 200, x pattern, a at level 99, k at level 200).

Definition max_leaves : N := 2 ^ N.of_nat (depth S).
Definition node_count : nat := 2 + depth S.
Definition opening_length : nat := 2 * word_length S + 64.
Definition root_length : nat := word_length S + 32.

Definition key_length : nat := match K with Account => 20 | Storage => 32 end.
Definition value_length : nat := match K with Account => 192 | Storage => 32 end.

Definition key_message (key : bytes) : bytes :=
  match K with Account => encode_address S key | Storage => encode_bytes32 S key end.
Definition hash_key (key : bytes) : bytes := hash S (key_message key).

(** The six words of an account: nonce, balance, storageRoot, snarkCodeHash, keccakCodeHash, codeSize. *)
Definition account_word (value : bytes) (i : nat) : bytes := firstn 32 (skipn (32 * i) value).
Definition storage_root_of (value : bytes) : bytes := account_word value 2.

Definition value_message (value : bytes) : bytes :=
  match K with
  | Account =>
      encode_word S (account_word value 0) ++ encode_word S (account_word value 1) ++ account_word value 2
      ++ account_word value 3 ++ encode_bytes32 S (account_word value 4) ++ encode_word S (account_word value 5)
  | Storage => encode_bytes32 S value
  end.

Definition is_uint64 (word : bytes) : bool := is_zero (firstn 24 word).

(** *** Decoding: src/verify/proof/decode.ts, src/verify/proof/tree.ts, src/verify/tree/leaf.ts, src/verify/tree/path.ts *)

Definition decode_index_word (word_rule range_rule : rule) (limit : N) (word : bytes) : result N :=
  demand word_rule that is_word S word;
  demand range_rule that (integer (read_word S word) <? limit)%N;
  Ok (integer (read_word S word)).

Definition decode_opening (word_rule range_rule : rule) (opening : bytes) : result leaf :=
  let w := word_length S in
  take p from decode_index_word word_rule range_rule max_leaves (firstn w opening);
  take n from decode_index_word word_rule range_rule max_leaves (firstn w (skipn w opening));
  Ok {| prev := p; next := n; hKey := firstn 32 (skipn (2 * w) opening); hVal := skipn (2 * w + 32) opening |}.

Fixpoint decode_inner (inner : list bytes) : result unit :=
  match inner with
  | [] => Ok tt
  | node :: rest =>
      demand InnerLength that (length node =? 64);
      demand InnerCanonical that canonical S node;
      decode_inner rest
  end.

Definition decode_sibling (node : bytes) : result (option bytes) :=
  let is_digest := length node =? 32 in
  demand SiblingLength that ((length node =? opening_length) || is_digest);
  demand SiblingCanonical that canonical S node;
  demand SiblingDigest that negb (is_digest && negb (is_zero node));
  demand ZeroOpening that negb (is_zero node && negb is_digest);
  if is_zero node then Ok None
  else take _ from decode_opening SiblingWord SiblingRange node; Ok (Some node).

Definition is_of_other_scheme (nodes : list bytes) : bool :=
  (length (hd [] nodes) =? other_word_length S + 32) && (length (last nodes []) =? 2 * other_word_length S + 64).

Definition decode_value (lengths : list nat) (value : bytes) : result bytes :=
  demand ValueLength that existsb (Nat.eqb (length value)) lengths;
  if length value =? value_length
  then
    demand ValueCanonical that canonical S (value_message value);
    Ok (value_message value)
  else Ok value.

Definition decode_proof (lengths : list nat) (proof : raw_proof) : result decoded :=
  demand IndexRange that ((0 <=? index proof)%Z && (index proof <? Z.of_N max_leaves)%Z);
  demand NodeCount that (length (nodes proof) =? node_count);
  demand OtherScheme that negb (is_of_other_scheme (nodes proof));
  let below_root := tl (nodes proof) in
  let root_node := hd [] (nodes proof) in
  let inner := removelast (removelast below_root) in
  let sibling := last (removelast below_root) [] in
  let leaf_node := last below_root [] in
  demand RootLength that (length root_node =? root_length);
  demand RootCanonical that canonical S root_node;
  take next_free from decode_index_word RootWord RootRange (max_leaves + 1) (firstn (word_length S) root_node);
  take _ from decode_inner inner;
  take sibling_leaf from decode_sibling sibling;
  demand LeafLength that (length leaf_node =? opening_length);
  demand LeafCanonical that canonical S leaf_node;
  take the_leaf from decode_opening LeafWord LeafRange leaf_node;
  take preimage from decode_value lengths (value proof);
  demand BelowNextFree that (Z.to_N (index proof) <? next_free)%N;
  Ok {| leaf_index := Z.to_N (index proof); root_node := root_node; next_free_node := next_free; inner := inner;
        sibling_leaf := sibling_leaf; leaf_node := leaf_node; the_leaf := the_leaf; the_value := value proof;
        preimage := preimage |}.

(** *** The path: src/verify/tree/path.ts, src/verify/hash/hasher.ts *)

(** [siblings] from the leaf up. The lowest bit of the index says whether the digest is the right child. *)
Fixpoint fold_path (digest : bytes) (siblings : list bytes) (index : N) : bytes :=
  match siblings with
  | [] => digest
  | sibling :: rest =>
      fold_path (hash S (if N.odd index then sibling ++ digest else digest ++ sibling)) rest (index / 2)
  end.

Definition sibling_digest (sibling_leaf : option bytes) : bytes :=
  match sibling_leaf with None => zero_digest | Some opening => hash S opening end.

Definition siblings_of (d : decoded) : list bytes :=
  sibling_digest (sibling_leaf d) :: rev (map (hash S) (inner d)).

Definition sub_root_of (d : decoded) : bytes := skipn (word_length S) (root_node d).

Definition verify_path (root : bytes) (d : decoded) : result unit :=
  demand SubRoot that equal_bytes (fold_path (hash S (leaf_node d)) (siblings_of d) (leaf_index d)) (sub_root_of d);
  demand TrustedRoot that equal_bytes (hash S (root_node d)) root;
  Ok tt.

(** *** The verdict: src/verify/proof/leaf-proof.ts *)

Definition verify_sentinel_place (d : decoded) : result unit :=
  demand SentinelPlace that
    (Bool.eqb (is_zero (hKey (the_leaf d))) (leaf_index d =? 0)%N
     && Bool.eqb (equal_bytes (hKey (the_leaf d)) (tail_key S)) (leaf_index d =? 1)%N);
  Ok tt.

Definition verify_storable (value : bytes) : result unit :=
  match K with
  | Account =>
      demand Nonce that is_uint64 (account_word value 0);
      demand CodeSize that is_uint64 (account_word value 5);
      Ok tt
  | Storage =>
      demand ZeroValue that negb (is_zero value);
      Ok tt
  end.

Definition verify_existing (root key : bytes) (d : decoded) : result verdict :=
  take _ from verify_sentinel_place d;
  take _ from verify_path root d;
  demand LeafKey that equal_bytes (hKey (the_leaf d)) (hash_key key);
  demand ValueHash that equal_bytes (hVal (the_leaf d)) (hash S (preimage d));
  take _ from verify_storable (the_value d);
  Ok (Some (leaf_index d, the_value d)).

Definition verify_neighbour (root : bytes) (d : decoded) : result unit :=
  take _ from verify_sentinel_place d;
  take _ from verify_path root d;
  let is_sentinel := (leaf_index d <? 2)%N in
  demand NeighbourLength that (length (the_value d) =? (if is_sentinel then 32 else value_length));
  demand SentinelValue that negb (is_sentinel && negb (is_zero (the_value d)));
  demand NeighbourHash that
    equal_bytes (hVal (the_leaf d)) (if is_sentinel then zero_digest else hash S (preimage d));
  Ok tt.

Definition verify_non_existing (root key : bytes) (l r : decoded) : result verdict :=
  take _ from verify_neighbour root l;
  take _ from verify_neighbour root r;
  demand NextLink that (next (the_leaf l) =? leaf_index r)%N;
  demand PrevLink that (prev (the_leaf r) =? leaf_index l)%N;
  demand AboveLeft that is_below (hKey (the_leaf l)) (hash_key key);
  demand BelowRight that is_below (hash_key key) (hKey (the_leaf r));
  Ok None.

(** The whole proof is decoded before anything is hashed or compared. *)
Definition check_with (root key : bytes) (proof : leaf_proof) : result verdict :=
  match proof with
  | Existence served_key p =>
      demand KeyLength that (length served_key =? key_length);
      take d from decode_proof [value_length] p;
      demand KeyAsked that equal_bytes served_key key;
      verify_existing root key d
  | NonExistence served_key left_proof right_proof =>
      demand KeyLength that (length served_key =? key_length);
      take l from decode_proof [value_length; 32] left_proof;
      take r from decode_proof [value_length; 32] right_proof;
      demand KeyAsked that equal_bytes served_key key;
      verify_non_existing root key l r
  end.

(** The decoder alone, of the same proof. *)
Definition decode_claim (proof : leaf_proof) : result unit :=
  match proof with
  | Existence served_key p =>
      demand KeyLength that (length served_key =? key_length);
      take _ from decode_proof [value_length] p;
      Ok tt
  | NonExistence served_key left_proof right_proof =>
      demand KeyLength that (length served_key =? key_length);
      take _ from decode_proof [value_length; 32] left_proof;
      take _ from decode_proof [value_length; 32] right_proof;
      Ok tt
  end.

End Check.

(** The verifier: all rules. *)
Definition check : scheme -> kind -> bytes -> bytes -> leaf_proof -> result verdict := check_with (fun _ => true).

(** All rules but one. *)
Definition rule_eq_dec : forall a b : rule, {a = b} + {a <> b}.
Proof. decide equality. Defined.
Definition without (r : rule) : rule -> bool := fun other => if rule_eq_dec r other then false else true.

Definition includes (on : rule -> bool) (rules : list rule) : Prop := Forall (fun r => on r = true) rules.

(** *** An account and one of its slots: src/verify/proof/verify.ts *)

(** What an account's proof says about a slot: its value, or [None] if there is none. An account without storage needs no
    proof of its slots. *)
Definition check_slot (S : scheme) (empty_root state_root address key : bytes) (account : leaf_proof)
  (slot : option leaf_proof) : result (option bytes) :=
  match check S Account state_root address account with
  | Error c => Error c
  | Ok None => match slot with None => Ok None | Some _ => Error STORAGE_PROOF_UNEXPECTED end
  | Ok (Some (_, value)) =>
      match slot with
      | None => if equal_bytes (storage_root_of value) empty_root then Ok None else Error STORAGE_PROOF_MISSING
      | Some proof =>
          match check S Storage (storage_root_of value) key proof with
          | Error c => Error c
          | Ok None => Ok None
          | Ok (Some (_, value)) => Ok (Some value)
          end
      end
  end.

Notation "'take' x 'from' a ; k" := (match a with Ok x => k | Error c => Error c end)
  (at level 200, x pattern, a at level 99, k at level 200).

Fixpoint check_slots (S : scheme) (empty_root state_root address : bytes) (account : leaf_proof) (keys : list bytes)
  (slots : list (option leaf_proof)) : result (list (option bytes)) :=
  match keys with
  | [] => Ok []
  | key :: keys =>
      take shown from check_slot S empty_root state_root address key account (hd None slots);
      take rest from check_slots S empty_root state_root address account keys (tl slots);
      Ok (shown :: rest)
  end.

Fixpoint decode_slots (S : scheme) (slots : list (option leaf_proof)) : result unit :=
  match slots with
  | [] => Ok tt
  | None :: slots => decode_slots S slots
  | Some proof :: slots => take _ from decode_claim (fun _ => true) S Storage proof; decode_slots S slots
  end.

(** A whole answer: [verifyAnswer]. All of it is decoded before anything is hashed or compared. *)
Definition check_answer (S : scheme) (empty_root state_root address : bytes) (keys : list bytes) (account : leaf_proof)
  (slots : list (option leaf_proof)) : result (verdict * list (option bytes)) :=
  take _ from decode_claim (fun _ => true) S Account account;
  if length keys <? length slots then Error STORAGE_PROOF_UNEXPECTED
  else if (length slots <? length keys) && negb (length slots =? 0) then Error STORAGE_PROOF_MISSING
  else
    take _ from decode_slots S slots;
    take of_account from check S Account state_root address account;
    take of_slots from check_slots S empty_root state_root address account keys slots;
    Ok (of_account, of_slots).
