(** Honest proofs are accepted by all rules of the walk, three rules carry the verdict, and none follows from the others. *)
From Soundness Require Export TrieBinding.

(** *** Completeness *)

Definition is_branch (t : trie) : Prop := match t with Branch _ _ => True | _ => False end.

(** A trie whose keys have this many nibbles, as Ethereum builds it. *)
Fixpoint proper (depth : nat) (t : trie) : Prop :=
  match t with
  | Empty => True
  | Leaf path value => length path = depth /\ value <> []
  | Extension path t => 0 < length path < depth /\ is_branch t /\ proper (depth - length path) t
  | Branch children value => 0 < depth /\ value = [] /\ forall n, proper (pred depth) (children n)
  end.

Lemma decode_encoded_path : forall on is_leaf path, is_leaf = true \/ path <> [] ->
  decode_path on (Str (encode_path is_leaf path)) = Ok (is_leaf, path).
Proof.
  intros on is_leaf path H. destruct (decode_path on (Str (encode_path is_leaf path))) as [r|] eqn:E;
    [f_equal; now apply path_read in E|exfalso].
  unfold decode_path in E. rewrite encoded_digits in E. cbv zeta in E.
  destruct (Nat.odd (length path)) eqn:HO.
  - destruct is_leaf; cbn in E; rewrite !andb_false_r in E; discriminate E.
  - destruct is_leaf; cbn in E; rewrite !andb_false_r in E; [discriminate E|].
    destruct H as [H|H]; [discriminate H|]. destruct path; [congruence|]. cbn in E. rewrite !andb_false_r in E. discriminate E.
Qed.

Section Complete.

Variable hash : bytes -> bytes.
Hypothesis hash_length : forall m, length (hash m) = 32.
Variable on : trie_rule -> bool.

Lemma child_passes : forall t, verify_child on (refer hash (item_of hash t)) = Ok tt.
Proof.
  intro t. unfold refer. destruct (length (encode (item_of hash t)) <? 32) eqn:E.
  - destruct t; cbn [item_of] in *; cbn [verify_child]; rewrite ?E; cbn [length Nat.eqb orb negb andb];
      now rewrite ?andb_false_r.
  - cbn [verify_child]. rewrite hash_length. cbn. now rewrite andb_false_r.
Qed.

Lemma children_pass : forall (f : nibble -> trie) l, verify_children on (map (fun n => refer hash (item_of hash (f n))) l) = Ok tt.
Proof. intros f l. induction l as [|n l IH]; cbn [map verify_children]; [reflexivity|]. now rewrite child_passes. Qed.

Lemma refer_size : forall t, size_of (refer hash (item_of hash t)) = 0 <-> t = Empty.
Proof.
  intro t. unfold refer. destruct (length (encode (item_of hash t)) <? 32) eqn:E.
  - split; [apply item_size|now intros ->].
  - cbn [size_of]. rewrite hash_length. split; [discriminate|intros ->; discriminate E].
Qed.

Definition fits (t : trie) (parent : option inner_kind) : Prop :=
  match parent with None => True | Some IsBranch => t <> Empty | Some IsExtension => is_branch t end.

Lemma walk_complete : forall turns t rest parent after, length rest < turns -> sized hash t -> proper (length rest) t ->
  fits t parent ->
  walk on hash turns (item_of hash t) rest parent (path_nodes hash t rest ++ after) = Ok (lookup t rest, after).
Proof.
  induction turns as [|turns IH]; intros t rest parent after HT HS HP HF; [lia|].
  assert (HChild : forall t k rest, length rest < turns -> sized hash t -> proper (length rest) t ->
    (k = IsExtension -> is_branch t) ->
    (if size_of (refer hash (item_of hash t)) =? 0 then Ok (None, (referred hash t ++ path_nodes hash t rest) ++ after)
     else match refer hash (item_of hash t) with
          | Str digest => match take_node on hash digest ((referred hash t ++ path_nodes hash t rest) ++ after) with
                          | Ok (i, nodes) => walk on hash turns i rest (Some k) nodes
                          | Error c => Error c end
          | List _ => walk on hash turns (refer hash (item_of hash t)) rest (Some k)
                        ((referred hash t ++ path_nodes hash t rest) ++ after)
          end) = Ok (lookup t rest, after)).
  { clear t rest parent HT HS HP HF. intros t k rest HT HS HP HK.
    destruct (Nat.eqb_spec (size_of (refer hash (item_of hash t))) 0) as [HZ|HZ].
    - apply refer_size in HZ. subst t. reflexivity.
    - assert (HN : t <> Empty) by (intros ->; apply HZ; now apply refer_size).
      assert (HF : fits t (Some k)) by (destruct k; [exact HN|now apply HK]).
      clear HZ. unfold refer, referred, node_of. destruct (length (encode (item_of hash t)) <? 32).
      + destruct (item_list hash t HN) as [items E]. rewrite E. cbv iota. rewrite <- E. now apply IH.
      + cbn [app take_node]. rewrite equal_bytes_refl. cbn [negb]. rewrite andb_false_r.
        pose proof (sized_node hash t HS) as HB. unfold node_of in HB. rewrite rlp_complete, parse_one by exact HB.
        destruct (on CanonicalRlp); now apply IH. }
  assert (HNode : forall view, decode_item on (item_of hash t) rest = Ok view ->
    (match parent, view with Some IsExtension, InnerNode IsBranch _ _ => true | Some IsExtension, _ => false | _, _ => true end)
      = true -> (match parent, view with Some _, EmptyNode => false | _, _ => true end) = true ->
    decode_node on (item_of hash t) rest parent = Ok view).
  { intros view HD H1 H2. unfold decode_node. rewrite HD, H1, H2. cbn [negb]. now rewrite !andb_false_r. }
  cbn [walk]. destruct t as [|path value|path t|children value].
  - destruct parent as [[]|]; [exfalso; now apply HF|destruct HF|].
    rewrite (HNode EmptyNode); [reflexivity|cbn; now rewrite andb_false_r|reflexivity|reflexivity].
  - destruct HP as [HL HV].
    assert (HD : decode_item on (item_of hash (Leaf path value)) rest = Ok (LeafNode path value)).
    { cbn [item_of decode_item length Nat.eqb]. unfold decode_short. cbn [nth length Nat.eqb negb]. cbv zeta.
      rewrite andb_false_r, decode_encoded_path by now left. rewrite HL, Nat.eqb_refl. cbn [negb]. rewrite andb_false_r.
      destruct value; [congruence|]. cbn [length Nat.eqb negb]. now rewrite andb_false_r. }
    rewrite (HNode _ HD); [|destruct parent as [[]|]; [reflexivity|destruct HF|reflexivity]|destruct parent; reflexivity].
    cbn [lookup path_nodes app]. destruct (list_eq_dec nibble_eq_dec path rest) as [->|HN].
    + now rewrite starts_with_refl.
    + destruct (starts_with rest path) eqn:E; [|reflexivity]. exfalso. apply HN. now apply starts_with_eq.
  - destruct HP as ([HL1 HL2] & HB & HP).
    assert (HD : decode_item on (item_of hash (Extension path t)) rest
      = Ok (InnerNode IsExtension path (refer hash (item_of hash t)))).
    { cbn [item_of decode_item length Nat.eqb]. unfold decode_short. cbn [nth length Nat.eqb negb]. cbv zeta.
      rewrite andb_false_r, decode_encoded_path by (right; intros ->; now apply Nat.lt_irrefl in HL1).
      rewrite (proj2 (Nat.ltb_lt _ _) HL2), child_passes. cbn [negb]. rewrite andb_false_r.
      destruct (Nat.eqb_spec (size_of (refer hash (item_of hash t))) 0) as [HZ|_].
      - apply refer_size in HZ. subst t. destruct HB.
      - cbn [negb]. now rewrite andb_false_r. }
    rewrite (HNode _ HD); [|destruct parent as [[]|]; [reflexivity|destruct HF|reflexivity]|destruct parent; reflexivity].
    cbn [lookup path_nodes]. destruct (starts_with rest path); cbn [negb]; [|reflexivity].
    apply HChild; [rewrite skipn_length; lia|apply HS|rewrite skipn_length; exact HP|now intros _].
  - destruct HP as (HL & HV & HP). destruct rest as [|n rest]; [now apply Nat.lt_irrefl in HL|]. subst value.
    assert (HD : decode_item on (item_of hash (Branch children [])) (n :: rest)
      = Ok (InnerNode IsBranch [n] (refer hash (item_of hash (children n))))).
    { change (decode_item on (item_of hash (Branch children [])) (n :: rest))
        with (decode_branch on (map (fun n => refer hash (item_of hash (children n))) all_nibbles ++ [Str []]) (n :: rest)).
      unfold decode_branch. cbv zeta. rewrite removelast_last, last_last, children_pass. cbn [length Nat.eqb negb size_of].
      rewrite !andb_false_r. cbn [hd]. now rewrite nth_nibble. }
    rewrite (HNode _ HD); [|destruct parent as [[]|]; reflexivity|destruct parent; reflexivity].
    cbn [lookup path_nodes]. cbn [starts_with]. rewrite (proj2 (equal_nibble_eq n n) eq_refl).
    replace (starts_with rest []) with true by now destruct rest. cbn [andb negb length skipn].
    apply HChild; [cbn [length] in HT; lia|apply HS|apply HP|discriminate].
Qed.

End Complete.

Lemma length_to_nibbles : forall s, length (to_nibbles s) = 2 * length s.
Proof. induction s as [|x s IH]; [reflexivity|]. unfold to_nibbles in *. cbn [flat_map app length]. rewrite IH. lia. Qed.

(** The honest proof of any key, there or not, is accepted: no rule is stricter than Ethereum's tries. *)
Theorem trie_complete : forall on hash t key, (forall m, length (hash m) = 32) -> sized hash t -> proper (2 * length key) t ->
  verify_trie_with on hash (trie_root hash t) key (node_of hash t :: path_nodes hash t (to_nibbles key))
  = Ok (lookup t (to_nibbles key)).
Proof.
  intros on hash t key HL HS HP. unfold verify_trie_with, trie_root. cbn [length Nat.eqb andb take_node].
  rewrite equal_bytes_refl. cbn [negb]. rewrite andb_false_r. pose proof (sized_node hash t HS) as HB. unfold node_of in *.
  rewrite rlp_complete, parse_one by exact HB.
  assert (HW : walk on hash (S (2 * length key)) (item_of hash t) (to_nibbles key) None (path_nodes hash t (to_nibbles key) ++ [])
    = Ok (lookup t (to_nibbles key), [])).
  { apply walk_complete; [assumption|rewrite length_to_nibbles; lia|assumption|now rewrite length_to_nibbles|exact I]. }
  rewrite app_nil_r in HW. destruct (on CanonicalRlp); rewrite HW; cbn [length Nat.eqb negb]; now rewrite andb_false_r.
Qed.

(** *** Rules that the verdict takes *)

(** The hash of the small trees of Needed.v. *)
Definition mixed (m : bytes) : bytes :=
  big_endian 32 (fold_left (fun n x => N.land (n * 33 + Byte.to_N x + 7) 2305843009213693951)%N m 88172645463325252%N).
Lemma length_mixed : forall m, length (mixed m) = 32.
Proof. intro m. apply length_big_endian. Qed.

Definition forges_trie (on : trie_rule -> bool) (t : trie) (key : bytes) (nodes : list bytes) : bool :=
  match verify_trie_with on mixed (trie_root mixed t) key nodes with
  | Ok v =>
      negb (match v, lookup t (to_nibbles key) with
            | None, None => true | Some a, Some b => equal_bytes a b | _, _ => false end)
      && forallb (fun pair => negb (collides mixed pair)) (trie_candidates mixed t key nodes)
  | Error _ => false
  end.

Lemma no_collision : forall hash candidates, forallb (fun pair => negb (collides hash pair)) candidates = true ->
  ~ collision hash candidates.
Proof.
  intros hash candidates H [p HP]. apply find_some in HP as [HI HP]. rewrite forallb_forall in H. specialize (H p HI).
  rewrite HP in H. discriminate.
Qed.

Lemma trie_forged : forall on t key nodes, sized mixed t -> forges_trie on t key nodes = true -> ~ trie_binds_with on.
Proof.
  intros on t key nodes HS H HB. unfold forges_trie in H. destruct (verify_trie_with _ _ _ _ _) as [v|] eqn:E; [|discriminate].
  apply andb_prop in H as [HN HC]. destruct (HB mixed t key nodes v length_mixed HS E) as [HV|HC'].
  - rewrite HV in HN. destruct (lookup t (to_nibbles key)); [rewrite equal_bytes_refl in HN|]; discriminate.
  - exact (no_collision _ _ HC HC').
Qed.

Definition leaf_item (path : list nibble) (value : bytes) : item := List [Str (encode_path true path); Str value].

Theorem node_hash_needed : ~ trie_binds_with (without_trie_rule NodeHash).
Proof.
  apply (trie_forged _ (Leaf [n1; n2] [x05]) [x12] [encode (leaf_item [n1; n2] [x07])]); [|vm_compute; reflexivity].
  split; [reflexivity|exact I].
Qed.

(** A value under a shorter key. *)
Theorem leaf_path_needed : ~ trie_binds_with (without_trie_rule LeafPath).
Proof.
  apply (trie_forged _ (Leaf [n1] [x05]) [x12] [encode (leaf_item [n1] [x05])]); [|vm_compute; reflexivity].
  split; [reflexivity|exact I].
Qed.

(** A value in a branch, where the key ends: one of two rules has to refuse it. *)
Theorem one_branch_rule_needed : ~ trie_binds_with (fun r => match r with BranchEnd | BranchValue => false | _ => true end).
Proof.
  apply (trie_forged _ (Branch (fun _ => Empty) [x05]) [] [node_of mixed (Branch (fun _ => Empty) [x05])]);
    [|vm_compute; reflexivity].
  split; [reflexivity|]. intro n. split; [reflexivity|exact I].
Qed.

Theorem nodes_unused_needed : ~ one_trie_proof_with (without_trie_rule NodesUnused).
Proof.
  intro H. pose (node := encode (leaf_item [n1; n2] [x05])).
  assert (E1 : verify_trie_with (without_trie_rule NodesUnused) mixed (mixed node) [x12] [node] = Ok (Some [x05]))
    by (vm_compute; reflexivity).
  assert (E2 : verify_trie_with (without_trie_rule NodesUnused) mixed (mixed node) [x12] [node; node] = Ok (Some [x05]))
    by (vm_compute; reflexivity).
  destruct (H _ _ _ _ _ _ _ E1 E2) as [[_ [E|E]]|HC].
  - discriminate E.
  - vm_compute in E. discriminate E.
  - revert HC. apply no_collision. vm_compute. reflexivity.
Qed.

(** *** No rule follows from the others: what only this one refuses *)

Definition only_refused_by (r : trie_rule) (root key : bytes) (nodes : list bytes) : bool :=
  match verify_trie_with (without_trie_rule r) mixed root key nodes, verify_trie mixed root key nodes with
  | Ok _, Error _ => true
  | _, _ => false
  end.

Definition branch_item (second : item) (value : bytes) : item := List (Str [] :: second :: repeat (Str []) 14 ++ [Str value]).

(** The nodes, root first. *)
Definition strange_proof (r : trie_rule) : list bytes :=
  match r with
  | NodeHash => [[]]
  | CanonicalRlp => [[xf8; x04; x82; x20; x12; x05]]
  | NodesUnused => [encode (leaf_item [n1; n2] [x05]); []]
  | NodeIsList => [encode (Str [x01])]
  | NodeItems => [encode (List [Str [x20; x12]; Str [x05]; Str []])]
  | PathFlag => [encode (List [Str [x40; x12]; Str [x05]])]
  | PathPadding => [encode (List [Str [x25; x12]; Str [x05]])]
  | ExtensionPath =>
      let leaf := encode (leaf_item [n2] (zeros 40)) in
      let branch := encode (branch_item (Str (mixed leaf)) []) in
      [encode (List [Str [x00]; Str (mixed branch)]); branch; leaf]
  | LeafPath => [encode (leaf_item [n1] [x05])]
  | LeafValue => [encode (leaf_item [n1; n2] [])]
  | ExtensionEnd => [encode (List [Str (encode_path false [n1; n3]); Str (zeros 32)])]
  | ChildLength => [encode (List [Str (encode_path false [n3]); Str [x01]])]
  | ChildEmbedded => [encode (List [Str (encode_path false [n3]); List [Str (zeros 40)]])]
  | ExtensionChild => [encode (List [Str (encode_path false [n3]); Str []])]
  | BranchEnd => [encode (branch_item (Str []) [])]
  | BranchValue => [encode (branch_item (Str []) [x05])]
  | BelowExtension =>
      let leaf := encode (leaf_item [n2] (zeros 40)) in [encode (List [Str (encode_path false [n1]); Str (mixed leaf)]); leaf]
  | EmptyBelow => [encode (branch_item (Str (mixed empty_node)) []); empty_node]
  end.

Definition strange_root (r : trie_rule) : bytes :=
  match r with NodeHash => zeros 32 | _ => mixed (hd [] (strange_proof r)) end.
Definition strange_key (r : trie_rule) : bytes := match r with BranchEnd => [] | _ => [x12] end.

Theorem no_trie_rule_follows : forall r, r <> NodeHash ->
  only_refused_by r (strange_root r) (strange_key r) (strange_proof r) = true.
Proof. intros []; intro H; try congruence; vm_compute; reflexivity. Qed.
