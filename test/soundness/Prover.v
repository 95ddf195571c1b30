(** 4. Completeness: the rules accept what an honest prover says of an honest tree. *)
From Soundness Require Export Values.

(** What the rollup stores: a leaf's value is hashed in it; HEAD and TAIL are served with 32 zero bytes. *)
Definition storable (K : kind) (value : bytes) : bool :=
  match K with
  | Account => is_uint64 (account_word value 0) && is_uint64 (account_word value 5)
  | Storage => negb (is_zero value)
  end.

Definition stores (S : scheme) (K : kind) (t : tree) (served : N -> bytes) : Prop :=
  forall i l, get t i = Some l ->
  if (i <? 2)%N then served i = zero_digest
  else length (served i) = value_length K /\ canonical S (value_message S K (served i)) = true
    /\ hVal l = hash S (value_message S K (served i)) /\ storable K (served i) = true.

Section Prover.
Variable S : scheme.
Variable K : kind.
Variable t : tree.
Variable served : N -> bytes.

Definition other_child (position : N) : N := if N.odd position then position - 1 else position + 1.

(** The preimages of the inner siblings, from the level of the given one up. *)
Fixpoint inner_up (count level : nat) (position : N) : list bytes :=
  match count with
  | O => []
  | Datatypes.S count =>
      (node S t (pred level) (2 * other_child position) ++ node S t (pred level) (2 * other_child position + 1))
      :: inner_up count (Datatypes.S level) (position / 2)
  end.

Definition sibling_opening (i : N) : option bytes := option_map (encode_opening S) (get t (other_child i)).

Definition prove_leaf (i : N) (l : leaf) : raw_proof := {|
  index := Z.of_N i;
  nodes := root_message S t :: (rev (inner_up (pred (depth S)) 1 (i / 2))
    ++ [match sibling_opening i with Some o => o | None => zero_digest end]) ++ [encode_opening S l];
  value := served i;
|}.

Definition key_of (i : N) : bytes := match get t i with Some l => hKey l | None => [] end.

(** The two neighbours of a key hash that is not in the list. *)
Fixpoint gap (hk : bytes) (i : N) (rest : list N) : N * N :=
  match rest with
  | [] => (i, i)
  | j :: rest => if is_below hk (key_of j) then (i, j) else gap hk j rest
  end.

Definition no_leaf : leaf := {| prev := 0; next := 0; hKey := []; hVal := [] |}.
Definition leaf_at (i : N) : leaf := match get t i with Some l => l | None => no_leaf end.

Definition locate (hk : bytes) : option N := find (fun i => equal_bytes (key_of i) hk) (order t).

Definition prove (key : bytes) : leaf_proof :=
  let hk := hash_key S K key in
  match locate hk with
  | Some i => Existence key (prove_leaf i (leaf_at i))
  | None =>
      let (x, y) := gap hk (hd 0%N (order t)) (tl (order t)) in
      NonExistence key (prove_leaf x (leaf_at x)) (prove_leaf y (leaf_at y))
  end.

End Prover.

Section Complete.
Variable S : scheme.
Variable K : kind.
Hypothesis OK : scheme_ok S.
Variable t : tree.
Hypothesis HT : honest S t.
Variable served : N -> bytes.
Hypothesis HS : stores S K t served.

(** *** The list *)

Lemma in_order : forall i l, get t i = Some l -> In i (order t).
Proof. intros i l H. apply (honest_all S t HT). congruence. Qed.

Lemma chained_keys : forall get rest i, chained get i rest -> forall x y a b, In x (i :: rest) -> In y (i :: rest) ->
  get x = Some a -> get y = Some b -> hKey a = hKey b -> x = y.
Proof.
  intros g rest. induction rest as [|j rest IH]; intros i HC x y a b HX HY HA HB HE.
  - destruct HX as [<-|[]], HY as [<-|[]]. reflexivity.
  - destruct HX as [<-|HX], HY as [<-|HY]; [reflexivity| | |].
    + exfalso. apply (below_irreflexive (hKey b)). rewrite <- HE at 1. exact (chained_least _ _ _ _ HC HA _ _ HY HB).
    + exfalso. apply (below_irreflexive (hKey a)). rewrite HE at 1. exact (chained_least _ _ _ _ HC HB _ _ HX HA).
    + destruct HC as [_ HC]. exact (IH j HC x y a b HX HY HA HB HE).
Qed.

Lemma keys_differ : forall x y a b, get t x = Some a -> get t y = Some b -> hKey a = hKey b -> x = y.
Proof.
  intros x y a b HA HB HE. destruct (honest_order S t HT) as (rest & HO & HC & _).
  apply (chained_keys _ _ _ HC x y a b); try assumption; rewrite <- HO; eapply in_order; eassumption.
Qed.

Lemma is_zero_app : forall a b, is_zero (a ++ b) = is_zero a && is_zero b.
Proof. intros a b. unfold is_zero. apply forallb_app. Qed.

Lemma head_next : forall h, get t 0%N = Some h -> next h <> 0%N.
Proof.
  intros h HH HN. destruct (honest_order S t HT) as (rest & HO & HC & HLast).
  destruct rest as [|j rest]; [rewrite HO in HLast; discriminate|].
  destruct HC as ((a & b & HA & HB & HAN & _ & HLt) & _). rewrite HH in HA. inversion HA; subst a.
  rewrite HN in HAN. subst j. rewrite HH in HB. inversion HB; subst b. now apply below_irreflexive in HLt.
Qed.

Lemma opening_not_zero : forall i l, get t i = Some l -> is_zero (encode_opening S l) = false.
Proof.
  intros i l HG. destruct (is_zero (encode_opening S l)) eqn:E; [exfalso|reflexivity].
  destruct (honest_leaf S t HT i l HG) as (_ & HN & HL & _).
  unfold encode_opening in E. rewrite !is_zero_app in E. repeat rewrite andb_true_iff in E.
  destruct E as (_ & EN & EK & _). apply (is_zero_digest _ HL) in EK.
  destruct (honest_head S t HT) as (h & HH & HHK & _).
  assert (i = 0%N) by (eapply keys_differ; eauto; congruence). subst i.
  apply (head_next l HG). apply is_zero_zeros in EN. rewrite length_word in EN by assumption.
  apply (word_injective S OK); [lia|unfold max_leaves; lia|]. rewrite EN.
  symmetry. exact (ok_word_zero S OK).
Qed.

(** *** The path *)

Lemma other_child_pair : forall p,
  (if N.odd p then node S t 0 0 = node S t 0 0 /\ other_child p = 2 * (p / 2) /\ p = 2 * (p / 2) + 1
   else node S t 0 0 = node S t 0 0 /\ other_child p = 2 * (p / 2) + 1 /\ p = 2 * (p / 2))%N.
Proof. intro p. unfold other_child. pose proof (half p) as H. destruct (N.odd p); repeat split; lia. Qed.

Fixpoint siblings_up (count level : nat) (position : N) : list bytes :=
  match count with
  | O => []
  | Datatypes.S count => node S t level (other_child position) :: siblings_up count (Datatypes.S level) (position / 2)
  end.

Lemma fold_honest : forall count level p,
  fold_path S (node S t level p) (siblings_up count level p) p = node S t (level + count) (p / 2 ^ N.of_nat count).
Proof.
  induction count as [|count IH]; intros level p.
  - cbn [siblings_up fold_path]. rewrite Nat.add_0_r. cbn. now rewrite N.div_1_r.
  - cbn [siblings_up fold_path].
    assert (E : (if N.odd p then node S t level (other_child p) ++ node S t level p
      else node S t level p ++ node S t level (other_child p))
      = node S t level (2 * (p / 2)) ++ node S t level (2 * (p / 2) + 1)).
    { pose proof (other_child_pair p) as HP. destruct (N.odd p); destruct HP as (_ & E & F).
      - rewrite E. now rewrite <- F.
      - rewrite E. now rewrite <- F. }
    etransitivity; [|etransitivity; [exact (IH (Datatypes.S level) (p / 2)%N)|]].
    + f_equal. cbn [node]. f_equal. exact E.
    + rewrite Nat.add_succ_r. f_equal.
      rewrite N.div_div by (try apply N.pow_nonzero; lia). now rewrite Nat2N.inj_succ, N.pow_succ_r'.
Qed.

Lemma hash_inner_up : forall count level p, map (hash S) (inner_up S t count (Datatypes.S level) p)
  = siblings_up count (Datatypes.S level) p.
Proof.
  induction count as [|count IH]; intros level p; [reflexivity|]. cbn [inner_up map siblings_up]. now rewrite IH.
Qed.

Lemma length_inner_up : forall count level p, length (inner_up S t count level p) = count.
Proof. induction count as [|count IH]; intros level p; cbn [inner_up length]; [reflexivity|]. now rewrite IH. Qed.

Lemma inner_rules : forall on nodes, (forall m, In m nodes -> length m = 64 /\ canonical S m = true) ->
  decode_inner on S K nodes = Ok tt.
Proof.
  intros on nodes. induction nodes as [|m nodes IH]; intro H; [reflexivity|]. cbn [decode_inner].
  destruct (H m (or_introl eq_refl)) as [HL HC]. rewrite HL, HC, Nat.eqb_refl. cbn [negb]. rewrite !andb_false_r.
  apply IH. intros x Hx. apply H. now right.
Qed.

Lemma inner_up_good : forall count level p m, In m (inner_up S t count level p) ->
  length m = 64 /\ canonical S m = true.
Proof.
  induction count as [|count IH]; intros level p m H; [destruct H|]. destruct H as [<-|H]; [|eapply IH; exact H].
  split.
  - rewrite app_length, !length_node by assumption. reflexivity.
  - apply canonical_two; [assumption | now apply length_node | now apply canonical_node | now apply canonical_node].
Qed.

Lemma in_range : forall i l, get t i = Some l -> (i < next_free t)%N /\ (next_free t <= max_leaves S)%N.
Proof.
  intros i l H. pose proof (honest_free S t HT) as [_ HF]. split; [|exact HF].
  destruct (N.lt_ge_cases i (next_free t)) as [HL|HL]; [exact HL|].
  rewrite (honest_missing S t HT i HL) in H. discriminate.
Qed.

(** The proof of a leaf, decoded. *)
Definition honest_decoded (i : N) (l : leaf) (pre : bytes) : decoded := {|
  leaf_index := i;
  root_node := root_message S t;
  next_free_node := next_free t;
  inner := rev (inner_up S t (pred (depth S)) 1 (i / 2));
  sibling_leaf := sibling_opening S t i;
  leaf_node := encode_opening S l;
  the_leaf := l;
  the_value := served i;
  preimage := pre;
|}.

Lemma place : forall on i l pre, get t i = Some l -> verify_sentinel_place on S K (honest_decoded i l pre) = Ok tt.
Proof.
  intros on i l pre HG. unfold verify_sentinel_place. cbn [honest_decoded the_leaf leaf_index].
  destruct (honest_leaf S t HT i l HG) as (_ & _ & HL & _).
  destruct (honest_head S t HT) as (h & HH & HHK & _). destruct (honest_tail S t HT) as (e & HE & HEK & _).
  assert (Z : is_zero (hKey l) = (i =? 0)%N).
  { apply eq_true_iff_eq. rewrite (is_zero_digest _ HL), N.eqb_eq. split.
    - intro E. eapply keys_differ; eauto. congruence.
    - intros ->. congruence. }
  assert (T : equal_bytes (hKey l) (tail_key S) = (i =? 1)%N).
  { apply eq_true_iff_eq. rewrite equal_bytes_eq, N.eqb_eq. split.
    - intro E. eapply keys_differ; eauto. congruence.
    - intros ->. congruence. }
  rewrite Z, T, !eqb_reflx. cbn [andb negb]. now rewrite andb_false_r.
Qed.

Lemma decode_index : forall on a b limit n, (n < limit)%N -> (n <= max_leaves S)%N ->
  decode_index_word on S K a b limit (word S n) = Ok n.
Proof.
  intros on a b limit n H HM. unfold decode_index_word. rewrite is_word_word, read_word_word by assumption.
  apply N.ltb_lt in H. rewrite H. cbn [negb]. now rewrite !andb_false_r.
Qed.

Ltac yes H := rewrite H; cbn [negb andb]; rewrite ?andb_false_r.

Lemma decode_honest_sibling : forall on i,
  decode_sibling on S K (match sibling_opening S t i with Some o => o | None => zero_digest end)
  = Ok (sibling_opening S t i).
Proof.
  intros on i. unfold sibling_opening. destruct (get t (other_child i)) as [l|] eqn:HG; cbn [option_map].
  - destruct (honest_leaf S t HT _ _ HG) as (Hp & Hn & HK1 & HK2 & HV1 & HV2).
    unfold decode_sibling. rewrite (opening_not_zero _ _ HG), length_opening, Nat.eqb_refl by assumption.
    rewrite canonical_opening by assumption. cbn [orb negb andb]. rewrite !andb_false_r.
    assert (E : (opening_length S =? 32) = false) by (apply Nat.eqb_neq; unfold opening_length; lia). rewrite E.
    cbn [orb negb andb]. rewrite !andb_false_r. now rewrite (decode_encoded_opening S OK t HT _ _ _ _ _ _ HG).
  - unfold decode_sibling. rewrite (ok_zero_canonical S OK). cbn [length zero_digest zeros repeat Nat.eqb].
    rewrite orb_true_r. cbn. rewrite !andb_false_r. reflexivity.
Qed.

Lemma decode_honest : forall on lengths i l pre, get t i = Some l -> decode_value on S K lengths (served i) = Ok pre ->
  decode_proof on S K lengths (prove_leaf S t served i l) = Ok (honest_decoded i l pre).
Proof.
  intros on lengths i l pre HG HV. destruct (in_range i l HG) as [HI HF]. pose proof (ok_depth S OK) as HD.
  destruct (honest_leaf S t HT _ _ HG) as (Hp & Hn & HK1 & HK2 & HV1 & HV2).
  unfold decode_proof, prove_leaf. cbn [index nodes value hd tl].
  rewrite !removelast_last, !last_last. rewrite N2Z.id.
  assert (E : ((0 <=? Z.of_N i)%Z && (Z.of_N i <? Z.of_N (max_leaves S))%Z) = true).
  { apply andb_true_intro. split; [apply Z.leb_le | apply Z.ltb_lt]; lia. }
  yes E. clear E.
  assert (E : (length (root_message S t :: (rev (inner_up S t (pred (depth S)) 1 (i / 2))
    ++ [match sibling_opening S t i with Some o => o | None => zero_digest end]) ++ [encode_opening S l])
    =? node_count S) = true).
  { apply Nat.eqb_eq. cbn [length]. rewrite !app_length, rev_length, length_inner_up. cbn [length]. unfold node_count. lia. }
  yes E. clear E.
  assert (E : is_of_other_scheme S (root_message S t :: (rev (inner_up S t (pred (depth S)) 1 (i / 2))
    ++ [match sibling_opening S t i with Some o => o | None => zero_digest end]) ++ [encode_opening S l]) = false).
  { unfold is_of_other_scheme. cbn [hd]. rewrite length_root_message by assumption. unfold root_length.
    pose proof (ok_other S OK). destruct (Nat.eqb_spec (word_length S + 32) (other_word_length S + 32)); [lia|reflexivity]. }
  yes E. clear E.
  rewrite length_root_message by assumption. rewrite Nat.eqb_refl. cbn [negb andb]. rewrite andb_false_r.
  yes (canonical_root_message S OK t HF).
  unfold root_message at 1. rewrite (firstn_app_left (word S (next_free t))) by now apply length_word.
  rewrite decode_index by lia.
  rewrite inner_rules by (intros m Hm; apply in_rev in Hm; eapply inner_up_good; exact Hm).
  rewrite decode_honest_sibling. rewrite length_opening, Nat.eqb_refl by assumption. cbn [negb]. rewrite andb_false_r.
  yes (canonical_opening S OK l Hp Hn HK1 HK2 HV2).
  rewrite (decode_encoded_opening S OK t HT _ _ _ _ _ _ HG), HV. apply N.ltb_lt in HI. yes HI. reflexivity.
Qed.

Lemma honest_siblings : forall i l pre, siblings_of S (honest_decoded i l pre) = siblings_up (depth S) 0 i.
Proof.
  intros i l pre. pose proof (ok_depth S OK) as HD. unfold siblings_of. cbn [honest_decoded sibling_leaf inner].
  rewrite <- map_rev, rev_involutive, hash_inner_up.
  destruct (depth S) as [|n] eqn:E; [lia|]. cbn [pred siblings_up]. f_equal.
  unfold sibling_opening. cbn [node]. now destruct (get t (other_child i)).
Qed.

Lemma path_honest : forall on i l pre, get t i = Some l ->
  verify_path on S K (root S t) (honest_decoded i l pre) = Ok tt.
Proof.
  intros on i l pre HG. destruct (in_range i l HG) as [HI HF]. unfold verify_path.
  rewrite honest_siblings. unfold sub_root_of. cbn [honest_decoded leaf_node leaf_index root_node].
  unfold root_message at 1. rewrite skipn_app_left by now apply length_word.
  assert (E : hash S (encode_opening S l) = node S t 0 i) by (cbn [node]; now rewrite HG).
  rewrite E, fold_honest. cbn [Nat.add].
  rewrite N.div_small by (unfold max_leaves in HF; lia). unfold sub_root. rewrite equal_bytes_refl.
  unfold root. rewrite equal_bytes_refl. cbn [negb]. now rewrite !andb_false_r.
Qed.

(** *** The verdict *)

Lemma decode_served : forall on i l, get t i = Some l -> (2 <= i)%N -> forall lengths, In (value_length K) lengths ->
  decode_value on S K lengths (served i) = Ok (value_message S K (served i)).
Proof.
  intros on i l HG HI lengths HIn. pose proof (HS i l HG) as H. destruct (N.ltb_spec i 2); [lia|].
  destruct H as (HL & HC & _). unfold decode_value. rewrite HL, Nat.eqb_refl, HC. cbn [negb andb]. rewrite !andb_false_r.
  assert (E : existsb (Nat.eqb (value_length K)) lengths = true).
  { apply existsb_exists. exists (value_length K). split; [assumption|apply Nat.eqb_refl]. }
  rewrite E. cbn [negb]. now rewrite andb_false_r.
Qed.

Lemma decode_neighbour : forall on i l, get t i = Some l -> exists pre,
  decode_value on S K [value_length K; 32] (served i) = Ok pre /\
  (pre = value_message S K (served i) \/ (i < 2)%N).
Proof.
  intros on i l HG. destruct (N.lt_ge_cases i 2) as [HI|HI].
  - pose proof (HS i l HG) as H. destruct (N.ltb_spec i 2); [|lia]. rewrite H. unfold decode_value.
    change (length zero_digest) with 32.
    destruct K; cbn [value_length value_message existsb Nat.eqb orb negb andb]; rewrite andb_false_r.
    + eexists. split; [reflexivity|]. now right.
    + rewrite (proj2 (ok_bytes32 S OK zero_digest eq_refl)). cbn [negb]. rewrite andb_false_r.
      eexists. split; [reflexivity|]. now right.
  - exists (value_message S K (served i)). split; [|now left]. eapply decode_served; [exact HG|exact HI|now left].
Qed.

Lemma neighbour_honest : forall on i l pre, get t i = Some l ->
  (pre = value_message S K (served i) \/ (i < 2)%N) ->
  verify_neighbour on S K (root S t) (honest_decoded i l pre) = Ok tt.
Proof.
  intros on i l pre HG HP. unfold verify_neighbour.
  rewrite (place on i l _ HG), path_honest by assumption.
  cbn [honest_decoded leaf_index the_value the_leaf preimage].
  pose proof (HS i l HG) as H. destruct (N.ltb_spec i 2) as [HI|HI].
  - rewrite H. cbn. rewrite !andb_false_r.
    assert (E : hVal l = zero_digest).
    { destruct (honest_head S t HT) as (h & HH & _ & HHV & _). destruct (honest_tail S t HT) as (e & HE & _ & HEV & _).
      assert (i = 0%N \/ i = 1%N) as [->| ->] by lia; congruence. }
    rewrite E, equal_bytes_refl. cbn [negb]. now rewrite andb_false_r.
  - destruct H as (HL & HC & HV & _). destruct HP as [->|HP]; [|lia].
    rewrite HL, Nat.eqb_refl, HV, equal_bytes_refl. cbn. now rewrite !andb_false_r.
Qed.

Lemma storable_ok : forall on v, storable K v = true -> verify_storable on K v = Ok tt.
Proof.
  intros on v H. unfold verify_storable, storable in *. destruct K.
  - apply andb_prop in H as [-> ->]. cbn [negb]. now rewrite !andb_false_r.
  - rewrite H. cbn [negb]. now rewrite andb_false_r.
Qed.

Lemma existence_complete : forall on i l key, get t i = Some l -> (2 <= i)%N -> length key = key_length K ->
  hKey l = hash_key S K key ->
  check_with on S K (root S t) key (Existence key (prove_leaf S t served i l)) = Ok (Some (i, served i)).
Proof.
  intros on i l key HG HI HL HK. cbn [check_with]. rewrite HL, Nat.eqb_refl. cbn [negb]. rewrite andb_false_r.
  rewrite (decode_honest on _ i l (value_message S K (served i)) HG)
    by (eapply decode_served; [exact HG|exact HI|now left]).
  rewrite equal_bytes_refl. cbn [negb]. rewrite andb_false_r. unfold verify_existing.
  rewrite (place on i l _ HG), path_honest by assumption.
  cbn [honest_decoded the_leaf the_value preimage leaf_index]. rewrite HK, equal_bytes_refl. cbn [negb]. rewrite andb_false_r.
  pose proof (HS i l HG) as H. destruct (N.ltb_spec i 2); [lia|]. destruct H as (_ & _ & HV & HSt).
  rewrite HV, equal_bytes_refl. cbn [negb]. rewrite andb_false_r. now rewrite (storable_ok _ _ HSt).
Qed.

Lemma absence_complete : forall on x y a b key, get t x = Some a -> get t y = Some b -> length key = key_length K ->
  next a = y -> prev b = x -> below (hKey a) (hash_key S K key) -> below (hash_key S K key) (hKey b) ->
  check_with on S K (root S t) key (NonExistence key (prove_leaf S t served x a) (prove_leaf S t served y b)) = Ok None.
Proof.
  intros on x y a b key HA HB HL HN HP HLow HHigh. cbn [check_with]. rewrite HL, Nat.eqb_refl. cbn [negb].
  rewrite andb_false_r. destruct (decode_neighbour on x a HA) as (px & DX & PX).
  destruct (decode_neighbour on y b HB) as (py & DY & PY).
  rewrite (decode_honest on _ x a px HA DX), (decode_honest on _ y b py HB DY).
  rewrite equal_bytes_refl. cbn [negb]. rewrite andb_false_r. unfold verify_non_existing.
  rewrite (neighbour_honest on x a px HA PX), (neighbour_honest on y b py HB PY).
  cbn [honest_decoded the_leaf leaf_index]. rewrite HN, HP, !N.eqb_refl.
  apply is_below_below in HLow. apply is_below_below in HHigh. rewrite HLow, HHigh. cbn [negb].
  now rewrite !andb_false_r.
Qed.

Lemma gap_found : forall hk rest i a, chained (get t) i rest -> get t i = Some a -> below (hKey a) hk ->
  last (i :: rest) 0%N = 1%N -> below hk (tail_key S) -> (forall j b, In j rest -> get t j = Some b -> hKey b <> hk) ->
  exists x y b c, gap t hk i rest = (x, y) /\ get t x = Some b /\ get t y = Some c /\ next b = y /\ prev c = x
    /\ below (hKey b) hk /\ below hk (hKey c).
Proof.
  intros hk rest. induction rest as [|j rest IH]; intros i a HC HA HLow HLast HTail HNo.
  - cbn in HLast. subst i. destruct (honest_tail S t HT) as (e & HE & HEK & _). rewrite HA in HE. inversion HE; subst e.
    exfalso. apply (below_irreflexive hk). eapply below_trans; [exact HTail|]. now rewrite <- HEK.
  - destruct HC as ((a' & b & HA' & HB & HN & HP & HLt) & HC). rewrite HA in HA'. inversion HA'; subst a'.
    cbn [gap]. unfold key_of. rewrite HB. destruct (is_below hk (hKey b)) eqn:E.
    + apply is_below_below in E. exists i, j, a, b. auto 10.
    + assert (HLow' : below (hKey b) hk).
      { destruct (below_total hk (hKey b)) as [H|[H|H]]; [|exfalso; eapply HNo; [now left|exact HB|congruence]|exact H].
        apply is_below_below in H. congruence. }
      apply (IH j b HC HB HLow').
      * destruct rest; exact HLast.
      * exact HTail.
      * intros k c HK. apply HNo. now right.
Qed.

(** 4. What [prove] says of a key is accepted, whether the key is there or not. No key may have the hash of HEAD or TAIL:
    such a key could neither be stored nor be proven absent. *)
Theorem completeness_by : forall on key, length key = key_length K -> hash_key S K key <> zero_digest ->
  hash_key S K key <> tail_key S ->
  exists v, check_with on S K (root S t) key (prove S K t served key) = Ok v /\
  match v with
  | Some (i, value) => value = served i /\ exists l, get t i = Some l /\ hKey l = hash_key S K key
  | None => forall i l, get t i = Some l -> hKey l <> hash_key S K key
  end.
Proof.
  intros on key HL HZ HTail. unfold prove. set (hk := hash_key S K key) in *.
  destruct (locate t hk) as [i|] eqn:E; unfold locate in E.
  - apply find_some in E as [HI HE]. apply equal_bytes_eq in HE. unfold key_of in HE. unfold leaf_at.
    apply (honest_all S t HT) in HI. destruct (get t i) as [l|] eqn:HG; [|congruence].
    exists (Some (i, served i)). split; [|split; [reflexivity|eauto]].
    apply existence_complete; try assumption.
    destruct (N.lt_ge_cases i 2) as [H2|H2]; [exfalso|exact H2].
    destruct (honest_head S t HT) as (h & HH & HHK & _). destruct (honest_tail S t HT) as (e & HEnd & HEK & _).
    assert (i = 0%N \/ i = 1%N) as [->| ->] by lia; congruence.
  - assert (HNo : forall i l, get t i = Some l -> hKey l <> hk).
    { intros i l HG HK. pose proof (find_none _ _ E i (in_order i l HG)) as H. unfold key_of in H. cbn in H.
      rewrite HG, HK, equal_bytes_refl in H. discriminate. }
    destruct (honest_order S t HT) as (rest & HO & HC & HLast). rewrite HO in *. cbn [hd tl].
    destruct (honest_head S t HT) as (h & HH & HHK & _).
    assert (Hhk : length hk = 32 /\ canonical S hk = true)
      by (split; [apply (ok_hash_length S OK)|apply (ok_hash_canonical S OK)]).
    assert (HLow : below (hKey h) hk).
    { rewrite HHK. destruct (below_total zero_digest hk) as [H|[H|H]]; [exact H|congruence|exfalso].
      exact (not_below_zeros 32 hk (proj1 Hhk) H). }
    assert (HHigh : below hk (tail_key S)).
    { destruct (ok_tail_largest S OK hk) as [H|H]; try apply Hhk; [congruence|exact H]. }
    destruct (gap_found hk rest 0%N h HC HH HLow HLast HHigh) as (x & y & b & c & HGap & HB & HCc & HN & HP & H1 & H2).
    { intros j b _ HG. eapply HNo; exact HG. }
    rewrite HGap. exists None. split; [|exact HNo]. unfold leaf_at. rewrite HB, HCc.
    apply absence_complete; assumption.
Qed.

End Complete.

Definition completeness_with (on : rule -> bool) : Prop :=
  forall S K t served key, scheme_ok S -> honest S t -> stores S K t served ->
  length key = key_length K -> hash_key S K key <> zero_digest -> hash_key S K key <> tail_key S ->
  exists v, check_with on S K (root S t) key (prove S K t served key) = Ok v /\
  match v with
  | Some (i, value) => value = served i /\ exists l, get t i = Some l /\ hKey l = hash_key S K key
  | None => forall i l, get t i = Some l -> hKey l <> hash_key S K key
  end.

Theorem completeness : completeness_with all_rules.
Proof. intros S K t served key OK HT HS. now apply completeness_by. Qed.
