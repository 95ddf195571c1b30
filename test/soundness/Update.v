(** Honest updates of an honest tree: a leaf's value, a new leaf between two, a leaf less. *)
From Soundness Require Export Unique.

(** Another leaf at this index, or none. *)
Definition set (t : tree) (i : N) (o : option leaf) : tree :=
  {| get := fun j => if (j =? i)%N then o else get t j; next_free := next_free t; order := order t |}.

Lemma get_set : forall t i o, get (set t i o) i = o.
Proof. intros. cbn [get set]. now rewrite N.eqb_refl. Qed.

Lemma get_set_other : forall t i o j, j <> i -> get (set t i o) j = get t j.
Proof. intros t i o j H. cbn [get set]. now apply N.eqb_neq in H as ->. Qed.

Definition leaf_ok (S : scheme) (l : leaf) : Prop :=
  (prev l < max_leaves S)%N /\ (next l < max_leaves S)%N
  /\ length (hKey l) = 32 /\ canonical S (hKey l) = true /\ length (hVal l) = 32 /\ canonical S (hVal l) = true.

Definition sound (S : scheme) (t : tree) : Prop := forall i l, get t i = Some l -> leaf_ok S l.

Lemma sound_set : forall S t i o, sound S t -> (forall l, o = Some l -> leaf_ok S l) -> sound S (set t i o).
Proof.
  intros S t i o HT HO j l H. cbn [get set] in H. destruct (N.eqb_spec j i); [now apply HO|now apply (HT j)].
Qed.

(** *** One path holds the whole tree: with another leaf below it, it leads to the tree with that leaf *)

Section Path.
Variable S : scheme.
Hypothesis OK : scheme_ok S.

Lemma node_local : forall t u level p, (forall i, (i / 2 ^ N.of_nat level = p)%N -> get t i = get u i) ->
  node S t level p = node S u level p.
Proof.
  intros t u. induction level as [|level IH]; intros p H; cbn [node].
  - rewrite H; [reflexivity|]. now rewrite N.div_1_r.
  - assert (Up : forall i, (i / 2 ^ N.of_nat (Datatypes.S level) = i / 2 ^ N.of_nat level / 2)%N).
    { intro i. rewrite N.div_div by (try apply N.pow_nonzero; lia). now rewrite Nat2N.inj_succ, N.pow_succ_r', N.mul_comm. }
    rewrite (IH (2 * p)%N), (IH (2 * p + 1)%N); [reflexivity| |]; intros i Hi; apply H; rewrite Up, Hi.
    + symmetry. apply (N.div_unique _ 2 _ 1); lia.
    + symmetry. apply (N.div_unique _ 2 _ 0); lia.
Qed.

Lemma sub_root_get : forall t u, (forall i, get t i = get u i) -> sub_root S t = sub_root S u.
Proof. intros t u H. unfold sub_root. apply node_local. intros. apply H. Qed.

Lemma other_child_differs : forall p, other_child p <> p.
Proof. intro p. unfold other_child. pose proof (half p). destruct (N.odd p); lia. Qed.

Lemma siblings_set : forall t i o count level,
  siblings_up S (set t i o) count level (i / 2 ^ N.of_nat level) = siblings_up S t count level (i / 2 ^ N.of_nat level).
Proof.
  intros t i o. induction count as [|count IH]; intro level; [reflexivity|]. cbn [siblings_up]. f_equal.
  - apply node_local. intros j HJ. apply get_set_other. intros ->. symmetry in HJ. now apply other_child_differs in HJ.
  - assert (E : (i / 2 ^ N.of_nat level / 2 = i / 2 ^ N.of_nat (Datatypes.S level))%N).
    { rewrite N.div_div by (try apply N.pow_nonzero; lia). now rewrite Nat2N.inj_succ, N.pow_succ_r', N.mul_comm. }
    rewrite E. apply IH.
Qed.

Definition fold_at (o : option leaf) (siblings : list bytes) (i : N) : bytes := fold_path S (leaf_digest S o) siblings i.

Definition replace_candidates (t : tree) (o : option leaf) (siblings : list bytes) (i : N) : list break :=
  match o, get t i with
  | Some l, Some m => [Collision (encode_opening S l) (encode_opening S m)]
  | Some l, None | None, Some l => [Zero (encode_opening S l)]
  | None, None => []
  end ++ climb S t 0 (leaf_digest S o) siblings i.

Lemma opening_injective_leaf : forall l m, leaf_ok S l -> leaf_ok S m -> encode_opening S l = encode_opening S m -> l = m.
Proof.
  intros l m (L1 & L2 & L3 & _ & L5 & _) (M1 & M2 & M3 & _ & M5 & _) H. unfold encode_opening in H.
  apply app_injective in H as [E1 H]; [|now rewrite !length_word]. apply app_injective in H as [E2 H]; [|now rewrite !length_word].
  apply app_injective in H as [E3 E4]; [|congruence].
  apply word_injective in E1; [|assumption|lia|lia]. apply word_injective in E2; [|assumption|lia|lia].
  destruct l, m. cbn in *. congruence.
Qed.

(** A path that leads from a leaf, or from no leaf, to the sub-root: the tree has that leaf there. With another leaf below
    it, it leads to the sub-root of the tree with that leaf. *)
Lemma replace_binds : forall t o siblings i, sound S t -> (forall l, o = Some l -> leaf_ok S l) ->
  Forall (good S) siblings -> length siblings = depth S -> (i < max_leaves S)%N ->
  fold_at o siblings i = sub_root S t ->
  (get t i = o /\ forall o', fold_at o' siblings i = sub_root S (set t i o'))
  \/ broken S (replace_candidates t o siblings i).
Proof.
  intros t o siblings i HT HO HS HL HI H. unfold replace_candidates. set (first := match o with Some _ => _ | None => _ end).
  assert (HRest : broken S (climb S t 0 (leaf_digest S o) siblings i) -> broken S (first ++ climb S t 0 (leaf_digest S o) siblings i))
    by (apply broken_incl; intros; apply in_or_app; now right).
  assert (HFirst : broken S first -> broken S (first ++ climb S t 0 (leaf_digest S o) siblings i))
    by (apply broken_incl; intros; apply in_or_app; now left).
  assert (HD : good S (leaf_digest S o)).
  { destruct o as [l|]; cbn [leaf_digest]; [now apply good_hash|]. split; [reflexivity|apply (ok_zero_canonical S OK)]. }
  assert (HF : fold_path S (leaf_digest S o) siblings i
    = node S t (0 + length siblings) (i / 2 ^ N.of_nat (length siblings))).
  { rewrite HL. cbn [Nat.add]. etransitivity; [exact H|]. unfold sub_root. f_equal. symmetry. apply N.div_small. exact HI. }
  destruct (climb_binds S OK t siblings 0 (leaf_digest S o) i HD HS HF) as [HN|HB]; [|right; now apply HRest].
  destruct (climb_siblings S OK t siblings 0 (leaf_digest S o) i HD HS HF) as [HSib|HB]; [|right; now apply HRest].
  assert (HG : get t i = o \/ broken S first).
  { cbn [node] in HN. unfold first. destruct o as [l|], (get t i) as [m|] eqn:E; cbn [leaf_digest] in HN.
    - pose proof (HO l eq_refl) as HOl. pose proof (HT i m E) as HOm. pose proof HOl as (L1 & L2 & L3 & L4 & L5 & L6).
      pose proof HOm as (M1 & M2 & M3 & M4 & M5 & M6).
      destruct (broken_collision S (encode_opening S l) (encode_opening S m) [Collision (encode_opening S l) (encode_opening S m)])
        as [HE|HB]; [now left|rewrite !length_opening by assumption; reflexivity|now apply canonical_opening
        |now apply canonical_opening|exact HN| |now right].
      left. f_equal. symmetry. now apply opening_injective_leaf.
    - right. destruct (HO l eq_refl) as (L1 & L2 & L3 & L4 & L5 & L6).
      apply broken_in with (Zero (encode_opening S l)); [now left|]. cbn [is_break].
      rewrite length_opening, canonical_opening, HN by assumption. unfold opening_length.
      destruct (Nat.eqb_spec (2 * word_length S + 64) 0); [lia|]. apply equal_bytes_refl.
    - right. destruct (HT i m E) as (L1 & L2 & L3 & L4 & L5 & L6).
      apply broken_in with (Zero (encode_opening S m)); [now left|]. cbn [is_break].
      rewrite length_opening, canonical_opening, <- HN by assumption. unfold opening_length.
      destruct (Nat.eqb_spec (2 * word_length S + 64) 0); [lia|]. apply equal_bytes_refl.
    - now left. }
  destruct HG as [HG|HB]; [left|right; now apply HFirst]. split; [exact HG|]. intro o'. unfold fold_at. rewrite HSib, HL.
  pose proof (siblings_set t i o' (depth S) 0) as E. cbn [N.of_nat] in E. rewrite N.div_1_r in E. rewrite <- E.
  replace (leaf_digest S o') with (node S (set t i o') 0 i) by (cbn [node]; now rewrite get_set).
  rewrite fold_honest. cbn [Nat.add]. unfold sub_root. f_equal. now apply N.div_small.
Qed.

End Path.

(** *** The list *)

Definition link (get : N -> option leaf) (x y : N) : Prop :=
  exists a b, get x = Some a /\ get y = Some b /\ next a = y /\ prev b = x /\ below (hKey a) (hKey b).

Definition chain (get : N -> option leaf) (l : list N) : Prop := match l with [] => True | i :: rest => chained get i rest end.

Lemma chain_app : forall get pre x post, chain get (pre ++ x :: post) <-> chain get (pre ++ [x]) /\ chain get (x :: post).
Proof.
  intros g pre. induction pre as [|i pre IH]; intros x post; cbn [app chain]; [cbn; tauto|].
  destruct pre as [|j pre]; cbn [app chained chain] in *; [tauto|]. rewrite (IH x post). tauto.
Qed.

Lemma chain_weaken : forall get get' l, (forall x y, In y (tl l) -> link get x y -> link get' x y) -> chain get l -> chain get' l.
Proof.
  intros g g' l. induction l as [|i [|j rest] IH]; intros H HC; cbn [chain chained tl] in *; [exact I|exact I|].
  destruct HC as [HL HC]. split; [apply (H i j); [now left|exact HL]|]. apply IH; [|exact HC].
  intros x y HY. apply H. now right.
Qed.

Lemma chain_nodup : forall get l, chain get l -> NoDup l.
Proof.
  intros g l. induction l as [|i rest IH]; intro HC; [constructor|]. constructor.
  - intro HI. destruct rest as [|j rest]; [destruct HI|]. cbn [chain] in HC. pose proof HC as HC'.
    destruct HC' as ((a & b & HA & _) & _).
    apply (below_irreflexive (hKey a)). exact (chained_least _ _ _ _ HC HA _ _ HI HA).
  - apply IH. destruct rest as [|j rest]; [exact I|]. apply HC.
Qed.

Lemma chain_split : forall get l x y, chain get l -> In x l -> link get x y -> x <> last l 0%N ->
  exists pre post, l = pre ++ x :: y :: post.
Proof.
  intros g l x y. induction l as [|i rest IH]; intros HC HI HL HX; [destruct HI|].
  destruct rest as [|j rest]; [destruct HI as [->|[]]; now destruct HX|].
  destruct HC as [(a & b & HA & _ & HN & _) HC]. destruct HI as [->|HI].
  - destruct HL as (a' & b' & HA' & _ & HN' & _). rewrite HA in HA'. inversion HA'; subst a'. exists [], rest. cbn [app]. congruence.
  - destruct IH as (pre & post & E); [exact HC|exact HI|exact HL|exact HX|]. exists (i :: pre), post. cbn [app]. now rewrite <- E.
Qed.

(** Each leaf but the last is linked to the one it points at. *)
Lemma chain_link : forall get l x a, chain get l -> In x l -> x <> last l 0%N -> get x = Some a -> link get x (next a).
Proof.
  intros g l x a. induction l as [|i rest IH]; intros HC HI HX HA; [destruct HI|].
  destruct rest as [|j rest]; [destruct HI as [->|[]]; now destruct HX|].
  destruct HC as [HL HC]. destruct HI as [->|HI]; [|now apply IH].
  destruct HL as (a' & b & HA' & HB & HN & HP & HK). rewrite HA in HA'. inversion HA'; subst a'. rewrite HN.
  exists a, b. auto 10.
Qed.

Definition with_next (l : leaf) (n : N) : leaf := {| prev := prev l; next := n; hKey := hKey l; hVal := hVal l |}.
Definition with_prev (l : leaf) (p : N) : leaf := {| prev := p; next := next l; hKey := hKey l; hVal := hVal l |}.

Fixpoint insert_after (l n : N) (order : list N) : list N :=
  match order with
  | [] => []
  | x :: order => if (x =? l)%N then x :: n :: order else x :: insert_after l n order
  end.
Definition without_index (h : N) (order : list N) : list N := filter (fun x => negb (x =? h)%N) order.

(** The tree with a new leaf between those at [l] and [r], which were [a] and [b]. *)
Definition inserted (t : tree) (l r : N) (a b fresh : leaf) : tree :=
  let n := next_free t in
  {| get := get (set (set (set t l (Some (with_next a n))) n (Some fresh)) r (Some (with_prev b n)));
     next_free := n + 1; order := insert_after l n (order t) |}.

(** The tree without the leaf [m] at [h]. *)
Definition deleted (t : tree) (l h r : N) (a m b : leaf) : tree :=
  {| get := get (set (set (set t l (Some (with_next a (next m)))) h None) r (Some (with_prev b (prev m))));
     next_free := next_free t; order := without_index h (order t) |}.

Section Honest.
Variable S : scheme.
Hypothesis OK : scheme_ok S.
Variable t : tree.
Hypothesis HT : honest S t.

Lemma honest_sound : sound S t.
Proof. intros i l H. exact (honest_leaf S t HT i l H). Qed.

Lemma honest_chain : chain (get t) (order t) /\ last (order t) 0%N = 1%N.
Proof. destruct (honest_order S t HT) as (rest & -> & HC & HL). split; assumption. Qed.

Lemma honest_link : forall i a, get t i = Some a -> i <> 1%N -> link (get t) i (next a).
Proof.
  intros i a HG HI. destruct honest_chain as [HC HL]. apply chain_link with (l := order t); try assumption.
  - apply (honest_all S t HT). congruence.
  - congruence.
Qed.

Lemma present_below : forall i l, get t i = Some l -> (i < next_free t)%N /\ (i < max_leaves S)%N.
Proof. intros i l H. destruct (in_range S t HT i l H). split; lia. Qed.

Lemma link_not_head : forall x y, link (get t) x y -> y <> 0%N.
Proof.
  intros x y (a & b & HA & HB & _ & _ & HK) ->. destruct (honest_head S t HT) as (h & HH & HHK & _). rewrite HB in HH.
  inversion HH; subst b. rewrite HHK in HK. destruct (honest_leaf S t HT x a HA) as (_ & _ & HL & _).
  exact (not_below_zeros 32 (hKey a) HL HK).
Qed.

Lemma link_not_tail : forall x y, link (get t) x y -> x <> 1%N.
Proof.
  intros x y (a & b & HA & HB & HN & _ & HK) ->. destruct (honest_tail S t HT) as (e & HE & _ & _ & HEN). rewrite HA in HE.
  inversion HE; subst e. rewrite HEN in HN. subst y. rewrite HA in HB. inversion HB; subst b. now apply below_irreflexive in HK.
Qed.

Lemma link_splits : forall x y, link (get t) x y -> exists pre post, order t = pre ++ x :: y :: post.
Proof.
  intros x y HL. destruct honest_chain as [HC HLast]. apply chain_split with (get := get t); try assumption.
  - destruct HL as (a & b & HA & _). apply (honest_all S t HT). congruence.
  - rewrite HLast. now apply link_not_tail with y.
Qed.

Lemma first_of : forall pre x post rest, order t = 0%N :: rest -> order t = pre ++ x :: post ->
  exists more, pre ++ [x] = 0%N :: more.
Proof. intros [|i pre] x post rest H E; rewrite E in H; cbn [app] in H; inversion H; subst; cbn [app]; eauto. Qed.

Lemma last_app : forall (a : list N) x b, last (a ++ x :: b) 0%N = last (x :: b) 0%N.
Proof.
  induction a as [|y a IH]; intros x b; [reflexivity|]. rewrite <- (IH x b). cbn [app].
  destruct (a ++ x :: b) eqn:E; [destruct a; discriminate|reflexivity].
Qed.

(** *** Another value *)

Definition with_value (l : leaf) (v : bytes) : leaf := {| prev := prev l; next := next l; hKey := hKey l; hVal := v |}.

Lemma update_honest : forall i a v, get t i = Some a -> (2 <= i)%N -> length v = 32 -> canonical S v = true ->
  honest S (set t i (Some (with_value a v))).
Proof.
  intros i a v HG HI HL HC. destruct (honest_leaf S t HT i a HG) as (L1 & L2 & L3 & L4 & _).
  assert (HSet : forall j, j <> i -> get (set t i (Some (with_value a v))) j = get t j) by (intros; now apply get_set_other).
  constructor; cbn [next_free order set].
  - apply (honest_free S t HT).
  - intros j HJ. rewrite HSet; [now apply (honest_missing S t HT)|]. destruct (present_below i a HG). lia.
  - apply (sound_set S t i); [exact honest_sound|]. intros l E. inversion E; subst. unfold leaf_ok. cbn. auto 10.
  - rewrite HSet by lia. apply (honest_head S t HT).
  - rewrite HSet by lia. apply (honest_tail S t HT).
  - destruct (honest_order S t HT) as (rest & E & HCh & HLast). exists rest. split; [exact E|]. split; [|exact HLast].
    apply (chain_weaken (get t) _ (0%N :: rest)); [|exact HCh].
    assert (K : forall j b, get t j = Some b -> exists b', get (set t i (Some (with_value a v))) j = Some b'
      /\ next b' = next b /\ prev b' = prev b /\ hKey b' = hKey b).
    { intros j b HB. destruct (N.eq_dec j i) as [->|HN].
      - rewrite HG in HB. inversion HB; subst b. rewrite get_set. eexists. split; [reflexivity|]. auto.
      - rewrite HSet by assumption. eauto. }
    intros x y _ (p & q & HP & HQ & E1 & E2 & E3). destruct (K x p HP) as (p' & HP' & P1 & P2 & P3).
    destruct (K y q HQ) as (q' & HQ' & Q1 & Q2 & Q3). exists p', q'. rewrite P1, Q2, P3, Q3. auto.
  - intro j. rewrite (honest_all S t HT). destruct (N.eq_dec j i) as [->|HN]; [|now rewrite HSet].
    rewrite get_set, HG. split; congruence.
Qed.

(** *** A new leaf between two *)

Lemma insert_after_split : forall l n pre post, ~ In l pre -> insert_after l n (pre ++ l :: post) = pre ++ l :: n :: post.
Proof.
  intros l n pre post. induction pre as [|x pre IH]; intro H; cbn [app insert_after]; [now rewrite N.eqb_refl|].
  destruct (N.eqb_spec x l) as [->|_]; [destruct H; now left|]. f_equal. apply IH. intro. apply H. now right.
Qed.

Lemma without_index_split : forall h pre post, ~ In h (pre ++ post) -> without_index h (pre ++ h :: post) = pre ++ post.
Proof.
  intros h pre post H. unfold without_index. rewrite filter_app. cbn [filter]. rewrite N.eqb_refl. cbn [negb].
  rewrite <- filter_app. induction (pre ++ post) as [|x l IH]; [reflexivity|]. cbn [filter].
  destruct (N.eqb_spec x h) as [->|_]; [destruct H; now left|]. cbn [negb]. f_equal. apply IH. intro. apply H. now right.
Qed.

Lemma insert_honest : forall l r a b fresh pre post, get t l = Some a -> get t r = Some b -> link (get t) l r ->
  order t = pre ++ l :: r :: post -> (next_free t < max_leaves S)%N -> leaf_ok S fresh -> prev fresh = l -> next fresh = r ->
  below (hKey a) (hKey fresh) -> below (hKey fresh) (hKey b) -> honest S (inserted t l r a b fresh).
Proof.
  intros l r a b fresh pre post HA HB HLink HO HF HOk HP HN HLow HHigh. set (n := next_free t) in *.
  pose proof (honest_free S t HT) as [H2 _]. fold n in H2.
  destruct (present_below l a HA) as [HLn _]. destruct (present_below r b HB) as [HRn _]. fold n in HLn, HRn.
  destruct honest_chain as [HC HLast]. pose proof (chain_nodup _ _ HC) as HND. rewrite HO in HC, HND.
  assert (HLR : l <> r).
  { intros ->. rewrite HA in HB. inversion HB; subst b. eapply below_irreflexive, below_trans; eassumption. }
  pose proof (link_not_head _ _ HLink) as HR0. pose proof (link_not_tail _ _ HLink) as HL1.
  destruct (honest_leaf S t HT l a HA) as (A1 & A2 & A3 & A4 & A5 & A6).
  destruct (honest_leaf S t HT r b HB) as (B1 & B2 & B3 & B4 & B5 & B6).
  assert (Gl : get (inserted t l r a b fresh) l = Some (with_next a n))
    by (cbn [get inserted]; rewrite get_set_other by assumption; rewrite get_set_other by lia; apply get_set).
  assert (Gr : get (inserted t l r a b fresh) r = Some (with_prev b n)) by (cbn [get inserted]; apply get_set).
  assert (Gn : get (inserted t l r a b fresh) n = Some fresh)
    by (cbn [get inserted]; rewrite get_set_other by lia; apply get_set).
  assert (Go : forall j, j <> l -> j <> r -> j <> n -> get (inserted t l r a b fresh) j = get t j)
    by (intros; cbn [get inserted]; rewrite !get_set_other by assumption; reflexivity).
  assert (HOu0 : order (inserted t l r a b fresh) = pre ++ l :: n :: r :: post).
  { cbn [order inserted]. fold n. rewrite HO. apply insert_after_split. apply NoDup_remove_2 in HND. intro. apply HND.
    apply in_or_app. now left. }
  set (u := inserted t l r a b fresh) in *.
  assert (K : forall x y, y <> r -> link (get t) x y -> link (get u) x y).
  { intros x y HY (p & q & Hp & Hq & E1 & E2 & E3).
    assert (HXl : x <> l).
    { intros ->. rewrite HA in Hp. inversion Hp; subst p. destruct HLink as (a' & b' & HA' & _ & HN' & _).
      rewrite HA in HA'. inversion HA'; subst a'. congruence. }
    destruct (present_below x p Hp) as [HXn _]. destruct (present_below y q Hq) as [HYn _]. fold n in HXn, HYn.
    assert (Hx : exists p', get u x = Some p' /\ next p' = next p /\ hKey p' = hKey p).
    { destruct (N.eq_dec x r) as [->|HXr]; [rewrite HB in Hp; inversion Hp; subst p; rewrite Gr; eauto|].
      rewrite Go by lia. eauto. }
    assert (Hy : exists q', get u y = Some q' /\ prev q' = prev q /\ hKey q' = hKey q).
    { destruct (N.eq_dec y l) as [->|HYl]; [rewrite HA in Hq; inversion Hq; subst q; rewrite Gl; eauto|].
      rewrite Go by lia. eauto. }
    destruct Hx as (p' & Gp & P1 & P2). destruct Hy as (q' & Gq & Q1 & Q2). exists p', q'.
    rewrite P1, P2, Q1, Q2. auto. }
  apply chain_app in HC as [HC1 HC2]. destruct HC2 as [_ HC2].
  constructor.
  - cbn [next_free u inserted]. fold n. lia.
  - cbn [next_free u inserted]. fold n. intros j HJ. rewrite Go by lia. apply (honest_missing S t HT). fold n. lia.
  - assert (HS : sound S u); [|exact HS]. unfold u, inserted.
    apply (sound_set S (set (set t l (Some (with_next a n))) n (Some fresh)) r).
    + apply sound_set; [|intros x E; now inversion E; subst]. apply sound_set; [exact honest_sound|].
      intros x E. inversion E; subst. unfold leaf_ok. cbn. repeat split; try assumption; lia.
    + intros x E. inversion E; subst. unfold leaf_ok. cbn. repeat split; try assumption; lia.
  - destruct (honest_head S t HT) as (h & HH & H3 & H4 & H5). destruct (N.eq_dec l 0) as [->|HL0].
    + rewrite Gl. rewrite HA in HH. inversion HH; subst h. eexists. split; [reflexivity|]. cbn. auto.
    + rewrite Go by lia. eauto.
  - destruct (honest_tail S t HT) as (h & HH & H3 & H4 & H5). destruct (N.eq_dec r 1) as [->|HR1].
    + rewrite Gr. rewrite HB in HH. inversion HH; subst h. eexists. split; [reflexivity|]. cbn. auto.
    + rewrite Go by lia. eauto.
  - destruct (honest_order S t HT) as (rest & HO0 & _). destruct (first_of _ _ _ _ HO0 HO) as [more HM].
    assert (HOu : order u = (pre ++ [l]) ++ n :: r :: post)
      by (rewrite HOu0; now rewrite <- app_assoc).
    exists (more ++ n :: r :: post). split; [|split].
    + rewrite HOu, HM. reflexivity.
    + assert (HC : chain (get u) (pre ++ l :: n :: r :: post)).
      { apply chain_app. split.
        - apply (chain_weaken (get t)); [|exact HC1]. intros x y HY. apply K. intros ->.
          assert (HI : In r (pre ++ [l])) by (destruct (pre ++ [l]); [destruct HY|now right]).
          change (l :: r :: post) with ([l] ++ r :: post) in HND. rewrite app_assoc in HND. apply NoDup_remove_2 in HND.
          apply HND. apply in_or_app. now left.
        - cbn [chain chained]. split; [|split].
          + exists (with_next a n), fresh. cbn. auto.
          + exists fresh, (with_prev b n). cbn. auto.
          + apply (chain_weaken (get t) (get u) (r :: post)); [|exact HC2]. cbn [tl]. intros x y HY. apply K. intros ->.
            change (l :: r :: post) with ([l] ++ r :: post) in HND. rewrite app_assoc in HND. apply NoDup_remove_2 in HND.
            apply HND. apply in_or_app. now right. }
      assert (HA' : pre ++ l :: n :: r :: post = (pre ++ [l]) ++ n :: r :: post) by now rewrite <- app_assoc.
      rewrite HA', HM in HC. exact HC.
    + rewrite HO in HLast. rewrite HOu0. rewrite last_app in HLast |- *.
      change (last (l :: n :: r :: post) 0%N) with (last (r :: post) 0%N).
      change (last (l :: r :: post) 0%N) with (last (r :: post) 0%N) in HLast. exact HLast.
  - intro j. rewrite HOu0.
    assert (E : In j (pre ++ l :: n :: r :: post) <-> j = n \/ In j (order t)).
    { rewrite HO, !in_app_iff. cbn [In]. split; intro H; intuition. }
    rewrite E, (honest_all S t HT).
    destruct (N.eq_dec j n) as [->|H1]; [rewrite Gn; split; [discriminate|now left]|].
    destruct (N.eq_dec j l) as [->|H3]; [rewrite Gl, HA; split; [discriminate|right; discriminate]|].
    destruct (N.eq_dec j r) as [->|H4]; [rewrite Gr, HB; split; [discriminate|right; discriminate]|].
    rewrite Go by assumption. tauto.
Qed.

(** *** A leaf less *)

Lemma delete_honest : forall l h r a m b pre post, get t l = Some a -> get t h = Some m -> get t r = Some b ->
  link (get t) l h -> link (get t) h r -> (2 <= h)%N -> order t = pre ++ l :: h :: r :: post ->
  honest S (deleted t l h r a m b).
Proof.
  intros l h r a m b pre post HA HM HB HLink1 HLink2 H2h HO.
  destruct honest_chain as [HC HLast]. pose proof (chain_nodup _ _ HC) as HND. rewrite HO in HC, HND.
  pose proof (link_not_head _ _ HLink2) as HR0. pose proof (link_not_tail _ _ HLink1) as HL1.
  destruct HLink1 as (a' & m' & HA' & HM' & E1 & E2 & E3). rewrite HA in HA'. rewrite HM in HM'. inversion HA'; inversion HM'.
  subst a' m'. clear HA' HM'.
  destruct HLink2 as (m' & b' & HM' & HB' & F1 & F2 & F3). rewrite HM in HM'. rewrite HB in HB'. inversion HM'; inversion HB'.
  subst m' b'. clear HM' HB'.
  assert (HLR : l <> r) by (intros ->; rewrite HA in HB; inversion HB; subst b; eapply below_irreflexive, below_trans; eassumption).
  assert (HLH : l <> h) by (intros ->; rewrite HA in HM; inversion HM; subst m; eapply below_irreflexive; eassumption).
  assert (HHR : h <> r) by (intros ->; rewrite HM in HB; inversion HB; subst b; eapply below_irreflexive; eassumption).
  destruct (honest_leaf S t HT l a HA) as (A1 & A2 & A3 & A4 & A5 & A6).
  destruct (honest_leaf S t HT r b HB) as (B1 & B2 & B3 & B4 & B5 & B6).
  destruct (honest_leaf S t HT h m HM) as (M1 & M2 & _).
  assert (Gl : get (deleted t l h r a m b) l = Some (with_next a r)).
  { cbn [get deleted]. rewrite get_set_other by assumption. rewrite get_set_other by assumption. rewrite get_set. now rewrite F1. }
  assert (Gr : get (deleted t l h r a m b) r = Some (with_prev b l))
    by (cbn [get deleted]; rewrite get_set; now rewrite E2).
  assert (Gh : get (deleted t l h r a m b) h = None)
    by (cbn [get deleted]; rewrite get_set_other by assumption; apply get_set).
  assert (Go : forall j, j <> l -> j <> r -> j <> h -> get (deleted t l h r a m b) j = get t j)
    by (intros; cbn [get deleted]; rewrite !get_set_other by assumption; reflexivity).
  assert (HSound : sound S (deleted t l h r a m b)).
  { unfold deleted. apply (sound_set S (set (set t l (Some (with_next a (next m)))) h None) r).
    - apply sound_set; [|discriminate]. apply sound_set; [exact honest_sound|]. intros x E. inversion E; subst. unfold leaf_ok. cbn. auto 10.
    - intros x E. inversion E; subst. unfold leaf_ok. cbn. auto 10. }
  assert (HOu0 : order (deleted t l h r a m b) = pre ++ l :: r :: post).
  { cbn [order deleted]. rewrite HO. change (pre ++ l :: h :: r :: post) with (pre ++ [l] ++ h :: r :: post).
    change (pre ++ l :: r :: post) with (pre ++ [l] ++ r :: post). rewrite !app_assoc. apply without_index_split.
    change (l :: h :: r :: post) with ([l] ++ h :: r :: post) in HND. rewrite app_assoc in HND. now apply NoDup_remove_2 in HND. }
  set (u := deleted t l h r a m b) in *.
  assert (K : forall x y, y <> r -> y <> h -> link (get t) x y -> link (get u) x y).
  { intros x y HY HY' (p & q & Hp & Hq & P1 & P2 & P3).
    assert (HXl : x <> l) by (intros ->; rewrite HA in Hp; inversion Hp; subst p; congruence).
    assert (HXh : x <> h) by (intros ->; rewrite HM in Hp; inversion Hp; subst p; congruence).
    assert (Hx : exists p', get u x = Some p' /\ next p' = next p /\ hKey p' = hKey p).
    { destruct (N.eq_dec x r) as [->|HXr]; [rewrite HB in Hp; inversion Hp; subst p; rewrite Gr; eauto|].
      rewrite Go by assumption. eauto. }
    assert (Hy : exists q', get u y = Some q' /\ prev q' = prev q /\ hKey q' = hKey q).
    { destruct (N.eq_dec y l) as [->|HYl]; [rewrite HA in Hq; inversion Hq; subst q; rewrite Gl; eauto|].
      rewrite Go by assumption. eauto. }
    destruct Hx as (p' & Gp & P4 & P5). destruct Hy as (q' & Gq & Q1 & Q2). exists p', q'.
    rewrite P4, P5, Q1, Q2. auto. }
  apply chain_app in HC as [HC1 HC2]. destruct HC2 as (_ & _ & HC2).
  assert (HND' : ~ In h (pre ++ [l]) /\ ~ In r (pre ++ [l]) /\ ~ In h post /\ ~ In r post).
  { change (l :: h :: r :: post) with ([l] ++ h :: r :: post) in HND. rewrite app_assoc in HND.
    pose proof (NoDup_remove_2 _ _ _ HND) as N1. pose proof (NoDup_remove_1 _ _ _ HND) as N2. apply NoDup_remove_2 in N2.
    rewrite in_app_iff in N1, N2. cbn [In] in N1. tauto. }
  destruct HND' as (N1 & N2 & N3 & N4).
  constructor.
  - apply (honest_free S t HT).
  - cbn [next_free u deleted]. intros j HJ. destruct (present_below l a HA), (present_below r b HB), (present_below h m HM).
    rewrite Go by lia. now apply (honest_missing S t HT).
  - exact HSound.
  - destruct (honest_head S t HT) as (x & HH & H3 & H4 & H5). destruct (N.eq_dec l 0) as [->|HL0].
    + rewrite Gl. rewrite HA in HH. inversion HH; subst x. eexists. split; [reflexivity|]. cbn. auto.
    + rewrite Go by lia. eauto.
  - destruct (honest_tail S t HT) as (x & HH & H3 & H4 & H5). destruct (N.eq_dec r 1) as [->|HR1].
    + rewrite Gr. rewrite HB in HH. inversion HH; subst x. eexists. split; [reflexivity|]. cbn. auto.
    + rewrite Go by lia. eauto.
  - destruct (honest_order S t HT) as (rest & HO0 & _). destruct (first_of _ _ _ _ HO0 HO) as [more HMore].
    assert (HCu : chain (get u) (pre ++ l :: r :: post)).
    { apply chain_app. split.
      - apply (chain_weaken (get t)); [|exact HC1]. intros x y HY. assert (HI : In y (pre ++ [l]))
          by (destruct (pre ++ [l]); [destruct HY|now right]). apply K; intros ->; contradiction.
      - cbn [chain chained]. split.
        + exists (with_next a r), (with_prev b l). cbn. repeat split; auto. eapply below_trans; eassumption.
        + apply (chain_weaken (get t) (get u) (r :: post)); [|exact HC2]. cbn [tl]. intros x y HY. apply K; intros ->; contradiction. }
    assert (HA' : forall more, pre ++ l :: more = (pre ++ [l]) ++ more) by (intro; now rewrite <- app_assoc).
    exists (more ++ r :: post). rewrite HOu0. split; [|split].
    + now rewrite HA', HMore.
    + rewrite HA', HMore in HCu. exact HCu.
    + rewrite HO in HLast. rewrite last_app in HLast |- *.
      change (last (l :: h :: r :: post) 0%N) with (last (r :: post) 0%N) in HLast.
      change (last (l :: r :: post) 0%N) with (last (r :: post) 0%N). exact HLast.
  - intro j. rewrite HOu0. pose proof (honest_all S t HT j) as HAll. rewrite HO in HAll.
    rewrite !in_app_iff in HAll |- *. cbn [In] in HAll |- *.
    assert (NP : ~ In h pre) by (intro; apply N1; apply in_or_app; now left).
    destruct (N.eq_dec j h) as [->|H1]; [rewrite Gh; split; [intros [?|[?|[?|?]]]; congruence || contradiction|congruence]|].
    destruct (N.eq_dec j l) as [->|H3]; [rewrite Gl; split; [discriminate|auto]|].
    destruct (N.eq_dec j r) as [->|H4]; [rewrite Gr; split; [discriminate|auto]|].
    rewrite Go by assumption. rewrite <- HAll. split; intros [?|[?|[?|?]]]; auto. destruct H; auto. congruence.
Qed.

End Honest.
