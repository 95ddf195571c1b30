(** 15. One accepted trace is one honest update of its tree, and a chain of traces leads from an honest tree to the tree of its
    writes. *)
From Soundness Require Export Transition Update.

(** What a tree holds under the hash of a key, away from both ends. *)
Definition content (t : tree) (served : N -> bytes) (hk v : bytes) : Prop :=
  exists i l, get t i = Some l /\ (2 <= i)%N /\ hKey l = hk /\ served i = v.

Definition holds_content (t : tree) (served : N -> bytes) (hk : bytes) (o : option bytes) : Prop :=
  match o with Some v => content t served hk v | None => forall v, ~ content t served hk v end.

Definition at_state (S : scheme) (t : tree) (s : tree_state) : Prop := at_sub_root s = sub_root S t /\ at_free s = next_free t.

(** *** The candidates: each message of a trace beside the honest one in its place *)

Definition leaf_of_raw (l : raw_leaf) : leaf :=
  {| prev := Z.to_N (raw_prev l); next := Z.to_N (raw_next l); hKey := raw_key l; hVal := raw_value l |}.
Definition opened_of_raw (p : raw_place) (l : raw_leaf) : opened_leaf :=
  {| place_index := Z.to_N (raw_index p); place_siblings := raw_siblings p; stated := leaf_of_raw l |}.

Section Candidates.
Variable S : scheme.
Variable K : kind.

Definition opened_candidates (t : tree) (o : opened_leaf) : list break :=
  replace_candidates S t (Some (stated o)) (place_siblings o) (place_index o).
Definition held_candidates (served : N -> bytes) (i : N) (v : bytes) : list break :=
  [Zero (value_message S K v); Collision (value_message S K v) (value_message S K (served i))].

Definition trace_candidates (t : tree) (served : N -> bytes) (hk : bytes) (tr : trace) : list break :=
  match tr with
  | Read _ _ l p v => opened_candidates t (opened_of_raw p l) ++ held_candidates served (Z.to_N (raw_index p)) v
  | ReadAbsent _ _ l r pl pr => opened_candidates t (opened_of_raw pl l) ++ opened_candidates t (opened_of_raw pr r)
  | Insert _ _ l r pl pr pn v _ =>
      let a := opened_of_raw pl l in
      let b := opened_of_raw pr r in
      let t1 := set t (place_index a) (Some (relink_next (stated a) (next_free t))) in
      let t2 := set t1 (next_free t) (Some {| prev := place_index a; next := place_index b; hKey := hk;
        hVal := hash S (value_message S K v) |}) in
      opened_candidates t a ++ replace_candidates S t1 None (raw_siblings pn) (next_free t) ++ opened_candidates t2 b
  | Update _ _ l p v _ _ => opened_candidates t (opened_of_raw p l) ++ held_candidates served (Z.to_N (raw_index p)) v
  | Delete _ _ l h r pl ph pr v _ =>
      let a := opened_of_raw pl l in
      let m := opened_of_raw ph h in
      let b := opened_of_raw pr r in
      let t1 := set t (place_index a) (Some (relink_next (stated a) (next (stated m)))) in
      let t2 := set t1 (place_index m) None in
      opened_candidates t a ++ opened_candidates t1 m ++ opened_candidates t2 b ++ held_candidates served (place_index m) v
  end.

(** The honest tree after a trace, and what it is served with. *)
Definition next_tree (t : tree) (hk : bytes) (tr : trace) : tree :=
  match tr with
  | Read _ _ _ _ _ | ReadAbsent _ _ _ _ _ _ => t
  | Insert _ _ l r pl pr _ v _ =>
      inserted t (place_index (opened_of_raw pl l)) (place_index (opened_of_raw pr r)) (leaf_of_raw l) (leaf_of_raw r)
        {| prev := place_index (opened_of_raw pl l); next := place_index (opened_of_raw pr r); hKey := hk;
           hVal := hash S (value_message S K v) |}
  | Update _ _ l p _ v _ =>
      set t (place_index (opened_of_raw p l)) (Some (with_value (leaf_of_raw l) (hash S (value_message S K v))))
  | Delete _ _ l h r pl ph pr _ _ =>
      deleted t (place_index (opened_of_raw pl l)) (place_index (opened_of_raw ph h)) (place_index (opened_of_raw pr r))
        (leaf_of_raw l) (leaf_of_raw h) (leaf_of_raw r)
  end.

Definition next_served (t : tree) (served : N -> bytes) (tr : trace) : N -> bytes :=
  match tr with
  | Insert _ _ _ _ _ _ _ v _ => fun j => if (j =? next_free t)%N then v else served j
  | Update _ _ l p _ v _ => fun j => if (j =? place_index (opened_of_raw p l))%N then v else served j
  | _ => served
  end.

End Candidates.

Definition tree_rules : list trace_rule :=
  [TraceDigestLength; TraceDigestCanonical; StartRange; PlaceRange; LinkRange; SiblingCount; TraceValueLength;
   TraceValueCanonical; TraceNonce; TraceCodeSize; TraceZero; OpensRoot; TraceKey; TraceValue; TraceNext; TraceBetween;
   PathOpens; IndexNext; Continuous].

Definition key_of_leaf (o : option leaf) : bytes := match o with Some l => hKey l | None => [] end.
Definition value_of_leaf (o : option leaf) : bytes := match o with Some l => hVal l | None => [] end.

Section Step.
Variable on : trace_rule -> bool.
Hypothesis ON : Forall (fun r => on r = true) tree_rules.
Variable S : scheme.
Hypothesis OK : scheme_ok S.
Variable K : kind.

Lemma is_on : forall r, In r tree_rules -> on r = true.
Proof. now apply Forall_forall. Qed.

Lemma kept : forall r b, on r && negb b = false -> In r tree_rules -> b = true.
Proof. intros r b H HI. rewrite (is_on r HI) in H. now destruct b. Qed.

Ltac keep H := apply kept in H; [|cbn; tauto].

Lemma digest_good : forall d e, decode_digest on S K d = Ok e -> e = d /\ good S d.
Proof.
  intros d e H. unfold decode_digest in H. passes H. passes H. inversion H; subst. keep Heqb. keep Heqb0.
  apply Nat.eqb_eq in Heqb. now repeat split.
Qed.

Lemma digests_good : forall ds es, decode_digests on S K ds = Ok es -> es = ds /\ Forall (good S) ds.
Proof.
  induction ds as [|d ds IH]; intros es H; cbn [decode_digests] in H; [inversion H; auto|].
  passes H. passes H. inversion H; subst. apply digest_good in Heqr as [-> HG]. destruct (IH _ eq_refl) as [-> HF].
  split; [reflexivity|now constructor].
Qed.

Lemma between_range : forall r least most z n, decode_between on K r least most z = Ok n -> In r tree_rules ->
  n = Z.to_N z /\ (least <= n <= most)%N.
Proof.
  intros r least most z n H HI. unfold decode_between in H. passes H. inversion H; subst. apply kept in Heqb; [|exact HI].
  apply andb_prop in Heqb as [H1 H2]. apply Z.leb_le in H1, H2. split; [reflexivity|]. lia.
Qed.

(** A place and a leaf, once opened. *)
Record opened_ok (start : tree_state) (o : opened_leaf) : Prop := {
  oo_leaf : leaf_ok S (stated o);
  oo_siblings : Forall (good S) (place_siblings o);
  oo_count : length (place_siblings o) = depth S;
  oo_index : (place_index o < max_leaves S)%N;
}.

Lemma place_ok : forall start p i siblings, decode_place on S K start p = Ok (i, siblings) ->
  i = Z.to_N (raw_index p) /\ siblings = raw_siblings p /\ Forall (good S) siblings /\ length siblings = depth S
  /\ (i < max_leaves S)%N.
Proof.
  intros start p i siblings H. unfold decode_place in H. passes H. passes H. passes H. inversion H; subst.
  apply between_range in Heqr as [-> HB]; [|cbn; tauto]. apply digests_good in Heqr0 as [-> HF]. keep Heqb.
  apply Nat.eqb_eq in Heqb. pose proof (max_leaves_two S OK). repeat split; auto. lia.
Qed.

Lemma leaf_read : forall l m, Transition.decode_leaf on S K l = Ok m -> m = leaf_of_raw l /\ leaf_ok S m.
Proof.
  intros l m H. unfold Transition.decode_leaf in H. do 4 passes H. inversion H; subst.
  apply between_range in Heqr as [-> H1]; [|cbn; tauto]. apply between_range in Heqr0 as [-> H2]; [|cbn; tauto].
  apply digest_good in Heqr1 as [-> [H3 H4]]. apply digest_good in Heqr2 as [-> [H5 H6]].
  pose proof (max_leaves_two S OK). split; [reflexivity|]. unfold leaf_ok. cbn. repeat split; auto; lia.
Qed.

Lemma opened_read : forall start p l o, open_leaf on S K start p l = Ok o -> o = opened_of_raw p l /\ opened_ok start o.
Proof.
  intros start p l o H. unfold open_leaf in H. passes H. destruct a as [i siblings]. passes H. inversion H; subst.
  apply place_ok in Heqr as (-> & -> & H1 & H2 & H3). apply leaf_read in Heqr0 as [-> H4]. now split.
Qed.

(** A value, once decoded, is one that the rollup stores. *)
Definition value_ok (v : bytes) : Prop :=
  length v = value_length K /\ canonical S (value_message S K v) = true /\ storable K v = true.

Lemma value_read : forall v w hv, decode_held on S K v = Ok (w, hv) -> w = v /\ hv = hash S (value_message S K v) /\ value_ok v.
Proof.
  intros v w hv H. unfold decode_held in H. passes H. passes H. keep Heqb. keep Heqb0. apply Nat.eqb_eq in Heqb.
  unfold value_ok, storable. destruct K.
  - passes H. passes H. inversion H; subst. keep Heqb1. keep Heqb2. rewrite Heqb1, Heqb2. auto.
  - passes H. inversion H; subst. keep Heqb1. auto.
Qed.

Lemma held_read : forall start hk p l v o w, open_held on S K start hk p l v = Ok (o, w) ->
  o = opened_of_raw p l /\ opened_ok start o /\ hKey (stated o) = hk /\ w = v /\ value_ok v
  /\ hVal (stated o) = hash S (value_message S K v).
Proof.
  intros start hk p l v o w H. unfold open_held in H. passes H. passes H. passes H. destruct a0 as [w' hv]. passes H.
  inversion H; subst. apply opened_read in Heqr as [-> HO]. apply value_read in Heqr0 as (-> & -> & HV).
  keep Heqb. keep Heqb0. apply equal_bytes_eq in Heqb, Heqb0. auto 10.
Qed.

Lemma linked_read : forall a b u, verify_linked on K a b = Ok u -> next (stated a) = place_index b.
Proof. intros x y u H. unfold verify_linked in H. passes H. passes H. keep Heqb. now apply N.eqb_eq in Heqb. Qed.

Lemma gap_read : forall start hk pl l pr r a b, open_gap on S K start hk pl l pr r = Ok (a, b) ->
  a = opened_of_raw pl l /\ b = opened_of_raw pr r /\ opened_ok start a /\ opened_ok start b
  /\ next (stated a) = place_index b /\ below (hKey (stated a)) hk /\ below hk (hKey (stated b)).
Proof.
  intros start hk pl l pr r a b H. unfold open_gap in H. do 4 passes H. inversion H; subst.
  apply opened_read in Heqr0 as [-> HA]. apply opened_read in Heqr1 as [-> HB]. apply linked_read in Heqr2.
  keep Heqb0. apply andb_prop in Heqb0 as [H1 H2]. apply is_below_below in H1, H2. auto 10.
Qed.

(** Opening a leaf finds it in the tree, and putting another there leads to the tree with that one. *)
Lemma opened_binds : forall t start o successor sub_root sub_root', sound S t -> opened_ok start o -> sub_root = Tree.sub_root S t ->
  replace_leaf on S K sub_root o successor = Ok sub_root' ->
  (get t (place_index o) = Some (stated o) /\ sub_root' = Tree.sub_root S (set t (place_index o) successor))
  \/ broken S (opened_candidates S t o).
Proof.
  intros t start o successor s s' HS HO -> H. unfold replace_leaf, replace in H. passes H. inversion H; subst. keep Heqb.
  apply equal_bytes_eq in Heqb. destruct HO as [H1 H2 H3 H4].
  destruct (replace_binds S OK t (Some (stated o)) (place_siblings o) (place_index o) HS) as [[HG HF]|HB]; try assumption.
  - intros l E. now inversion E; subst.
  - left. split; [exact HG|]. apply HF.
  - now right.
Qed.

Lemma empty_binds : forall t siblings i successor sub_root sub_root', sound S t -> Forall (good S) siblings ->
  length siblings = depth S -> (i < max_leaves S)%N -> sub_root = Tree.sub_root S t ->
  replace on S K sub_root i siblings None successor = Ok sub_root' ->
  (get t i = None /\ sub_root' = Tree.sub_root S (set t i successor))
  \/ broken S (replace_candidates S t None siblings i).
Proof.
  intros t siblings i successor s s' HS H1 H2 H3 -> H. unfold replace in H. passes H. inversion H; subst. keep Heqb.
  apply equal_bytes_eq in Heqb.
  destruct (replace_binds S OK t None siblings i HS) as [[HG HF]|HB]; try assumption; [discriminate|left|now right].
  split; [exact HG|]. apply HF.
Qed.

Section Tree.
Variable t : tree.
Hypothesis HT : honest S t.
Variable served : N -> bytes.
Hypothesis HS : stores S K t served.

(** A leaf with the hash of a value is not HEAD or TAIL, and its value is that one. *)
Lemma held_binds : forall i l v, get t i = Some l -> value_ok v -> hVal l = hash S (value_message S K v) ->
  ((2 <= i)%N /\ served i = v) \/ broken S (held_candidates S K served i v).
Proof.
  intros i l v HG (HL & HC & _) HV. unfold held_candidates. match goal with |- _ \/ broken S ?c => set (cs := c) end.
  destruct (N.lt_ge_cases i 2) as [HI|HI].
  - right. apply broken_in with (Zero (value_message S K v)); [now left|].
    assert (HZ : hVal l = zero_digest).
    { destruct (honest_head S t HT) as (h & HH & _ & HHV & _). destruct (honest_tail S t HT) as (e & HE & _ & HEV & _).
      assert (i = 0%N \/ i = 1%N) as [->| ->] by lia; congruence. }
    cbn [is_break]. rewrite (length_value_message S OK K v HL), HC, <- HV, HZ.
    destruct (Nat.eqb_spec (match K with Account => 3 * word_length S + 128 | Storage => 64 end) 0);
      [destruct K; lia|]. apply equal_bytes_refl.
  - pose proof (HS i l HG) as H. destruct (N.ltb_spec i 2); [lia|]. destruct H as (HL' & HC' & HV' & _).
    destruct (broken_collision S (value_message S K v) (value_message S K (served i)) cs) as [HE|HB];
      [right; now left | rewrite !length_value_message by assumption; reflexivity | assumption | assumption
      | congruence | | now right].
    left. split; [exact HI|]. symmetry. eapply value_message_injective; eassumption.
Qed.

Lemma gap_absent : forall x a b hk, get t x = Some a -> get t (next a) = Some b -> below (hKey a) hk -> below hk (hKey b) ->
  forall i l, get t i = Some l -> hKey l <> hk.
Proof.
  intros x a b hk HA HB HLow HHigh i c HG HK. subst hk.
  destruct (honest_gap S t HT _ _ _ _ HA HG HLow) as (b' & HB' & HE). rewrite HB in HB'. inversion HB'; subst b'.
  apply (below_irreflexive (hKey c)). destruct HE as [HE|HE].
  - rewrite HE, HG in HB. inversion HB; subst. assumption.
  - eapply below_trans; eassumption.
Qed.

Lemma absent_content : forall hk, (forall i l, get t i = Some l -> hKey l <> hk) -> holds_content t served hk None.
Proof. intros hk H v (i & l & HG & _ & HK & _). exact (H i l HG HK). Qed.

Definition updates (hk : bytes) (c : change) (t' : tree) (served' : N -> bytes) : Prop :=
  honest S t' /\ stores S K t' served' /\ at_state S t' (reached c)
  /\ holds_content t served hk (before c) /\ holds_content t' served' hk (after c)
  /\ forall hk' v, hk' <> hk -> (content t' served' hk' v <-> content t served hk' v).

Definition served_with (i : N) (v : bytes) : N -> bytes := fun j => if (j =? i)%N then v else served j.

Lemma stays : forall hk o s, at_state S t s -> holds_content t served hk o ->
  updates hk {| before := o; after := o; reached := s |} t served.
Proof. intros hk o s HA HC. unfold updates. cbn. do 5 (split; [assumption|]). intros. tauto. Qed.

(** The value of one leaf changes. *)
Lemma updated : forall i a v w hk s, get t i = Some a -> (2 <= i)%N -> hKey a = hk -> served i = w -> value_ok v ->
  at_sub_root s = Tree.sub_root S (set t i (Some (with_value a (hash S (value_message S K v))))) -> at_free s = next_free t ->
  updates hk {| before := Some w; after := Some v; reached := s |}
    (set t i (Some (with_value a (hash S (value_message S K v))))) (served_with i v).
Proof.
  intros i a v w hk s HG HI HK HW (HL & HC & HSt) HSub HFree.
  set (u := set t i (Some (with_value a (hash S (value_message S K v))))).
  assert (Gi : get u i = Some (with_value a (hash S (value_message S K v)))) by apply get_set.
  assert (Go : forall j, j <> i -> get u j = get t j) by (intros; now apply get_set_other).
  unfold updates, served_with. cbn [before after reached]. fold u.
  split; [apply update_honest; try assumption; [apply (ok_hash_length S OK)|apply (ok_hash_canonical S OK)]|].
  split; [|split; [now split|split; [|split]]].
  - intros j l HJ. destruct (N.eqb_spec j i) as [->|HN].
    + rewrite Gi in HJ. inversion HJ; subst l. destruct (N.ltb_spec i 2); [lia|]. cbn. auto.
    + apply HS. now rewrite Go in HJ.
  - exists i, a. auto.
  - exists i, (with_value a (hash S (value_message S K v))). rewrite N.eqb_refl. auto.
  - intros hk' x HN. split; intros (j & l & HJ & H2 & HKj & HSj).
    + destruct (N.eqb_spec j i) as [->|HNe]; [rewrite Gi in HJ; inversion HJ; subst l; cbn in HKj; congruence|].
      rewrite Go in HJ by assumption. exists j, l. auto.
    + assert (HNe : j <> i) by (intros ->; rewrite HG in HJ; inversion HJ; subst l; congruence).
      exists j, l. rewrite Go by assumption. apply N.eqb_neq in HNe as ->. auto.
Qed.

(** A leaf that is linked to another between two. *)
Lemma inserted_updates : forall l r a b v hk s, get t l = Some a -> get t r = Some b -> link (get t) l r ->
  (next_free t < max_leaves S)%N -> good S hk -> below (hKey a) hk -> below hk (hKey b) -> value_ok v ->
  (forall i m, get t i = Some m -> hKey m <> hk) ->
  at_sub_root s = Tree.sub_root S (set (set (set t l (Some (relink_next a (next_free t)))) (next_free t)
    (Some {| prev := l; next := r; hKey := hk; hVal := hash S (value_message S K v) |})) r (Some (relink_prev b (next_free t)))) ->
  at_free s = (next_free t + 1)%N ->
  updates hk {| before := None; after := Some v; reached := s |}
    (inserted t l r a b {| prev := l; next := r; hKey := hk; hVal := hash S (value_message S K v) |})
    (served_with (next_free t) v).
Proof.
  intros l r a b v hk s HA HB HLink HF [HK1 HK2] HLow HHigh (HL & HC & HSt) HNo HSub HFree.
  set (n := next_free t) in *. set (fresh := {| prev := l; next := r; hKey := hk; hVal := hash S (value_message S K v) |}) in *.
  destruct (link_splits S t HT l r HLink) as (pre & post & HO).
  destruct (present_below S t HT l a HA) as [HLn HLm]. destruct (present_below S t HT r b HB) as [HRn HRm]. fold n in HLn, HRn.
  pose proof (honest_free S t HT) as [H2 _]. fold n in H2.
  assert (HLR : l <> r).
  { intros ->. rewrite HA in HB. inversion HB; subst b. eapply below_irreflexive, below_trans; eassumption. }
  set (u := inserted t l r a b fresh).
  assert (HU : honest S u).
  { apply (insert_honest S t HT l r a b fresh pre post); try assumption; try reflexivity. unfold leaf_ok. cbn. repeat split; auto; try lia.
    - apply (ok_hash_length S OK).
    - apply (ok_hash_canonical S OK). }
  assert (Gl : get u l = Some (with_next a n))
    by (cbn [get u inserted]; rewrite get_set_other by assumption; rewrite get_set_other by (fold n; lia); apply get_set).
  assert (Gr : get u r = Some (with_prev b n)) by (cbn [get u inserted]; apply get_set).
  assert (Gn : get u n = Some fresh) by (cbn [get u inserted]; rewrite get_set_other by lia; apply get_set).
  assert (Go : forall j, j <> l -> j <> r -> j <> n -> get u j = get t j)
    by (intros; cbn [get u inserted]; rewrite !get_set_other by assumption; reflexivity).
  (** A leaf that was there has its key, its value and its index. *)
  assert (Kept : forall j m, j <> n -> get u j = Some m -> exists m', get t j = Some m' /\ hKey m' = hKey m /\ hVal m' = hVal m).
  { intros j m HJn HJ. destruct (N.eq_dec j l) as [->|H3]; [rewrite Gl in HJ; inversion HJ; subst m; exists a; auto|].
    destruct (N.eq_dec j r) as [->|H4]; [rewrite Gr in HJ; inversion HJ; subst m; exists b; auto|].
    rewrite Go in HJ by assumption. eauto. }
  assert (Kept' : forall j m, get t j = Some m -> j <> n /\ exists m', get u j = Some m' /\ hKey m' = hKey m).
  { intros j m HJ. destruct (present_below S t HT j m HJ) as [HJn _]. fold n in HJn. split; [lia|].
    destruct (N.eq_dec j l) as [->|H3]; [rewrite HA in HJ; inversion HJ; subst m; rewrite Gl; eauto|].
    destruct (N.eq_dec j r) as [->|H4]; [rewrite HB in HJ; inversion HJ; subst m; rewrite Gr; eauto|].
    rewrite Go by (assumption || lia). eauto. }
  unfold updates, served_with. cbn [before after reached]. fold n. fold fresh. fold u.
  split; [exact HU|]. split; [|split; [|split; [|split]]].
  - intros j m HJ. destruct (N.eqb_spec j n) as [->|HJn].
    + rewrite Gn in HJ. inversion HJ; subst m. destruct (N.ltb_spec n 2); [lia|]. cbn. auto.
    + destruct (Kept j m HJn HJ) as (m' & HM & _ & HMV). pose proof (HS j m' HM) as H. rewrite HMV in H. exact H.
  - split; [|exact HFree]. rewrite HSub. now apply sub_root_get.
  - now apply absent_content.
  - exists n, fresh. rewrite N.eqb_refl. auto.
  - intros hk' x HN. split; intros (j & m & HJ & HJ2 & HKj & HSj).
    + destruct (N.eqb_spec j n) as [->|HJn]; [rewrite Gn in HJ; inversion HJ; subst m; cbn in HKj; congruence|].
      destruct (Kept j m HJn HJ) as (m' & HM & HMK & _). exists j, m'. rewrite HMK. auto.
    + destruct (Kept' j m HJ) as (HJn & m' & HM & HMK). exists j, m'. rewrite HMK. apply N.eqb_neq in HJn as ->. auto.
Qed.

Lemma deleted_updates : forall l h r a m b w hk s, get t l = Some a -> get t h = Some m -> get t r = Some b ->
  link (get t) l h -> link (get t) h r -> (2 <= h)%N -> hKey m = hk -> served h = w ->
  at_sub_root s = Tree.sub_root S (set (set (set t l (Some (relink_next a (next m)))) h None) r (Some (relink_prev b (prev m)))) ->
  at_free s = next_free t ->
  updates hk {| before := Some w; after := None; reached := s |} (deleted t l h r a m b) served.
Proof.
  intros l h r a m b w hk s HA HM HB HL1 HL2 H2 HK HW HSub HFree.
  destruct (link_splits S t HT l h HL1) as (pre & tail & HO).
  assert (HPost : exists post, order t = pre ++ l :: h :: r :: post).
  { destruct (honest_chain S t HT) as [HC HLast]. rewrite HO in HC, HLast. apply chain_app in HC as [_ HC].
    assert (HH : h <> 1%N) by lia. destruct tail as [|r' post].
    - rewrite last_app in HLast. cbn in HLast. congruence.
    - destruct HC as [_ [HL _]]. destruct HL as (m' & _ & HM' & _ & HN & _). destruct HL2 as (m'' & _ & HM'' & _ & HN' & _).
      rewrite HM' in HM''. inversion HM''; subst m''. exists post. congruence. }
  destruct HPost as [post HPost]. clear HO.
  assert (Keys : below (hKey a) (hKey m) /\ below (hKey m) (hKey b)).
  { destruct HL1 as (a' & m' & E1 & E2 & _ & _ & E3). destruct HL2 as (m2 & b' & F1 & F2 & _ & _ & F3).
    rewrite HA in E1. rewrite HM in E2, F1. rewrite HB in F2. inversion E1; inversion E2; inversion F1; inversion F2; now subst. }
  destruct Keys as [K1 K2].
  assert (HLR : l <> r) by (intros ->; rewrite HA in HB; inversion HB; subst b; eapply below_irreflexive, below_trans; eassumption).
  assert (HLH : l <> h) by (intros ->; rewrite HA in HM; inversion HM; subst m; eapply below_irreflexive; eassumption).
  assert (HHR : h <> r) by (intros ->; rewrite HM in HB; inversion HB; subst b; eapply below_irreflexive; eassumption).
  set (u := deleted t l h r a m b).
  assert (HU : honest S u) by now apply (delete_honest S t HT l h r a m b pre post).
  assert (Gl : get u l = Some (with_next a (next m))).
  { cbn [get u deleted]. rewrite get_set_other by assumption. rewrite get_set_other by assumption. apply get_set. }
  assert (Gr : get u r = Some (with_prev b (prev m))) by (cbn [get u deleted]; apply get_set).
  assert (Gh : get u h = None) by (cbn [get u deleted]; rewrite get_set_other by assumption; apply get_set).
  assert (Go : forall j, j <> l -> j <> r -> j <> h -> get u j = get t j)
    by (intros; cbn [get u deleted]; rewrite !get_set_other by assumption; reflexivity).
  assert (Kept : forall j x, get u j = Some x -> j <> h /\ exists x', get t j = Some x' /\ hKey x' = hKey x /\ hVal x' = hVal x).
  { intros j x HJ. destruct (N.eq_dec j h) as [->|HJh]; [congruence|split; [assumption|]].
    destruct (N.eq_dec j l) as [->|H3]; [rewrite Gl in HJ; inversion HJ; subst x; exists a; auto|].
    destruct (N.eq_dec j r) as [->|H4]; [rewrite Gr in HJ; inversion HJ; subst x; exists b; auto|].
    rewrite Go in HJ by assumption. eauto. }
  assert (Kept' : forall j x, j <> h -> get t j = Some x -> exists x', get u j = Some x' /\ hKey x' = hKey x).
  { intros j x HJh HJ. destruct (N.eq_dec j l) as [->|H3]; [rewrite HA in HJ; inversion HJ; subst x; rewrite Gl; eauto|].
    destruct (N.eq_dec j r) as [->|H4]; [rewrite HB in HJ; inversion HJ; subst x; rewrite Gr; eauto|].
    rewrite Go by assumption. eauto. }
  unfold updates. cbn [before after reached]. fold u.
  split; [exact HU|]. split; [|split; [split; [rewrite HSub; now apply sub_root_get|exact HFree]|split; [|split]]].
  - intros j x HJ. destruct (Kept j x HJ) as (_ & x' & HX & _ & HXV). pose proof (HS j x' HX) as H. rewrite HXV in H. exact H.
  - exists h, m. auto.
  - intros x (j & y & HJ & _ & HKj & _). destruct (Kept j y HJ) as (HJh & y' & HY & HYK & _). apply HJh.
    eapply (keys_differ S t HT); [exact HY|exact HM|congruence].
  - intros hk' x HN. split; intros (j & y & HJ & HJ2 & HKj & HSj).
    + destruct (Kept j y HJ) as (_ & y' & HY & HYK & _). exists j, y'. rewrite HYK. auto.
    + assert (HJh : j <> h) by (intros ->; rewrite HM in HJ; inversion HJ; subst y; congruence).
      destruct (Kept' j y HJh HJ) as (y' & HY & HYK). exists j, y'. rewrite HYK. auto.
Qed.

Ltac first_break HB := right; eapply broken_incl; [|exact HB]; intros; apply in_or_app; now left.

Theorem apply_binds : forall hk start tr c, good S hk -> at_state S t start -> apply_trace on S K hk start tr = Ok c ->
  updates hk c (next_tree S K t hk tr) (next_served t served tr) \/ broken S (trace_candidates S K t served hk tr).
Proof.
  intros hk start tr c HK HStart H. pose proof HStart as [HSub HFree]. pose proof (honest_sound S t HT) as Hsound.
  destruct tr as [s f l p v|s f l q pl pr|s f l q pl pr pn v result|s f l p v w result|s f l h q pl ph pr v result];
    cbn [apply_trace trace_candidates] in *; cbv zeta in *.
  - passes H. destruct a as [o w]. passes H. inversion H; subst. clear H.
    apply held_read in Heqr as (-> & HO & HKey & -> & HV & HVal).
    destruct (opened_binds t start _ _ _ _ Hsound HO HSub Heqr0) as [[HG _]|HB]; [|first_break HB].
    destruct (held_binds _ _ _ HG HV HVal) as [[H2 HSv]|HB];
      [|right; eapply broken_incl; [|exact HB]; intros; apply in_or_app; now right].
    left. apply stays; [exact HStart|]. eexists. eexists. eauto.
  - passes H. destruct a as [x y]. passes H. passes H. inversion H; subst. clear H.
    apply gap_read in Heqr as (-> & -> & HA & HB & HN & HLow & HHigh).
    destruct (opened_binds t start _ _ _ _ Hsound HA HSub Heqr0) as [[HGa _]|HBr]; [|first_break HBr].
    destruct (opened_binds t start _ _ _ _ Hsound HB HSub Heqr1) as [[HGb _]|HBr];
      [|right; eapply broken_incl; [|exact HBr]; intros; apply in_or_app; now right].
    left. apply stays; [exact HStart|]. apply absent_content.
    apply (gap_absent _ _ (stated (opened_of_raw pr q)) hk HGa); try assumption. now rewrite HN.
  - passes H. destruct a as [x y]. passes H. destruct a as [i siblings]. passes H. passes H. destruct a as [w hv].
    passes H. passes H. passes H. unfold verify_result in H. passes H. passes H. inversion H; subst. clear H.
    apply gap_read in Heqr as (-> & -> & HA & HB & HN & HLow & HHigh).
    apply place_ok in Heqr0 as (_ & -> & HSib & HCount & HI). keep Heqb. apply N.eqb_eq in Heqb. subst i.
    rewrite HFree in *. apply value_read in Heqr1 as (-> & -> & HV).
    set (la := opened_of_raw pl l) in *. set (lb := opened_of_raw pr q) in *.
    match goal with |- _ \/ broken S (_ ++ replace_candidates S ?x None _ _ ++ opened_candidates S ?y _) =>
      set (t1 := x) in *; set (t2 := y) in * end.
    destruct (opened_binds t start la _ _ _ Hsound HA HSub Heqr2) as [[HGa HS1]|HBr]; [|first_break HBr].
    assert (Hs1 : sound S t1).
    { apply sound_set; [exact Hsound|]. intros x E. inversion E; subst. destruct (oo_leaf _ _ HA) as (E1 & E2 & E3 & E4 & E5 & E6).
      unfold leaf_ok. cbn. repeat split; auto. }
    destruct (empty_binds t1 (raw_siblings pn) (next_free t) _ _ _ Hs1 HSib HCount HI HS1 Heqr3) as [[HGn HS2]|HBr];
      [|right; eapply broken_incl; [|exact HBr]; intros; apply in_or_app; right; apply in_or_app; now left].
    assert (Hs2 : sound S t2).
    { apply sound_set; [exact Hs1|]. intros x E. inversion E; subst. unfold leaf_ok. cbn. destruct HK.
      pose proof (oo_index _ _ HA). pose proof (oo_index _ _ HB). repeat split; auto.
      - apply (ok_hash_length S OK).
      - apply (ok_hash_canonical S OK). }
    destruct (opened_binds t2 start lb _ _ _ Hs2 HB HS2 Heqr4) as [[HGb HS3]|HBr];
      [|right; eapply broken_incl; [|exact HBr]; intros; apply in_or_app; right; apply in_or_app; now right].
    left.
    (** The right leaf is neither of the two that have changed. *)
    assert (HNr : place_index lb <> next_free t).
    { intro E. rewrite E in HGb. unfold t2 in HGb. rewrite get_set in HGb. apply (f_equal key_of_leaf) in HGb.
      change (hk = hKey (stated lb)) in HGb. rewrite <- HGb in HHigh. now apply below_irreflexive in HHigh. }
    assert (HLr : place_index lb <> place_index la).
    { intro E. rewrite E in HGb, HNr. unfold t2 in HGb. rewrite get_set_other in HGb by assumption. unfold t1 in HGb.
      rewrite get_set in HGb. apply (f_equal key_of_leaf) in HGb. change (hKey (stated la) = hKey (stated lb)) in HGb.
      rewrite <- HGb in HHigh. eapply below_irreflexive, below_trans; eassumption. }
    assert (HGb' : get t (place_index lb) = Some (stated lb)).
    { unfold t2 in HGb. rewrite get_set_other in HGb by assumption. unfold t1 in HGb. now rewrite get_set_other in HGb. }
    assert (HLink : link (get t) (place_index la) (place_index lb)).
    { rewrite <- HN. apply (honest_link S t HT); [exact HGa|]. intro E.
      destruct (honest_tail S t HT) as (e & HE & _ & _ & HEN). rewrite E, HE in HGa. inversion HGa; subst e. congruence. }
    apply inserted_updates with (l := place_index la) (r := place_index lb) (a := stated la) (b := stated lb); try assumption.
    + apply (gap_absent _ _ (stated lb) hk HGa); try assumption. now rewrite HN.
    + reflexivity.
  - passes H. destruct a as [o w']. passes H. destruct a as [w'' hv]. passes H. unfold verify_result in H. passes H. passes H.
    inversion H; subst. clear H. apply held_read in Heqr as (-> & HO & HKey & -> & HV & HVal).
    apply value_read in Heqr0 as (-> & -> & HW).
    destruct (opened_binds t start _ _ _ _ Hsound HO HSub Heqr1) as [[HG HS1]|HB]; [|first_break HB].
    destruct (held_binds _ _ _ HG HV HVal) as [[H2 HSv]|HB];
      [|right; eapply broken_incl; [|exact HB]; intros; apply in_or_app; now right].
    left. eapply updated; try eassumption.
  - passes H. passes H. destruct a0 as [m w]. passes H. passes H. passes H. passes H. passes H. passes H.
    unfold verify_result in H. passes H. passes H. inversion H; subst. clear H.
    apply opened_read in Heqr as [-> HA]. apply held_read in Heqr0 as (-> & HM & HKey & -> & HV & HVal).
    apply opened_read in Heqr1 as [-> HB]. apply linked_read in Heqr2, Heqr3.
    set (la := opened_of_raw pl l) in *. set (lm := opened_of_raw ph h) in *. set (lb := opened_of_raw pr q) in *.
    match goal with |- _ \/ broken S (_ ++ opened_candidates S ?x _ ++ opened_candidates S ?y _ ++ _) =>
      set (t1 := x) in *; set (t2 := y) in * end.
    destruct (opened_binds t start la _ _ _ Hsound HA HSub Heqr4) as [[HGa HS1]|HBr]; [|first_break HBr].
    assert (Hs1 : sound S t1).
    { apply sound_set; [exact Hsound|]. intros x E. inversion E; subst. destruct (oo_leaf _ _ HA) as (E1 & E2 & E3 & E4 & E5 & E6).
      destruct (oo_leaf _ _ HM) as (F1 & F2 & _). unfold leaf_ok. cbn. repeat split; auto. }
    destruct (opened_binds t1 start lm _ _ _ Hs1 HM HS1 Heqr5) as [[HGm HS2]|HBr];
      [|right; eapply broken_incl; [|exact HBr]; intros; apply in_or_app; right; apply in_or_app; now left].
    assert (Hs2 : sound S t2) by (apply sound_set; [exact Hs1|discriminate]).
    destruct (opened_binds t2 start lb _ _ _ Hs2 HB HS2 Heqr6) as [[HGb HS3]|HBr];
      [|right; eapply broken_incl; [|exact HBr]; intros; apply in_or_app; right; apply in_or_app; right; apply in_or_app; now left].
    assert (HHeld : forall l, get t (place_index lm) = Some l -> hVal l = hVal (stated lm) ->
      ((2 <= place_index lm)%N /\ served (place_index lm) = v)
      \/ broken S (opened_candidates S t la ++ opened_candidates S t1 lm ++ opened_candidates S t2 lb
           ++ held_candidates S K served (place_index lm) v)).
    { intros x HX HXV. destruct (held_binds _ x v HX HV) as [HOk|HBr]; [congruence|now left|right].
      eapply broken_incl; [|exact HBr]. intros. do 3 (apply in_or_app; right). assumption. }
    (** If the leaf is its own left neighbour, it is TAIL, which has no value. *)
    destruct (N.eq_dec (place_index lm) (place_index la)) as [E|HAM].
    { rewrite E in HGm. unfold t1 in HGm. rewrite get_set in HGm. apply (f_equal value_of_leaf) in HGm.
      destruct (HHeld (stated la)) as [[H2 _]|HBr]; [now rewrite E|exact HGm| |now right]. exfalso.
      destruct (honest_link S t HT (place_index la) (stated la) HGa) as (x & y & HX & HY & HN & _ & HLt); [lia|].
      rewrite Heqr2, E, HGa in HY. rewrite HGa in HX. inversion HX; inversion HY; subst. now apply below_irreflexive in HLt. }
    assert (HGm' : get t (place_index lm) = Some (stated lm)) by (unfold t1 in HGm; now rewrite get_set_other in HGm).
    destruct (HHeld (stated lm) HGm' eq_refl) as [[H2 HSv]|HBr]; [left|now right].
    assert (HL1 : link (get t) (place_index la) (place_index lm)).
    { rewrite <- Heqr2. apply (honest_link S t HT); [exact HGa|]. intro E.
      destruct (honest_tail S t HT) as (e & HE & _ & _ & HEN). rewrite E in HGa.
      assert (HEq : e = stated la) by congruence. rewrite HEq, Heqr2 in HEN. lia. }
    assert (HL2 : link (get t) (place_index lm) (place_index lb)).
    { rewrite <- Heqr3. apply (honest_link S t HT); [exact HGm'|lia]. }
    assert (HGb' : get t (place_index lb) = Some (stated lb)).
    { assert (HBM : place_index lb <> place_index lm).
      { intro E. rewrite E in HGb. unfold t2 in HGb. rewrite get_set in HGb. discriminate. }
      unfold t2 in HGb. rewrite get_set_other in HGb by assumption. unfold t1 in HGb.
      rewrite get_set_other in HGb; [exact HGb|]. intro E.
      destruct HL1 as (x & y & HX & HY & _ & _ & K1). destruct HL2 as (y' & z & HY' & HZ & _ & _ & K2).
      rewrite E in HZ. rewrite HX in HZ. rewrite HY in HY'. inversion HZ; inversion HY'; subst.
      eapply below_irreflexive, below_trans; eassumption. }
    eapply deleted_updates with (l := place_index la) (h := place_index lm) (r := place_index lb); try eassumption.
Qed.

End Tree.
End Step.

(** *** Where a tree has come to *)

Section Chain.
Variable on : trace_rule -> bool.
Hypothesis ON : Forall (fun r => on r = true) tree_rules.
Variable S : scheme.
Hypothesis OK : scheme_ok S.
Variable K : kind.

(** Before its first trace, only the root of a tree is known. *)
Definition come_to (t : tree) (came : option tree_state) (root : bytes) : Prop :=
  match came with None => root = Tree.root S t | Some s => at_state S t s end.

Lemma come_to_root : forall t came root, come_to t came root -> root_of_state S came root = Tree.root S t.
Proof.
  intros t [s|] root H; [|exact H]. destruct H as [C1 C2]. cbn. unfold state_root, Tree.root, root_message. now rewrite C1, C2.
Qed.

Definition raw_start (tr : trace) : tree_state :=
  match tr with
  | Insert s f _ _ _ _ _ _ _ => {| at_sub_root := s; at_free := (Z.to_N f - 1)%N |}
  | Read s f _ _ _ | ReadAbsent s f _ _ _ _ | Update s f _ _ _ _ _ | Delete s f _ _ _ _ _ _ _ _ =>
      {| at_sub_root := s; at_free := (Z.to_N f - 0)%N |}
  end.

Definition start_candidates (t : tree) (tr : trace) : list break :=
  [Collision (word S (at_free (raw_start tr)) ++ at_sub_root (raw_start tr)) (root_message S t)].

Lemma start_read : forall tr s, decode_start on S K tr = Ok s ->
  s = raw_start tr /\ good S (at_sub_root s) /\ (at_free s <= max_leaves S)%N.
Proof.
  intros tr s H.
  destruct tr; cbn [decode_start raw_start] in *; passes H; passes H; inversion H; subst;
    apply (digest_good on ON) in Heqr as [-> HG]; apply (between_range on ON) in Heqr0 as [-> HB]; try (cbn; tauto);
    cbn [at_sub_root at_free]; repeat split; try apply HG; lia.
Qed.

(** One trace, where its tree has come to. *)
Lemma step_binds : forall t served came root key tr c, honest S t -> stores S K t served -> come_to t came root ->
  step on S K came root (hash_key S K key) tr = Ok c ->
  updates S K t served (hash_key S K key) c (next_tree S K t (hash_key S K key) tr) (next_served t served tr)
  \/ broken S (start_candidates t tr ++ trace_candidates S K t served (hash_key S K key) tr).
Proof.
  intros t served came root key tr c HT HS HCome H. unfold step in H. passes H. rename a into start.
  apply start_read in Heqr as (E & HG & HF). passes H. passes H.
  assert (HStart : at_state S t start \/ broken S (start_candidates t tr)).
  { destruct came as [s|]; cbn [come_to] in HCome.
    - apply (kept on ON) in Heqb; [|cbn; tauto]. apply andb_prop in Heqb as [E1 E2]. apply equal_bytes_eq in E1.
      apply N.eqb_eq in E2. destruct HCome as [C1 C2]. left. split; congruence.
    - apply (kept on ON) in Heqb0; [|cbn; tauto]. apply equal_bytes_eq in Heqb0. subst root. unfold state_root, Tree.root in Heqb0.
      unfold start_candidates. rewrite <- E. destruct (honest_free S t HT) as [_ HFree].
      destruct (broken_collision S (word S (at_free start) ++ at_sub_root start) (root_message S t)
        [Collision (word S (at_free start) ++ at_sub_root start) (root_message S t)]) as [HE|HB];
        [now left | rewrite length_root_message, app_length, length_word, (proj1 HG) by assumption; reflexivity
        | apply canonical_word_app; [assumption|assumption|apply HG] | now apply canonical_root_message | exact Heqb0 | | now right].
      left. unfold root_message in HE. apply app_injective in HE as [E1 E2]; [|now rewrite !length_word].
      apply word_injective in E1; [|assumption|assumption|assumption]. now split. }
  destruct HStart as [HStart|HB]; [|right; eapply broken_incl; [|exact HB]; intros; apply in_or_app; now left].
  destruct (apply_binds on ON S OK K t HT served HS (hash_key S K key) start tr c) as [HU|HB];
    [apply good_hash; assumption|exact HStart|exact H|now left|].
  right. eapply broken_incl; [|exact HB]. intros. apply in_or_app. now right.
Qed.

(** *** A chain of traces *)

Fixpoint last_tree (t : tree) (traces : list (bytes * trace)) : tree :=
  match traces with [] => t | (key, tr) :: traces => last_tree (next_tree S K t (hash_key S K key) tr) traces end.

Fixpoint last_served (t : tree) (served : N -> bytes) (traces : list (bytes * trace)) : N -> bytes :=
  match traces with
  | [] => served
  | (key, tr) :: traces => last_served (next_tree S K t (hash_key S K key) tr) (next_served t served tr) traces
  end.

Fixpoint follow_candidates (t : tree) (served : N -> bytes) (traces : list (bytes * trace)) : list break :=
  match traces with
  | [] => []
  | (key, tr) :: traces =>
      (start_candidates t tr ++ trace_candidates S K t served (hash_key S K key) tr)
      ++ follow_candidates (next_tree S K t (hash_key S K key) tr) (next_served t served tr) traces
  end.

(** The last value that was written under the hash of a key; [None] if none was. *)
Fixpoint last_write (hk : bytes) (changes : list (bytes * option bytes * option bytes)) : option (option bytes) :=
  match changes with
  | [] => None
  | (key, _, is) :: changes =>
      match last_write hk changes with
      | Some o => Some o
      | None => if equal_bytes hk (hash_key S K key) then Some is else None
      end
  end.

(** Each value before is the one that the writes before it have left. *)
Fixpoint true_befores (holds : bytes -> option bytes -> Prop) (changes : list (bytes * option bytes * option bytes)) : Prop :=
  match changes with
  | [] => True
  | (key, was, is) :: changes =>
      holds (hash_key S K key) was
      /\ true_befores (fun hk o => if equal_bytes hk (hash_key S K key) then o = is else holds hk o) changes
  end.

Lemma true_befores_same : forall changes (holds holds' : bytes -> option bytes -> Prop), (forall hk o, holds hk o -> holds' hk o) ->
  true_befores holds changes -> true_befores holds' changes.
Proof.
  induction changes as [|[[key was] is] changes IH]; intros holds holds' H HB; [exact I|]. destruct HB as [H1 H2].
  split; [now apply H|]. eapply IH; [|exact H2]. intros hk o. cbv beta. destruct (equal_bytes hk (hash_key S K key)); auto.
Qed.

Lemma content_one : forall t served hk v w, honest S t -> content t served hk v -> content t served hk w -> v = w.
Proof.
  intros t served hk v w HT (i & l & H1 & _ & H3 & H4) (j & m & G1 & _ & G3 & G4).
  assert (i = j) by (eapply (keys_differ S t HT); [exact H1|exact G1|congruence]). subst. congruence.
Qed.

Lemma holds_one : forall t served hk o p, honest S t -> holds_content t served hk o -> holds_content t served hk p -> o = p.
Proof.
  intros t served hk [v|] [w|] HT HO HP; cbn in *; [f_equal; now apply (content_one t served hk)| | |reflexivity];
    exfalso; [now apply (HP v)|now apply (HO w)].
Qed.

Theorem follow_binds : forall traces t served came root changes came', honest S t -> stores S K t served ->
  come_to t came root -> follow on S K came root traces = Ok (changes, came') ->
  (let t' := last_tree t traces in let served' := last_served t served traces in
   honest S t' /\ stores S K t' served' /\ come_to t' came' root
   /\ true_befores (holds_content t served) changes
   /\ forall hk o, holds_content t' served' hk o <->
        match last_write hk changes with Some w => o = w | None => holds_content t served hk o end)
  \/ broken S (follow_candidates t served traces).
Proof.
  induction traces as [|[key tr] traces IH]; intros t served came root changes came' HT HS HCome H; cbn [follow] in H.
  - inversion H; subst. left. cbn [last_tree last_served last_write true_befores]. cbv zeta. do 3 (split; [assumption|]).
    split; [exact I|reflexivity].
  - passes H. passes H. destruct a0 as [more came1]. inversion H; subst. clear H. rename a into c.
    cbn [follow_candidates last_tree last_served]. set (hk := hash_key S K key) in *.
    destruct (step_binds t served came root key tr c HT HS HCome Heqr) as [HU|HB];
      [|right; eapply broken_incl; [|exact HB]; intros; apply in_or_app; now left].
    destruct HU as (HT' & HS' & HA & HB & HW & HOther). fold hk in HT', HS', HA, HB, HW, HOther.
    set (t1 := next_tree S K t hk tr) in *. set (served1 := next_served t served tr) in *.
    destruct (IH t1 served1 (Some (reached c)) root more came' HT' HS' HA Heqr0) as [HR|HBr];
      [left|right; eapply broken_incl; [|exact HBr]; intros; apply in_or_app; now right].
    destruct HR as (R1 & R2 & R4 & R5 & R6). cbv zeta. split; [exact R1|]. split; [exact R2|]. split; [exact R4|].
    assert (HOther' : forall hk' o, hk' <> hk -> (holds_content t1 served1 hk' o <-> holds_content t served hk' o)).
    { intros hk' [v|] HN; cbn; [now apply HOther|]. split; intros HNo v HC; apply (HNo v); now apply HOther. }
    split; [split; [exact HB|]|].
    + eapply true_befores_same; [|exact R5]. intros hk' o HC. cbv beta. fold hk. destruct (equal_bytes hk' hk) eqn:E.
      * apply equal_bytes_eq in E. subst hk'. exact (holds_one t1 served1 hk o (after c) HT' HC HW).
      * apply equal_bytes_neq in E. now apply HOther'.
    + intros hk' o. rewrite R6. cbn [last_write]. destruct (last_write hk' more) as [w|]; [reflexivity|]. fold hk.
      destruct (equal_bytes hk' hk) eqn:E.
      * apply equal_bytes_eq in E. subst hk'. split; [intro HC; exact (holds_one t1 served1 hk o (after c) HT' HC HW)|].
        intros ->. exact HW.
      * apply equal_bytes_neq in E. now apply HOther'.
Qed.

(** A key that no trace is about keeps its value. *)
Theorem nothing_else : forall hk changes, (forall key was is, In (key, was, is) changes -> hash_key S K key <> hk) ->
  last_write hk changes = None.
Proof.
  intros hk. induction changes as [|[[key was] is] changes IH]; intro H; [reflexivity|]. cbn [last_write].
  rewrite IH by (intros; eapply H; right; eassumption). assert (E : equal_bytes hk (hash_key S K key) = false).
  { apply equal_bytes_neq. intros ->. exact (H key was is (or_introl eq_refl) eq_refl). }
  now rewrite E.
Qed.

End Chain.

(** The theorems, of all rules. *)
Definition all_trace_rules : trace_rule -> bool := fun _ => true.
Lemma all_kept : Forall (fun r => all_trace_rules r = true) tree_rules.
Proof. apply Forall_forall. reflexivity. Qed.

Theorem trace_binds : forall S K t served key came root tr c, scheme_ok S -> honest S t -> stores S K t served ->
  come_to S t came root -> step all_trace_rules S K came root (hash_key S K key) tr = Ok c ->
  updates S K t served (hash_key S K key) c (next_tree S K t (hash_key S K key) tr) (next_served t served tr)
  \/ broken S (start_candidates S t tr ++ trace_candidates S K t served (hash_key S K key) tr).
Proof. intros. eapply step_binds; try eassumption. apply all_kept. Qed.

Theorem chain_binds : forall S K traces t served root changes came, scheme_ok S -> honest S t -> stores S K t served ->
  root = Tree.root S t -> follow all_trace_rules S K None root traces = Ok (changes, came) ->
  (let t' := last_tree S K t traces in let served' := last_served S K t served traces in
   honest S t' /\ stores S K t' served' /\ root_of_state S came root = Tree.root S t'
   /\ true_befores S K (holds_content t served) changes
   /\ forall hk o, holds_content t' served' hk o <->
        match last_write S K hk changes with Some w => o = w | None => holds_content t served hk o end)
  \/ broken S (follow_candidates S K t served traces).
Proof.
  intros S K traces t served root changes came OK HT HS HR H.
  destruct (follow_binds all_trace_rules all_kept S OK K traces t served None root changes came HT HS HR H)
    as [(R1 & R2 & R4 & R5 & R6)|HB]; [left|now right].
  cbv zeta. do 2 (split; [assumption|]). split; [|now split]. now apply come_to_root.
Qed.
