(** The walk through a Merkle-Patricia proof: src/verify/anchor/trie.ts, one line per rule, in its order and with its codes. *)
From Soundness Require Export Rlp.

(** Every rule has a name, as in Rules.v. *)
Inductive trie_rule :=
  | NodeHash | CanonicalRlp | NodesUnused
  | NodeIsList | NodeItems | PathFlag | PathPadding | ExtensionPath
  | LeafPath | LeafValue | ExtensionEnd | ChildLength | ChildEmbedded | ExtensionChild
  | BranchEnd | BranchValue | BelowExtension | EmptyBelow.

Definition trie_code_of (r : trie_rule) : code :=
  match r with
  | NodeHash => MPT_HASH_MISMATCH
  | CanonicalRlp => RLP_NON_CANONICAL
  | NodesUnused => MPT_NODES_UNUSED
  | PathFlag | PathPadding | ExtensionPath => MPT_PATH_NON_CANONICAL
  | NodeIsList | NodeItems | LeafPath | LeafValue | ExtensionEnd | ChildLength | ChildEmbedded | ExtensionChild
  | BranchEnd | BranchValue | BelowExtension | EmptyBelow => MPT_NODE_MALFORMED
  end.

(** *** Nibbles *)

Inductive nibble := n0 | n1 | n2 | n3 | n4 | n5 | n6 | n7 | n8 | n9 | na | nb | nc | nd | ne | nf.

Definition all_nibbles : list nibble := [n0; n1; n2; n3; n4; n5; n6; n7; n8; n9; na; nb; nc; nd; ne; nf].
Definition nibble_eq_dec : forall a b : nibble, {a = b} + {a <> b}.
Proof. decide equality. Defined.
Definition equal_nibble (a b : nibble) : bool := if nibble_eq_dec a b then true else false.

Definition nibble_index (n : nibble) : nat :=
  match n with
  | n0 => 0 | n1 => 1 | n2 => 2 | n3 => 3 | n4 => 4 | n5 => 5 | n6 => 6 | n7 => 7
  | n8 => 8 | n9 => 9 | na => 10 | nb => 11 | nc => 12 | nd => 13 | ne => 14 | nf => 15
  end.
Definition nibble_at (i : nat) : nibble := nth i all_nibbles n0.

Definition high (x : byte) : nibble := nibble_at (N.to_nat (Byte.to_N x / 16)).
Definition low (x : byte) : nibble := nibble_at (N.to_nat (Byte.to_N x mod 16)).
Definition join (a b : nibble) : byte := byte_of (N.of_nat (16 * nibble_index a + nibble_index b)).

Definition to_nibbles (s : bytes) : list nibble := flat_map (fun x => [high x; low x]) s.

Fixpoint starts_with (path start : list nibble) : bool :=
  match path, start with
  | _, [] => true
  | x :: path, y :: start => equal_nibble x y && starts_with path start
  | [], _ :: _ => false
  end.

(** *** Nodes *)

Inductive inner_kind := IsBranch | IsExtension.

(** A node, as seen by one key: of a branch, only the child that the next nibble of the key selects. *)
Inductive node_view :=
  | EmptyNode
  | InnerNode (k : inner_kind) (path : list nibble) (child : item)
  | LeafNode (path : list nibble) (value : bytes).

(** [length] in the source: the bytes of a string, the items of a list. *)
Definition size_of (i : item) : nat := match i with Str s => length s | List items => length items end.

Section Walk.

Variable on : trie_rule -> bool.
Variable hash : bytes -> bytes.

Notation "'demand' r 'that' b ; k" := (if on r && negb b then Error (trie_code_of r) else k)
  (at level 200, r at level 0, b at level 99, k at level 200).

Definition decode_path (encoded : item) : result (bool * list nibble) :=
  let digits := match encoded with Str s => to_nibbles s | List _ => [] end in
  let flags := nibble_index (hd n0 digits) in
  let padding := hd n0 (tl digits) in
  demand PathFlag that (negb (length digits =? 0) && (flags <=? 3));
  demand PathPadding that (Nat.odd flags || (nibble_index padding =? 0));
  let path := if Nat.odd flags then padding :: tl (tl digits) else tl (tl digits) in
  demand ExtensionPath that ((2 <=? flags) || negb (length path =? 0));
  Ok (2 <=? flags, path).

Definition verify_child (child : item) : result unit :=
  match child with
  | Str s => demand ChildLength that ((length s =? 0) || (length s =? 32)); Ok tt
  | List items => demand ChildEmbedded that (negb (length items =? 0) && (length (encode child) <? 32)); Ok tt
  end.

Fixpoint verify_children (children : list item) : result unit :=
  match children with
  | [] => Ok tt
  | child :: children => take _ from verify_child child; verify_children children
  end.

Definition decode_branch (items : list item) (rest : list nibble) : result node_view :=
  let nibble := hd n0 rest in
  let children := removelast items in
  demand BranchEnd that negb (length rest =? 0);
  take _ from verify_children children;
  demand BranchValue that match last items (Str []) with Str [] => true | _ => false end;
  Ok (InnerNode IsBranch [nibble] (nth (nibble_index nibble) children (Str []))).

Definition decode_short (items : list item) (rest : list nibble) : result node_view :=
  let content := nth 1 items (Str []) in
  demand NodeItems that (length items =? 2);
  take (is_leaf, path) from decode_path (nth 0 items (Str []));
  if is_leaf : bool
  then
    demand LeafPath that (length path =? length rest);
    let value := match content with Str s => s | List _ => [] end in
    demand LeafValue that negb (length value =? 0);
    Ok (LeafNode path value)
  else
    demand ExtensionEnd that (length path <? length rest);
    take _ from verify_child content;
    demand ExtensionChild that negb (size_of content =? 0);
    Ok (InnerNode IsExtension path content).

Definition decode_item (i : item) (rest : list nibble) : result node_view :=
  match i with
  | Str s => demand NodeIsList that (length s =? 0); Ok EmptyNode
  | List items => if length items =? 17 then decode_branch items rest else decode_short items rest
  end.

Definition decode_node (i : item) (rest : list nibble) (parent : option inner_kind) : result node_view :=
  take node from decode_item i rest;
  demand BelowExtension that
    match parent, node with Some IsExtension, InnerNode IsBranch _ _ => true | Some IsExtension, _ => false | _, _ => true end;
  demand EmptyBelow that match parent, node with Some _, EmptyNode => false | _, _ => true end;
  Ok node.

(** The next node of the proof, which must hash to [digest]. It is hashed before it is parsed. *)
Definition take_node (digest : bytes) (nodes : list bytes) : result (item * list bytes) :=
  match nodes with
  | [] => Error MPT_NODES_MISSING
  | node :: nodes =>
      demand NodeHash that equal_bytes (hash node) digest;
      match (if on CanonicalRlp then decode node else decode_any node) with
      | Some i => Ok (i, nodes)
      | None => Error RLP_NON_CANONICAL
      end
  end.

(** Each turn goes at least one nibble deeper, so the key's length bounds them. Returns the nodes that are left. *)
Fixpoint walk (turns : nat) (i : item) (rest : list nibble) (parent : option inner_kind) (nodes : list bytes)
  : result (option bytes * list bytes) :=
  match turns with
  | O => Error MPT_NODE_MALFORMED
  | S turns =>
      take node from decode_node i rest parent;
      match node with
      | EmptyNode => Ok (None, nodes)
      | LeafNode path value => if starts_with rest path then Ok (Some value, nodes) else Ok (None, nodes)
      | InnerNode k path child =>
          if negb (starts_with rest path) then Ok (None, nodes)
          else if size_of child =? 0 then Ok (None, nodes)
          else
            match child with
            | Str digest =>
                take (i, nodes) from take_node digest nodes;
                walk turns i (skipn (length path) rest) (Some k) nodes
            | List _ => walk turns child (skipn (length path) rest) (Some k) nodes
            end
      end
  end.

(** The root of a trie that holds nothing. *)
Definition empty_node : bytes := encode (Str []).

(** [verifyTrieProof]: the value of the key, or [None] if it is proven absent. *)
Definition verify_trie_with (root key : bytes) (nodes : list bytes) : result (option bytes) :=
  if (length nodes =? 0) && equal_bytes root (hash empty_node) then Ok None
  else
    take (i, rest) from take_node root nodes;
    take (value, left_over) from walk (S (2 * length key)) i (to_nibbles key) None rest;
    demand NodesUnused that (length left_over =? 0);
    Ok value.

End Walk.

Definition verify_trie : (bytes -> bytes) -> bytes -> bytes -> list bytes -> result (option bytes) :=
  verify_trie_with (fun _ => true).

(** All rules but one. *)
Definition trie_rule_eq_dec : forall a b : trie_rule, {a = b} + {a <> b}.
Proof. decide equality. Defined.
Definition without_trie_rule (r : trie_rule) : trie_rule -> bool := fun other => if trie_rule_eq_dec r other then false else true.

(** *** Honest tries *)

(** Any trie, with values in branches too. A nibble selects a child. *)
Inductive trie :=
  | Empty
  | Leaf (path : list nibble) (value : bytes)
  | Extension (path : list nibble) (below : trie)
  | Branch (children : nibble -> trie) (value : bytes).

Fixpoint of_nibbles (digits : list nibble) : bytes :=
  match digits with a :: b :: digits => join a b :: of_nibbles digits | _ => [] end.

(** Hex-prefix encoding. *)
Definition encode_path (is_leaf : bool) (path : list nibble) : bytes :=
  if Nat.odd (length path) then of_nibbles ((if is_leaf then n3 else n1) :: path)
  else of_nibbles ((if is_leaf then n2 else n0) :: n0 :: path).

(** What the trie holds under a key. *)
Fixpoint lookup (t : trie) (rest : list nibble) : option bytes :=
  match t with
  | Empty => None
  | Leaf path value => if list_eq_dec nibble_eq_dec path rest then Some value else None
  | Extension path t => if starts_with rest path then lookup t (skipn (length path) rest) else None
  | Branch children value =>
      match rest with
      | [] => if length value =? 0 then None else Some value
      | n :: rest => lookup (children n) rest
      end
  end.

Section Tries.

Variable hash : bytes -> bytes.

(** How a parent holds a node: by its digest, or as it is if it is shorter than one. *)
Definition refer (i : item) : item := if length (encode i) <? 32 then i else Str (hash (encode i)).

Fixpoint item_of (t : trie) : item :=
  match t with
  | Empty => Str []
  | Leaf path value => List [Str (encode_path true path); Str value]
  | Extension path t => List [Str (encode_path false path); refer (item_of t)]
  | Branch children value => List (map (fun n => refer (item_of (children n))) all_nibbles ++ [Str value])
  end.

Definition node_of (t : trie) : bytes := encode (item_of t).
Definition trie_root (t : trie) : bytes := hash (node_of t).

(** RLP has no lengths of 2^64 and above. *)
Fixpoint sized (t : trie) : Prop :=
  (N.of_nat (length (node_of t)) < 2 ^ 64)%N /\
  match t with Extension _ t => sized t | Branch children _ => forall n, sized (children n) | _ => True end.

(** The nodes on the way to a key that are not embedded in their parents. *)
Definition referred (t : trie) : list bytes := if length (node_of t) <? 32 then [] else [node_of t].

Fixpoint path_nodes (t : trie) (rest : list nibble) : list bytes :=
  match t with
  | Extension path t =>
      if starts_with rest path then referred t ++ path_nodes t (skipn (length path) rest) else []
  | Branch children _ =>
      match rest with [] => [] | n :: rest => referred (children n) ++ path_nodes (children n) rest end
  | _ => []
  end.

End Tries.

(** *** Breaks: two different messages with one digest *)

Definition collides (hash : bytes -> bytes) (pair : bytes * bytes) : bool :=
  negb (equal_bytes (fst pair) (snd pair)) && equal_bytes (hash (fst pair)) (hash (snd pair)).

(** A collision is among the candidates: it is found by looking through them. *)
Definition collision (hash : bytes -> bytes) (candidates : list (bytes * bytes)) : Prop :=
  exists pair, find (collides hash) candidates = Some pair.
