(** 11. The trie binds: what the walk says of a key is what the trie holds, and no root has two verdicts. *)
From Soundness Require Export Trie Binding.

Definition keeps (on : trie_rule -> bool) (rules : list trie_rule) : Prop := Forall (fun r => on r = true) rules.

Lemma keeps_on : forall on rules r, keeps on rules -> In r rules -> on r = true.
Proof. intros on rules r HI. unfold keeps in HI. rewrite Forall_forall in HI. apply HI. Qed.

Lemma held : forall (on : trie_rule -> bool) r b, on r && negb b = false -> on r = true -> b = true.
Proof. intros on r b H Hr. rewrite Hr in H. now destruct b. Qed.

(** *** Collisions *)

Lemma collision_in : forall hash a b candidates, In (a, b) candidates -> hash a = hash b ->
  a = b \/ collision hash candidates.
Proof.
  intros hash a b candidates HI HH. destruct (equal_bytes a b) eqn:E; [left; now apply equal_bytes_eq|right].
  unfold collision. destruct (find (collides hash) candidates) eqn:F; [eauto|].
  pose proof (find_none _ _ F _ HI) as HN. unfold collides in HN. cbn [fst snd] in HN.
  rewrite E, HH, equal_bytes_refl in HN. discriminate.
Qed.

Lemma collision_incl : forall hash a b, (forall x, In x a -> In x b) -> collision hash a -> collision hash b.
Proof.
  intros hash a b H [p Hp]. apply find_some in Hp as [HI HC]. unfold collision.
  destruct (find (collides hash) b) eqn:F; [eauto|]. pose proof (find_none _ _ F _ (H _ HI)). congruence.
Qed.

(** *** Paths *)

Lemma high_join : forall a b, high (join a b) = a.
Proof. intros [] []; reflexivity. Qed.

Lemma low_join : forall a b, low (join a b) = b.
Proof. intros [] []; reflexivity. Qed.

Lemma to_of_nibbles : forall digits, Nat.even (length digits) = true -> to_nibbles (of_nibbles digits) = digits.
Proof.
  fix IH 1. intros [|a [|b digits]] H; [reflexivity|discriminate|]. cbn [of_nibbles]. unfold to_nibbles. cbn [flat_map app].
  rewrite high_join, low_join. f_equal. f_equal. apply IH. exact H.
Qed.

Lemma encoded_digits : forall is_leaf path, to_nibbles (encode_path is_leaf path)
  = if Nat.odd (length path) then (if is_leaf then n3 else n1) :: path else (if is_leaf then n2 else n0) :: n0 :: path.
Proof.
  intros is_leaf path. unfold encode_path. destruct (Nat.odd (length path)) eqn:E; apply to_of_nibbles; cbn [length].
  - now rewrite Nat.even_succ.
  - rewrite !Nat.even_succ, Nat.odd_succ. unfold Nat.odd in E. now destruct (Nat.even (length path)).
Qed.

(** Odd and even paths, of leaves and of extensions, are read as they were written. *)
Theorem path_read : forall on is_leaf path r, decode_path on (Str (encode_path is_leaf path)) = Ok r -> r = (is_leaf, path).
Proof.
  intros on is_leaf path r H. unfold decode_path in H. cbv zeta in H. rewrite encoded_digits in H.
  do 3 passes H. inversion H as [HR]. clear. destruct (Nat.odd (length path)) eqn:E.
  - destruct path as [|x path]; [discriminate|]. now destruct is_leaf.
  - now destruct is_leaf.
Qed.

Theorem path_encode_injective : forall l p l' p', encode_path l p = encode_path l' p' -> l = l' /\ p = p'.
Proof.
  intros l p l' p' H.
  destruct (decode_path (fun _ => false) (Str (encode_path l p))) as [r|] eqn:E; [|discriminate E].
  pose proof (path_read _ _ _ _ E) as A. rewrite H in E. apply path_read in E. rewrite A in E. inversion E. auto.
Qed.

Lemma equal_nibble_eq : forall a b, equal_nibble a b = true <-> a = b.
Proof. intros a b. unfold equal_nibble. destruct (nibble_eq_dec a b); split; congruence. Qed.

Lemma starts_with_eq : forall path rest, length path = length rest -> starts_with rest path = true -> path = rest.
Proof.
  induction path as [|x path IH]; intros [|y rest] HL H; try discriminate; [reflexivity|]. cbn [starts_with] in H.
  apply andb_prop in H as [HE H]. apply equal_nibble_eq in HE. injection HL as HL. subst. f_equal. now apply IH.
Qed.

Lemma starts_with_refl : forall path, starts_with path path = true.
Proof.
  induction path as [|x path IH]; [reflexivity|]. cbn [starts_with]. rewrite IH, andb_true_r. now apply equal_nibble_eq.
Qed.

Section Binding.

Variable hash : bytes -> bytes.
Hypothesis hash_length : forall m, length (hash m) = 32.
Variable on : trie_rule -> bool.

Definition walk_rules : list trie_rule := [NodeHash; LeafPath; BranchEnd].
Hypothesis ON : keeps on walk_rules.

Ltac kept := eapply keeps_on; [exact ON | simpl; tauto].

Lemma nth_nibble : forall (f : nibble -> item) n, nth (nibble_index n) (map f all_nibbles) (Str []) = f n.
Proof. intros f []; reflexivity. Qed.

Lemma sized_node : forall t, sized hash t -> (N.of_nat (length (node_of hash t)) < 2 ^ 64)%N.
Proof. intros [] H; apply H. Qed.

(** A node that hashes to the digest of an honest one is that one, or a collision is found. *)
Lemma take_binds : forall t nodes i rest path, sized hash t -> take_node on hash (hash (node_of hash t)) nodes = Ok (i, rest) ->
  (i = item_of hash t /\ exists node, nodes = node :: rest)
  \/ collision hash (combine nodes (node_of hash t :: path)).
Proof.
  intros t [|node nodes] i rest path HS H; [discriminate|]. cbn [take_node] in H. passes H.
  apply held in Heqb; [|kept]. apply equal_bytes_eq in Heqb.
  destruct (collision_in hash node (node_of hash t) (combine (node :: nodes) (node_of hash t :: path))) as [HE|HC];
    [now left|exact Heqb| |now right].
  left. subst node. pose proof (sized_node t HS) as HB. unfold node_of in *.
  rewrite rlp_complete, parse_one in H by exact HB. destruct (on CanonicalRlp); inversion H; subst; eauto.
Qed.

Lemma item_size : forall t, size_of (item_of hash t) = 0 -> t = Empty.
Proof. intros [] H; [reflexivity|discriminate H|discriminate H|discriminate H]. Qed.

Lemma item_list : forall t, t <> Empty -> exists items, item_of hash t = List items.
Proof. intros [] H; [congruence| | |]; cbn [item_of]; eauto. Qed.

Lemma walk_binds : forall turns t rest parent nodes v left_over, sized hash t ->
  walk on hash turns (item_of hash t) rest parent nodes = Ok (v, left_over) ->
  v = lookup t rest \/ collision hash (combine nodes (path_nodes hash t rest)).
Proof.
  induction turns as [|turns IH]; intros t rest parent nodes v left_over HS H; [discriminate|].
  (** What the walk does with a child. *)
  assert (HChild : forall t k rest, sized hash t ->
    (if size_of (refer hash (item_of hash t)) =? 0 then Ok (None, nodes)
     else match refer hash (item_of hash t) with
          | Str digest => match take_node on hash digest nodes with
                          | Ok (i, nodes) => walk on hash turns i rest (Some k) nodes
                          | Error c => Error c end
          | List _ => walk on hash turns (refer hash (item_of hash t)) rest (Some k) nodes
          end) = Ok (v, left_over) ->
    v = lookup t rest \/ collision hash (combine nodes (referred hash t ++ path_nodes hash t rest))).
  { clear t rest HS H. intros t k rest HS H. unfold refer in H. unfold referred, node_of.
    destruct (length (encode (item_of hash t)) <? 32).
    - destruct (Nat.eqb_spec (size_of (item_of hash t)) 0) as [HZ|HZ].
      + apply item_size in HZ. subst t. inversion H. now left.
      + destruct (item_list t) as [items E]; [intros ->; now apply HZ|]. rewrite E in H. rewrite <- E in H.
        exact (IH _ _ _ _ _ _ HS H).
    - cbn [size_of] in H. rewrite hash_length in H. cbn [Nat.eqb] in H. passes H. destruct a as [i nodes'].
      destruct (take_binds t nodes i nodes' (path_nodes hash t rest) HS Heqr) as [[-> [node ->]]|HC]; [|now right].
      destruct (IH _ _ _ _ _ _ HS H) as [HV|HC]; [now left|right].
      eapply collision_incl; [|exact HC]. intros x Hx. now right. }
  cbn [walk] in H. passes H. rename a into view. unfold decode_node in Heqr. do 3 passes Heqr. inversion Heqr; subst view.
  clear Heqr Heqb Heqb0. rename Heqr0 into HD.
  destruct t as [|path value|path t|children value].
  - cbn [item_of decode_item] in HD. passes HD. inversion HD; subst. inversion H. now left.
  - cbn [item_of decode_item] in HD. cbn [length Nat.eqb] in HD. unfold decode_short in HD. cbn [nth] in HD. cbv zeta in HD.
    passes HD. passes HD. apply path_read in Heqr. subst a0. passes HD. passes HD. inversion HD; subst.
    apply held in Heqb0; [|kept]. apply Nat.eqb_eq in Heqb0. left. cbn [lookup].
    destruct (list_eq_dec nibble_eq_dec path rest) as [->|HN].
    + rewrite starts_with_refl in H. now inversion H.
    + destruct (starts_with rest path) eqn:E; [|now inversion H]. now apply starts_with_eq in E.
  - cbn [item_of decode_item] in HD. cbn [length Nat.eqb] in HD. unfold decode_short in HD. cbn [nth] in HD. cbv zeta in HD.
    passes HD. passes HD. apply path_read in Heqr. subst a0. do 3 passes HD. inversion HD; subst.
    cbn [lookup path_nodes]. destruct (starts_with rest path); cbn [negb] in H; [|inversion H; now left].
    apply (HChild t IsExtension); [apply HS|exact H].
  - change (decode_item on (item_of hash (Branch children value)) rest)
      with (decode_branch on (map (fun n => refer hash (item_of hash (children n))) all_nibbles ++ [Str value]) rest) in HD.
    unfold decode_branch in HD. cbv zeta in HD. rewrite removelast_last, last_last in HD.
    passes HD. passes HD. passes HD. apply held in Heqb; [|kept]. destruct rest as [|n rest]; [discriminate|].
    cbn [hd] in HD. rewrite nth_nibble in HD. inversion HD; subst. clear HD.
    cbn [starts_with] in H. rewrite (proj2 (equal_nibble_eq n n) eq_refl) in H. cbn [andb] in H.
    replace (starts_with rest []) with true in H by now destruct rest. cbn [negb length skipn] in H.
    cbn [lookup path_nodes]. apply (HChild (children n) IsBranch); [apply HS|exact H].
Qed.

Definition trie_candidates (t : trie) (key : bytes) (nodes : list bytes) : list (bytes * bytes) :=
  (empty_node, node_of hash t) :: combine nodes (node_of hash t :: path_nodes hash t (to_nibbles key)).

Lemma only_empty : forall t, node_of hash t = empty_node -> t = Empty.
Proof.
  intros t H. apply item_size. unfold node_of, empty_node in H. symmetry in H. apply rlp_encode_injective in H; [|reflexivity].
  now rewrite <- H.
Qed.

Lemma verify_binds : forall t key nodes v, sized hash t ->
  verify_trie_with on hash (trie_root hash t) key nodes = Ok v ->
  v = lookup t (to_nibbles key) \/ collision hash (trie_candidates t key nodes).
Proof.
  intros t key nodes v HS H. unfold verify_trie_with, trie_root in H. unfold trie_candidates.
  destruct ((length nodes =? 0) && equal_bytes (hash (node_of hash t)) (hash empty_node)) eqn:E.
  - apply andb_prop in E as [_ E]. apply equal_bytes_eq in E. inversion H; subst.
    destruct (collision_in hash empty_node (node_of hash t) (trie_candidates t key nodes)) as [HE|HC];
      [now left|now symmetry| |now right].
    rewrite (only_empty t) by now symmetry. now left.
  - passes H. destruct a as [i rest]. passes H. destruct a as [value left_over]. passes H. inversion H; subst.
    destruct (take_binds t nodes i rest (path_nodes hash t (to_nibbles key)) HS Heqr) as [[-> [node ->]]|HC].
    + destruct (walk_binds _ _ _ _ _ _ _ HS Heqr0) as [HV|HC]; [now left|right].
      eapply collision_incl; [|exact HC]. intros x Hx. right. now right.
    + right. eapply collision_incl; [|exact HC]. intros x Hx. now right.
Qed.

End Binding.

(** What an accepted proof says of a key, the trie says too; or a collision is found. *)
Definition trie_binds_with (on : trie_rule -> bool) : Prop :=
  forall hash t key nodes v, (forall m, length (hash m) = 32) -> sized hash t ->
  verify_trie_with on hash (trie_root hash t) key nodes = Ok v ->
  v = lookup t (to_nibbles key) \/ collision hash (trie_candidates hash t key nodes).

Theorem trie_binds_by : forall on, keeps on walk_rules -> trie_binds_with on.
Proof. intros on ON hash t key nodes v HL HS H. eapply verify_binds; eassumption. Qed.

Definition all_trie_rules : trie_rule -> bool := fun _ => true.
Lemma keeps_all : forall rules, keeps all_trie_rules rules.
Proof. intro rules. apply Forall_forall. reflexivity. Qed.

Theorem trie_binds : trie_binds_with all_trie_rules.
Proof. apply trie_binds_by, keeps_all. Qed.

(** *** One verdict, and one proof, under any root *)

Section Two.

Variable hash : bytes -> bytes.
Variable on : trie_rule -> bool.
Hypothesis ON : on NodeHash = true.

Lemma take_two : forall digest nodes nodes' i i' rest rest',
  take_node on hash digest nodes = Ok (i, rest) -> take_node on hash digest nodes' = Ok (i', rest') ->
  (i = i' /\ exists node, nodes = node :: rest /\ nodes' = node :: rest') \/ collision hash (combine nodes nodes').
Proof.
  intros digest [|x nodes] [|y nodes'] i i' rest rest' H H'; try discriminate. cbn [take_node] in *. passes H. passes H'.
  apply held in Heqb, Heqb0; try assumption. apply equal_bytes_eq in Heqb, Heqb0.
  destruct (collision_in hash x y (combine (x :: nodes) (y :: nodes'))) as [->|HC]; [now left|congruence| |now right].
  left. destruct (if on CanonicalRlp then decode y else decode_any y); [|discriminate].
  inversion H; inversion H'; subst. eauto.
Qed.

Lemma walk_two : forall turns i rest parent nodes nodes' v v' left_over left_over',
  walk on hash turns i rest parent nodes = Ok (v, left_over) ->
  walk on hash turns i rest parent nodes' = Ok (v', left_over') ->
  (v = v' /\ exists used, nodes = used ++ left_over /\ nodes' = used ++ left_over')
  \/ collision hash (combine nodes nodes').
Proof.
  induction turns as [|turns IH]; intros i rest parent nodes nodes' v v' left_over left_over' H H'; [discriminate|].
  assert (End : forall x, Ok (x, nodes) = Ok (v, left_over) -> Ok (x, nodes') = Ok (v', left_over') ->
    (v = v' /\ exists used, nodes = used ++ left_over /\ nodes' = used ++ left_over')
    \/ collision hash (combine nodes nodes')).
  { intros x E E'. inversion E; inversion E'; subst. left. split; [reflexivity|]. now exists []. }
  cbn [walk] in H, H'. destruct (decode_node on i rest parent) as [[|k path child|path value]|]; [| | |discriminate].
  - now apply End with None.
  - destruct (negb (starts_with rest path)); [now apply End with None|].
    destruct (size_of child =? 0); [now apply End with None|]. destruct child as [digest|items]; [|eapply IH; eassumption].
    passes H. passes H'. destruct a as [j rest1], a0 as [j' rest1'].
    destruct (take_two _ _ _ _ _ _ _ Heqr Heqr0) as [[<- (node & -> & ->)]|HC]; [|now right].
    destruct (IH _ _ _ _ _ _ _ _ _ H H') as [(HV & used & -> & ->)|HC].
    + left. split; [assumption|]. now exists (node :: used).
    + right. eapply collision_incl; [|exact HC]. intros x Hx. now right.
  - destruct (starts_with rest path); [now apply End with (Some value)|now apply End with None].
Qed.

End Two.

Definition two_candidates (nodes nodes' : list bytes) : list (bytes * bytes) :=
  map (fun node => (node, empty_node)) (nodes ++ nodes') ++ combine nodes nodes'.

(** Never both: two accepted proofs of one key under one root agree, whatever the root. They are also one proof, but for
    the trie that holds nothing: it has the empty proof, and the one with its only node. *)
Definition one_trie_proof_with (on : trie_rule -> bool) : Prop :=
  forall hash root key nodes nodes' v v',
  verify_trie_with on hash root key nodes = Ok v -> verify_trie_with on hash root key nodes' = Ok v' ->
  (v = v' /\ (nodes = nodes' \/ root = hash empty_node))
  \/ collision hash (two_candidates nodes nodes').

Definition never_both_trie_with (on : trie_rule -> bool) : Prop :=
  forall hash root key nodes nodes' v v',
  verify_trie_with on hash root key nodes = Ok v -> verify_trie_with on hash root key nodes' = Ok v' ->
  v = v' \/ collision hash (two_candidates nodes nodes').

(** The root of nothing: whatever is shown, nothing is there. *)
Lemma nothing_there : forall on hash key nodes v, on NodeHash = true ->
  verify_trie_with on hash (hash empty_node) key nodes = Ok v ->
  v = None \/ collision hash (map (fun node => (node, empty_node)) nodes).
Proof.
  intros on hash key [|node nodes] v ON H; unfold verify_trie_with in H.
  - cbn [length Nat.eqb andb] in H. rewrite equal_bytes_refl in H. inversion H. now left.
  - cbn [length Nat.eqb andb take_node] in H. passes H. destruct a as [i rest]. passes Heqr.
    apply held in Heqb; [|assumption]. apply equal_bytes_eq in Heqb.
    destruct (collision_in hash node empty_node (map (fun node => (node, empty_node)) (node :: nodes))) as [->|HC];
      [now left|assumption| |now right].
    change (decode empty_node) with (Some (Str [])) in Heqr. change (decode_any empty_node) with (Some (Str [])) in Heqr.
    assert (E : i = Str [] /\ rest = nodes) by (destruct (on CanonicalRlp); now inversion Heqr). destruct E as [-> ->].
    assert (W : forall turns rest, walk on hash (S turns) (Str []) rest None nodes = Ok (None, nodes))
      by (intros; cbn [walk]; unfold decode_node, decode_item; cbn; destruct (on NodeIsList), (on BelowExtension), (on EmptyBelow); reflexivity).
    rewrite W in H. passes H. inversion H. now left.
Qed.

Lemma both_by : forall on, on NodeHash = true ->
  forall hash root key nodes nodes' v v',
  verify_trie_with on hash root key nodes = Ok v -> verify_trie_with on hash root key nodes' = Ok v' ->
  (v = v' /\ (on NodesUnused = true -> nodes = nodes' \/ root = hash empty_node))
  \/ collision hash (two_candidates nodes nodes').
Proof.
  intros on HN hash root key nodes nodes' v v' H H'.
  destruct (equal_bytes root (hash empty_node)) eqn:E.
  - apply equal_bytes_eq in E. subst root.
    destruct (nothing_there _ _ _ _ _ HN H) as [->|HC];
      [|right; eapply collision_incl; [|exact HC]; intros x Hx; apply in_or_app; left; rewrite map_app; apply in_or_app; now left].
    destruct (nothing_there _ _ _ _ _ HN H') as [->|HC];
      [|right; eapply collision_incl; [|exact HC]; intros x Hx; apply in_or_app; left; rewrite map_app; apply in_or_app; now right].
    left. auto.
  - unfold verify_trie_with in H, H'. rewrite E, !andb_false_r in H. rewrite E, !andb_false_r in H'.
    passes H. destruct a as [i rest]. passes H'. destruct a as [i' rest'].
    destruct (take_two hash on HN _ _ _ _ _ _ _ Heqr Heqr0) as [[<- (node & -> & ->)]|HC];
      [|right; eapply collision_incl; [|exact HC]; intros x Hx; apply in_or_app; now right].
    passes H. destruct a as [w left_over]. passes H'. destruct a as [w' left_over']. passes H. passes H'.
    inversion H; inversion H'; subst.
    destruct (walk_two hash on HN _ _ _ _ _ _ _ _ _ _ Heqr1 Heqr2) as [(HV & used & -> & ->)|HC].
    + left. split; [assumption|]. intro HU. apply held in Heqb, Heqb0; try assumption.
      apply Nat.eqb_eq in Heqb, Heqb0. apply length_zero_iff_nil in Heqb, Heqb0. subst. now left.
    + right. eapply collision_incl; [|exact HC]. intros x Hx. apply in_or_app. right. now right.
Qed.

Theorem never_both_trie_by : forall on, keeps on [NodeHash] -> never_both_trie_with on.
Proof.
  intros on HI hash root key nodes nodes' v v' H H'. assert (HN : on NodeHash = true) by (eapply keeps_on; [exact HI|now left]).
  destruct (both_by on HN _ _ _ _ _ _ _ H H') as [[HV _]|HC]; [now left|now right].
Qed.

Theorem one_trie_proof_by : forall on, keeps on [NodeHash; NodesUnused] -> one_trie_proof_with on.
Proof.
  intros on HI hash root key nodes nodes' v v' H H'.
  assert (HN : on NodeHash = true) by (eapply keeps_on; [exact HI|now left]).
  destruct (both_by on HN _ _ _ _ _ _ _ H H') as [[HV HE]|HC]; [left|now right]. split; [assumption|].
  apply HE. eapply keeps_on; [exact HI|right; now left].
Qed.

Theorem never_both_trie : never_both_trie_with all_trie_rules.
Proof. apply never_both_trie_by, keeps_all. Qed.

Theorem one_trie_proof : one_trie_proof_with all_trie_rules.
Proof. apply one_trie_proof_by, keeps_all. Qed.
