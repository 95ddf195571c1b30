(** Rules of one trace without which the theorem is false: forgeries in the small tree of Needed.v. *)
From Soundness Require Export TransitionWorld Needed.

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

Definition is_at (K : kind) (hk : bytes) (i : N) : bool :=
  match get (small K) i with Some l => equal_bytes (hKey l) hk | None => false end.

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
  let t := next_tree S K (small K) hk tr in
  equal_option (before c) (small_content K hk)
  && equal_bytes (at_sub_root (reached c)) (sub_root S t) && (at_free (reached c) =? next_free t)%N
  && forallb (leaf_stands S K t (next_served (small K) (served K) tr)) [2; 3; 4; 5]%N.

Lemma updates_stand : forall S K hk tr c, honest S (small K) ->
  updates S K (small K) (served K) hk c (next_tree S K (small K) hk tr) (next_served (small K) (served K) tr) ->
  stands S K hk tr c = true.
Proof.
  intros S K hk tr c HT (U1 & U2 & [U3 U3'] & U4 & _). unfold stands. rewrite U3, U3', equal_bytes_refl, N.eqb_refl.
  assert (E : equal_option (before c) (small_content K hk) = true).
  { assert (HC : holds_content (small K) (served K) hk (small_content K hk)).
    { unfold small_content. destruct (find (is_at K hk) [2; 3; 4]%N) as [i|] eqn:E; cbn [option_map holds_content].
      - apply find_some in E as [HI E]. unfold is_at in E. destruct (get (small K) i) as [l|] eqn:HG; [|discriminate].
        apply equal_bytes_eq in E. exists i, l. repeat split; try assumption. cbn [In] in HI. lia.
      - intros v (i & l & HG & H2 & HK & _). pose proof (small_cases _ _ _ HG) as HI.
        assert (HI' : In i [2; 3; 4]%N) by (cbn [In] in *; lia). pose proof (find_none _ _ E i HI') as HN. unfold is_at in HN.
        rewrite HG, HK, equal_bytes_refl in HN. discriminate. }
    rewrite (holds_one S _ _ hk (before c) (small_content K hk) HT U4 HC).
    destruct (small_content K hk); cbn; [apply equal_bytes_refl|reflexivity]. }
  rewrite E. cbn [andb]. apply forallb_forall. intros i HI. unfold leaf_stands.
  destruct (get (next_tree S K (small K) hk tr) i) as [l|] eqn:HG; [|reflexivity].
  destruct (honest_leaf S _ U1 i l HG) as (L1 & L2 & _). apply N.ltb_lt in L1, L2. rewrite L1, L2.
  pose proof (U2 i l HG) as HS. destruct (N.ltb_spec i 2); [cbn [In] in HI; lia|]. destruct HS as (S1 & S2 & _ & S4).
  now rewrite S1, Nat.eqb_refl, S2, S4.
Qed.

Definition honest_state (K : kind) : tree_state := {| at_sub_root := sub_root plain (small K); at_free := 5 |}.

Definition forges_trace (on : trace_rule -> bool) (number : bytes -> N) (K : kind) (came : option tree_state) (key : bytes)
  (tr : trace) : bool :=
  let S := toy number in
  match step on S K came (root S (small K)) (hash_key S K key) tr with
  | Ok c =>
      negb (stands S K (hash_key S K key) tr c)
      && forallb (fun i => number (value_message plain K (v K i)) =? mix (value_message plain K (v K i)))%N [2; 3; 4]%N
      && match came with None => true | Some s => equal_bytes (at_sub_root s) (sub_root S (small K)) && (at_free s =? 5)%N end
      && none_found S (start_candidates S (small K) tr ++ trace_candidates S K (small K) (served K) (hash_key S K key) tr)
  | Error _ => false
  end.

Lemma trace_forged : forall on number K came key tr, forges_trace on number K came key tr = true -> ~ trace_binds_with on.
Proof.
  intros on number K came key tr H HT. unfold forges_trace in H. destruct (step _ _ _ _ _ _ _) as [c|] eqn:E; [|discriminate].
  repeat rewrite andb_true_iff in H. destruct H as [[[HN HV] HC] HB].
  assert (HCome : come_to (toy number) (small K) came (root (toy number) (small K))).
  { destruct came as [s|]; [|reflexivity]. apply andb_prop in HC as [C1 C2]. apply equal_bytes_eq in C1. apply N.eqb_eq in C2.
    now split. }
  destruct (HT _ _ _ (served K) key came _ tr c (toy_ok number) (small_honest K number) (small_stores K number HV) HCome E)
    as [HU|HB'].
  - rewrite (updates_stand _ _ _ _ _ (small_honest K number) HU) in HN. discriminate.
  - exact (not_broken _ _ HB HB').
Qed.

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
Proof. apply (trace_forged _ mix Storage (Some (honest_state Storage)) (k Storage 5) elsewhere). forged. Qed.

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
