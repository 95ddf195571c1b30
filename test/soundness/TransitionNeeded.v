(** Rules of traces and segments without which a theorem is false: forgeries in the small tree of Needed.v. *)
From Soundness Require Export TransitionOrder Needed.

Definition trace_binds_with (on : trace_rule -> bool) : Prop :=
  forall S K t served key came root tr c, scheme_ok S -> honest S t -> stores S K t served -> come_to S t came root ->
  step on S K came root (hash_key S K key) tr = Ok c ->
  updates S K t served (hash_key S K key) c (next_tree S K t (hash_key S K key) tr) (next_served t served tr)
  \/ broken S (start_candidates S t tr ++ trace_candidates S K t served (hash_key S K key) tr).

Theorem trace_binds_by : forall on, Forall (fun r => on r = true) tree_rules -> trace_binds_with on.
Proof. intros on ON S K t served key came root tr c OK HT HS HC H. eapply step_binds; eassumption. Qed.

Definition trace_rule_eq_dec : forall a b : trace_rule, {a = b} + {a <> b}.
Proof. decide equality. Defined.
Definition without_trace_rule (r : trace_rule) : trace_rule -> bool :=
  fun other => if trace_rule_eq_dec r other then false else true.

(** *** What must hold after an honest update, computed *)

(** The small tree of Needed.v. From its last leaf to [free], places are empty: there were leaves that were deleted. *)
Definition with_free (t : tree) (free : N) : tree := {| get := get t; next_free := free; order := order t |}.

Lemma with_free_honest : forall S t free, honest S t -> (next_free t <= free <= max_leaves S)%N -> honest S (with_free t free).
Proof.
  intros S t free [H1 H2 H3 H4 H5 H6 H7] HF. constructor; cbn [get next_free order with_free]; try assumption; [lia|].
  intros i HI. apply H2. lia.
Qed.

Section Holed.
Variable free : N.

Definition holed (K : kind) : tree := with_free (small K) free.

Definition is_at (K : kind) (hk : bytes) (i : N) : bool :=
  match get (holed K) i with Some l => equal_bytes (hKey l) hk | None => false end.

(** What the small tree holds. *)
Definition small_content (K : kind) (hk : bytes) : option bytes := option_map (served K) (find (is_at K hk) [2; 3; 4]%N).

Definition equal_option (a b : option bytes) : bool :=
  match a, b with None, None => true | Some a, Some b => equal_bytes a b | _, _ => false end.

(** A leaf and its value, in range. *)
Definition leaf_stands (S : scheme) (K : kind) (t : tree) (served : N -> bytes) (i : N) : bool :=
  match get t i with
  | None => true
  | Some l =>
      (prev l <? max_leaves S)%N && (next l <? max_leaves S)%N && (length (served i) =? value_length K)
      && canonical S (value_message S K (served i)) && storable K (served i)
  end.

Definition stands (S : scheme) (K : kind) (hk : bytes) (tr : trace) (c : change) : bool :=
  let t := next_tree S K (holed K) hk tr in
  equal_option (before c) (small_content K hk)
  && equal_bytes (at_sub_root (reached c)) (sub_root S t) && (at_free (reached c) =? next_free t)%N
  && forallb (leaf_stands S K t (next_served (holed K) (served K) tr)) [2; 3; 4; 5]%N.

Lemma updates_stand : forall S K hk tr c, honest S (holed K) ->
  updates S K (holed K) (served K) hk c (next_tree S K (holed K) hk tr) (next_served (holed K) (served K) tr) ->
  stands S K hk tr c = true.
Proof.
  intros S K hk tr c HT (U1 & U2 & [U3 U3'] & U4 & _). unfold stands. rewrite U3, U3', equal_bytes_refl, N.eqb_refl.
  assert (E : equal_option (before c) (small_content K hk) = true).
  { assert (HC : holds_content (holed K) (served K) hk (small_content K hk)).
    { unfold small_content. destruct (find (is_at K hk) [2; 3; 4]%N) as [i|] eqn:E; cbn [option_map holds_content].
      - apply find_some in E as [HI E]. unfold is_at in E. destruct (get (holed K) i) as [l|] eqn:HG; [|discriminate].
        apply equal_bytes_eq in E. exists i, l. repeat split; try assumption. cbn [In] in HI. lia.
      - intros v (i & l & HG & H2 & HK & _). pose proof (small_cases _ _ _ HG) as HI.
        assert (HI' : In i [2; 3; 4]%N) by (cbn [In] in *; lia). pose proof (find_none _ _ E i HI') as HN. unfold is_at in HN.
        rewrite HG, HK, equal_bytes_refl in HN. discriminate. }
    rewrite (holds_one S _ _ hk (before c) (small_content K hk) HT U4 HC).
    destruct (small_content K hk); cbn; [apply equal_bytes_refl|reflexivity]. }
  rewrite E. cbn [andb]. apply forallb_forall. intros i HI. unfold leaf_stands.
  destruct (get (next_tree S K (holed K) hk tr) i) as [l|] eqn:HG; [|reflexivity].
  destruct (honest_leaf S _ U1 i l HG) as (L1 & L2 & _). apply N.ltb_lt in L1, L2. rewrite L1, L2.
  pose proof (U2 i l HG) as HS. destruct (N.ltb_spec i 2); [cbn [In] in HI; lia|]. destruct HS as (S1 & S2 & _ & S4).
  now rewrite S1, Nat.eqb_refl, S2, S4.
Qed.

Definition honest_state (K : kind) : tree_state := {| at_sub_root := sub_root plain (holed K); at_free := free |}.

Definition forges_trace (on : trace_rule -> bool) (number : bytes -> N) (K : kind) (came : option tree_state) (key : bytes)
  (tr : trace) : bool :=
  let S := toy number in
  match step on S K came (root S (holed K)) (hash_key S K key) tr with
  | Ok c =>
      (5 <=? free)%N && (free <=? 8)%N && negb (stands S K (hash_key S K key) tr c)
      && forallb (fun i => number (value_message plain K (v K i)) =? mix (value_message plain K (v K i)))%N [2; 3; 4]%N
      && match came with None => true | Some s => equal_bytes (at_sub_root s) (sub_root S (holed K)) && (at_free s =? free)%N end
      && none_found S (start_candidates S (holed K) tr ++ trace_candidates S K (holed K) (served K) (hash_key S K key) tr)
  | Error _ => false
  end.

Lemma holed_honest : forall K number, (5 <= free <= 8)%N -> honest (toy number) (holed K).
Proof. intros K number HF. apply with_free_honest; [apply small_honest|exact HF]. Qed.

Lemma holed_stores : forall K number,
  forallb (fun i => number (value_message plain K (v K i)) =? mix (value_message plain K (v K i)))%N [2; 3; 4]%N = true ->
  stores (toy number) K (holed K) (served K).
Proof. exact small_stores. Qed.

Lemma trace_forged_at : forall on number K came key tr, forges_trace on number K came key tr = true -> ~ trace_binds_with on.
Proof.
  intros on number K came key tr H HT. unfold forges_trace in H. destruct (step _ _ _ _ _ _ _) as [c|] eqn:E; [|discriminate].
  repeat rewrite andb_true_iff in H. destruct H as [[[[[HF1 HF2] HN] HV] HC] HB].
  assert (HF : (5 <= free <= 8)%N) by (apply N.leb_le in HF1, HF2; lia).
  assert (HCome : come_to (toy number) (holed K) came (root (toy number) (holed K))).
  { destruct came as [s|]; [|reflexivity]. apply andb_prop in HC as [C1 C2]. apply equal_bytes_eq in C1. apply N.eqb_eq in C2.
    now split. }
  destruct (HT _ _ _ (served K) key came _ tr c (toy_ok number) (holed_honest K number HF) (holed_stores K number HV) HCome E)
    as [HU|HB'].
  - rewrite (updates_stand _ _ _ _ _ (holed_honest K number HF) HU) in HN. discriminate.
  - exact (not_broken _ _ HB HB').
Qed.

End Holed.

Definition trace_forged := trace_forged_at 5.

(** *** Honest traces, and how they are changed *)

Definition raw_of (l : leaf) : raw_leaf :=
  {| raw_prev := Z.of_N (prev l); raw_next := Z.of_N (next l); raw_key := hKey l; raw_value := hVal l |}.
Definition raw_at (K : kind) (i : N) : raw_leaf := raw_of (leaf_at (small K) i).
Definition place_at (K : kind) (i : N) : raw_place :=
  {| raw_index := Z.of_N i; raw_siblings := siblings_up plain (small K) 3 0 i |}.
Definition sub (K : kind) : bytes := sub_root plain (small K).

Definition reading (K : kind) (i : N) (value : bytes) : trace := Read (sub K) 5 (raw_at K i) (place_at K i) value.
Definition reading_gap (i j : N) (left right : raw_leaf) : trace :=
  ReadAbsent (sub Storage) 5 left right (place_at Storage i) (place_at Storage j).
(** An update, with the result that it has. *)
Definition updating (K : kind) (l : raw_leaf) (p : raw_place) (value : bytes) : trace :=
  let after := {| prev := Z.to_N (raw_prev l); next := Z.to_N (raw_next l); hKey := raw_key l;
    hVal := hash plain (value_message plain K value) |} in
  Update (sub K) 5 l p (v K 2) value (fold_to plain (Some after) (raw_siblings p) (Z.to_N (raw_index p))).

Ltac forged := vm_cast_no_check (eq_refl true).

Theorem trace_key_needed : ~ trace_binds_with (without_trace_rule TraceKey).
Proof. apply (trace_forged _ mix Storage None (k Storage 5) (reading Storage 2 (v Storage 2))). forged. Qed.

Theorem trace_value_needed : ~ trace_binds_with (without_trace_rule TraceValue).
Proof. apply (trace_forged _ mix Storage None (k Storage 2) (reading Storage 2 (v Storage 7))). forged. Qed.

(** In an honest tree one link follows from the other. *)
Theorem one_trace_link_needed : ~ trace_binds_with (fun r => match r with TraceNext | TracePrev => false | _ => true end).
Proof.
  apply (trace_forged _ mix Storage None (k Storage 3) (reading_gap 2 4 (raw_at Storage 2) (raw_at Storage 4))). forged.
Qed.

Theorem trace_between_needed : ~ trace_binds_with (without_trace_rule TraceBetween).
Proof.
  apply (trace_forged _ mix Storage None (k Storage 3) (reading_gap 2 3 (raw_at Storage 2) (raw_at Storage 3))). forged.
Qed.

Definition stranger : raw_leaf := raw_of (leaf_of Storage 0 1 5).

Theorem path_opens_needed : ~ trace_binds_with (without_trace_rule PathOpens).
Proof.
  apply (trace_forged _ mix Storage None (k Storage 5) (Read (sub Storage) 5 stranger (place_at Storage 2) (v Storage 5))).
  forged.
Qed.

(** A leaf in a tree of the sender's own. *)
Definition elsewhere : trace :=
  Read (fold_to plain (Some (leaf_of Storage 0 1 5)) (siblings_up plain (small Storage) 3 0 2) 2) 5 stranger
    (place_at Storage 2) (v Storage 5).

Theorem opens_root_needed : ~ trace_binds_with (without_trace_rule OpensRoot).
Proof. apply (trace_forged _ mix Storage None (k Storage 5) elsewhere). forged. Qed.

Theorem continuous_needed : ~ trace_binds_with (without_trace_rule Continuous).
Proof. apply (trace_forged _ mix Storage (Some (honest_state 5 Storage)) (k Storage 5) elsewhere). forged. Qed.

Theorem trace_zero_needed : ~ trace_binds_with (without_trace_rule TraceZero).
Proof.
  apply (trace_forged _ mix Storage None (k Storage 2) (updating Storage (raw_at Storage 2) (place_at Storage 2) zero_digest)).
  forged.
Qed.

Theorem trace_nonce_needed : ~ trace_binds_with (without_trace_rule TraceNonce).
Proof.
  apply (trace_forged _ mix Account None (k Account 2)
    (updating Account (raw_at Account 2) (place_at Account 2) (account (2 ^ 64) 1))). forged.
Qed.

Theorem trace_code_size_needed : ~ trace_binds_with (without_trace_rule TraceCodeSize).
Proof.
  apply (trace_forged _ mix Account None (k Account 2)
    (updating Account (raw_at Account 2) (place_at Account 2) (account 1 (2 ^ 64)))). forged.
Qed.

Theorem trace_value_canonical_needed : ~ trace_binds_with (without_trace_rule TraceValueCanonical).
Proof.
  apply (trace_forged _ mix Account None (k Account 2)
    (updating Account (raw_at Account 2) (place_at Account 2) (lifted 32 (v Account 2)))). forged.
Qed.

Theorem trace_value_length_needed : ~ trace_binds_with (without_trace_rule TraceValueLength).
Proof.
  apply (trace_forged _ mix Storage None (k Storage 2)
    (updating Storage (raw_at Storage 2) (place_at Storage 2) (x01 :: zeros 32))). forged.
Qed.

(** An inner node is shown as a leaf, one level too high. *)
Definition short_trace : trace :=
  Read (sub Storage) 5
    (raw_of {| prev := 3; next := 1; hKey := digest_of (mix (key_message plain Storage (k Storage 5)));
      hVal := digest_of (mix (value_message plain Storage (v Storage 7))) |})
    {| raw_index := 2; raw_siblings := [node plain (small Storage) 1 3; node plain (small Storage) 2 0] |} (v Storage 7).

Theorem sibling_count_needed : ~ trace_binds_with (without_trace_rule SiblingCount).
Proof.
  apply (trace_forged _ (except [(node_at 3 short_proof, mix (node plain (small Storage) 0 4 ++ node plain (small Storage) 0 5))])
    Storage None (k Storage 5) short_trace). forged.
Qed.

(** Index 10 has the path of index 2. *)
Theorem place_range_needed : ~ trace_binds_with (without_trace_rule PlaceRange).
Proof.
  apply (trace_forged _ mix Storage None (k Storage 2) (updating Storage (raw_at Storage 2)
    {| raw_index := 10; raw_siblings := siblings_up plain (small Storage) 3 0 2 |} (v Storage 7))). forged.
Qed.

(** Numbers of 33 bytes have the words of their remainders. *)
Theorem link_range_needed : ~ trace_binds_with (without_trace_rule LinkRange).
Proof.
  apply (trace_forged _ mix Storage None (k Storage 2) (updating Storage
    {| raw_prev := 0; raw_next := 3 + 2 ^ 256; raw_key := raw_key (raw_at Storage 2); raw_value := raw_value (raw_at Storage 2) |}
    (place_at Storage 2) (v Storage 7))). forged.
Qed.

Theorem start_range_needed : ~ trace_binds_with (without_trace_rule StartRange).
Proof.
  apply (trace_forged _ mix Storage None (k Storage 2)
    (Read (sub Storage) (5 + 2 ^ 256) (raw_at Storage 2) (place_at Storage 2) (v Storage 2))). forged.
Qed.

(** The right neighbour's key is raised by the modulus. *)
Theorem trace_digest_canonical_needed : ~ trace_binds_with (without_trace_rule TraceDigestCanonical).
Proof.
  pose (opening := encode_opening plain (leaf_at (small Storage) 3)). pose (r := raw_at Storage 3).
  apply (trace_forged _ (like (lifted 64 opening) opening) Storage None (k Storage 3) (reading_gap 2 3 (raw_at Storage 2)
    {| raw_prev := raw_prev r; raw_next := raw_next r; raw_key := lifted 0 (raw_key r); raw_value := raw_value r |})). forged.
Qed.

(** The right neighbour's key and value are read as one key, which is above the key itself. *)
Theorem trace_digest_length_needed : ~ trace_binds_with (without_trace_rule TraceDigestLength).
Proof.
  pose (r := raw_at Storage 3).
  apply (trace_forged _ mix Storage None (k Storage 3) (reading_gap 2 3 (raw_at Storage 2)
    {| raw_prev := raw_prev r; raw_next := raw_next r; raw_key := raw_key r ++ raw_value r; raw_value := [] |})). forged.
Qed.

(** The new leaf comes to an empty place below the one that its neighbours then point at. *)
Definition misplaced : trace :=
  let t := small Storage in
  let fresh := {| prev := 2; next := 3; hKey := hash_key plain Storage (k Storage 5);
    hVal := hash plain (value_message plain Storage (v Storage 5)) |}%N in
  let t1 := set t 2 (Some (relink_next (leaf_at t 2) 6)) in
  let t2 := set t1 5 (Some fresh) in
  let t3 := set t2 3 (Some (relink_prev (leaf_at t 3) 6)) in
  let place t i := {| raw_index := Z.of_N i; raw_siblings := siblings_up plain t 3 0 i |} in
  Insert (sub Storage) 7 (raw_at Storage 2) (raw_at Storage 3) (place t 2%N) (place t2 3%N) (place t1 5%N) (v Storage 5)
    (sub_root plain t3).

Theorem index_next_needed : ~ trace_binds_with (without_trace_rule IndexNext).
Proof. apply (trace_forged_at 6 _ mix Storage None (k Storage 5) misplaced). forged. Qed.

(** *** Whole transitions: a state without accounts *)

Definition nothing : state :=
  {| s_accounts := empty_tree plain; s_value := fun _ => zero_digest; s_storage := fun _ => empty_tree plain;
     s_slot := fun _ _ => zero_digest |}.

Lemma nothing_honest : honest_l2 plain nothing.
Proof.
  constructor; [apply empty_tree_honest, toy_ok|exact (empty_stores plain Account)|].
  intros hk v (i & l & HG & H2 & _). cbn [get empty_tree s_accounts nothing] in HG. destruct (N.eqb_spec i 0); [lia|]. destruct (N.eqb_spec i 1); [lia|discriminate].
Qed.

Theorem end_root_needed : ~ transition_binds_with (without_trace_rule EndRoot).
Proof.
  intro H. set (parent := Tree.root plain (s_accounts nothing)).
  destruct (H plain nothing parent (Some []) [] parent [] (toy_ok mix) nothing_honest eq_refl eq_refl)
    as [(_ & _ & _ & HE)|[b HB]]; [|discriminate]. specialize (HE [] eq_refl). apply (f_equal (@length byte)) in HE.
  unfold parent, Tree.root in HE. now rewrite (ok_hash_length plain (toy_ok mix)) in HE.
Qed.

(** An account that comes with a storage root, and no storage. *)
Definition arriving : list (list entry) :=
  let t := empty_tree plain in
  let value := v Account 2 in
  let fresh := {| prev := 0; next := 1; hKey := hash_key plain Account (k Account 2);
    hVal := hash plain (value_message plain Account value) |}%N in
  let t1 := set t 0 (Some (relink_next (leaf_at t 0) 2)) in
  let t2 := set t1 2 (Some fresh) in
  let t3 := set t2 1 (Some (relink_prev (leaf_at t 1) 2)) in
  let place t i := {| raw_index := Z.of_N i; raw_siblings := siblings_up plain t 3 0 i |} in
  [[{| e_address := k Account 2; e_slot := None;
       e_trace := Insert (sub_root plain t) 3 (raw_of (leaf_at t 0)) (raw_of (leaf_at t 1)) (place t 0%N) (place t2 1%N)
         (place t1 2%N) value (sub_root plain t3) |}]].

Theorem storage_after_needed : ~ transition_binds_with (without_trace_rule StorageAfter).
Proof.
  intro H. pose (result := check_transition_with (without_trace_rule StorageAfter) plain (empty_root plain) (empty_root plain) None arriving).
  assert (HB : none_found plain (transition_candidates plain nothing (blocks_accounts arriving)) = true) by forged.
  destruct result as [[root bs]|] eqn:E; [|vm_compute in E; discriminate E].
  destruct (H plain nothing (empty_root plain) None arriving root bs (toy_ok mix) nothing_honest eq_refl E)
    as [(HS & _)|HBr]; [|exact (not_broken _ _ HB HBr)].
  assert (HR : equal_bytes (storage_root_of (v Account 2)) (empty_root plain) = false) by (vm_compute; reflexivity).
  destruct (l2_storage _ _ HS (hash_key plain Account (k Account 2)) (v Account 2)) as (_ & _ & HRoot).
  - exists 2%N. eexists. vm_compute. repeat split; discriminate.
  - apply equal_bytes_neq in HR. apply HR. rewrite HRoot. vm_compute. reflexivity.
Qed.

(** *** The order of traces *)

Definition accepts (on : trace_rule -> bool) (root : bytes) (blocks : list (list entry)) : bool :=
  match check_transition_with on plain (empty_root plain) root None blocks with Ok _ => true | Error _ => false end.

(** The block is not in order. Each test is computed. *)
Definition orderly_block_b (block : list entry) : bool :=
  let segments := segments_of block in
  let fix rises (last : bytes) (segments : list (bytes * list entry)) :=
    match segments with
    | [] => true
    | (address, _) :: segments => is_below last (hash_key plain Account address) && rises (hash_key plain Account address) segments
    end in
  match segments with [] => true | (address, _) :: segments => rises (hash_key plain Account address) segments end
  && forallb (fun segment =>
       let traces := segments_accounts [segment] in
       one_account (account_kinds traces) && forallb allowed_slots traces && (trace_count traces =? length (snd segment))) segments.

Lemma disorderly : forall on root block, accepts on root [block] = true -> orderly_block_b block = false -> ~ orderly_with on.
Proof.
  intros on root block HA HO H. unfold accepts in HA. destruct (check_transition_with _ _ _ _ _ _) as [r|] eqn:E; [|discriminate].
  apply H in E. inversion E as [|? ? [HS HF] _]; subst. clear E. unfold orderly_block_b in HO. cbv zeta in HO.
  apply andb_false_iff in HO as [HO|HO].
  - destruct (segments_of block) as [|[address own] segments]; [discriminate|]. cbn [map fst] in HS. clear HF own.
    revert address HS HO. induction segments as [|[other own] segments IH]; intros address HS HO; [discriminate|].
    cbn [map fst] in HS. apply Sorted_inv in HS as [HS' HR]. apply HdRel_inv, is_below_below in HR.
    apply andb_false_iff in HO as [HO|HO]; [congruence|now apply (IH other)].
  - assert (HT : forallb (fun segment =>
       let traces := segments_accounts [segment] in
       one_account (account_kinds traces) && forallb allowed_slots traces && (trace_count traces =? length (snd segment)))
       (segments_of block) = true).
    { apply forallb_forall. intros segment HI. rewrite Forall_forall in HF. destruct (HF segment HI) as (H1 & H2 & H3).
      cbv zeta. now rewrite H1, H2, H3, Nat.eqb_refl. }
    cbv zeta in HT. congruence.
Qed.

Definition of_account (i : N) : entry := {| e_address := k Account i; e_slot := None; e_trace := reading Account i (v Account i) |}.
Definition accounts_root : bytes := root plain (small Account).

(** Two accounts, the later one first. *)
Theorem segment_order_needed : ~ orderly_with (without_trace_rule SegmentOrder).
Proof. apply (disorderly _ accounts_root [of_account 3; of_account 2]); vm_compute; reflexivity. Qed.

(** An account is read twice. *)
Theorem only_insertion_needed : ~ orderly_with (without_trace_rule OnlyInsertion).
Proof. apply (disorderly _ accounts_root [of_account 2; of_account 2]); vm_compute; reflexivity. Qed.

(** A slot of an account that does not exist. *)
Definition absent_slot : entry :=
  let t := empty_tree plain in
  let place i := {| raw_index := Z.of_N i; raw_siblings := siblings_up plain t 3 0 i |} in
  {| e_address := k Account 5; e_slot := Some (k Storage 2);
     e_trace := ReadAbsent (sub_root plain t) 2 (raw_of (leaf_at t 0)) (raw_of (leaf_at t 1)) (place 0%N) (place 1%N) |}.
Definition absent_account : entry :=
  {| e_address := k Account 5; e_slot := None;
     e_trace := ReadAbsent (sub Account) 5 (raw_at Account 2) (raw_at Account 3) (place_at Account 2) (place_at Account 3) |}.

Theorem allowed_before_needed : ~ orderly_with (without_trace_rule AllowedBefore).
Proof. apply (disorderly _ accounts_root [absent_slot; absent_account]); vm_compute; reflexivity. Qed.

(** A trace that nothing reads. *)
Theorem no_orphan_needed : ~ orderly_with (without_trace_rule NoOrphan).
Proof. apply (disorderly _ accounts_root [absent_slot]); vm_compute; reflexivity. Qed.
