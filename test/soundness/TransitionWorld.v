(** 16. A transition: from an honest state to the honest state of its writes, and nothing else changes. *)
From Soundness Require Export TransitionBinding World.

(** Accounts and, by the hash of an address, the storage of each. *)
Record state := { s_accounts : tree; s_value : N -> bytes; s_storage : bytes -> tree; s_slot : bytes -> N -> bytes }.

Record honest_l2 (S : scheme) (s : state) : Prop := {
  l2_accounts : honest S (s_accounts s);
  l2_values : stores S Account (s_accounts s) (s_value s);
  l2_storage : forall hk v, content (s_accounts s) (s_value s) hk v ->
    honest S (s_storage s hk) /\ stores S Storage (s_storage s hk) (s_slot s hk)
    /\ storage_root_of v = root S (s_storage s hk);
}.

Lemma empty_stores : forall S K, stores S K (empty_tree S) (fun _ => zero_digest).
Proof.
  intros S K i l H. cbn [get empty_tree] in H.
  destruct (N.eqb_spec i 0) as [->|]; [reflexivity|]. destruct (N.eqb_spec i 1) as [->|]; [reflexivity|discriminate].
Qed.

(** *** The account traces of a transition, each with those of its slots *)

Definition account_trace := (bytes * trace * list (bytes * trace))%type.

Fixpoint entries_accounts (address : bytes) (slots : list (bytes * trace)) (entries : list entry) : list account_trace :=
  match entries with
  | [] => []
  | e :: entries =>
      match e_slot e with
      | Some slot => entries_accounts address (slots ++ [(slot, e_trace e)]) entries
      | None => (address, e_trace e, slots) :: entries_accounts address [] entries
      end
  end.

Definition segments_accounts (segments : list (bytes * list entry)) : list account_trace :=
  flat_map (fun s => entries_accounts (fst s) [] (read_last (snd s))) segments.

Definition blocks_accounts (blocks : list (list entry)) : list account_trace :=
  flat_map (fun block => segments_accounts (segments_of block)) blocks.

(** Those that a transition takes. *)
Definition transition_rules : list trace_rule := StorageAfter :: EndRoot :: tree_rules.

Section World.
Variable on : trace_rule -> bool.
Hypothesis ON : Forall (fun r => on r = true) transition_rules.
Variable S : scheme.
Hypothesis OK : scheme_ok S.

Lemma tree_kept : Forall (fun r => on r = true) tree_rules.
Proof. now inversion ON as [|? ? _ H]; inversion H. Qed.
Lemma taken : forall r b, In r transition_rules -> on r && negb b = false -> b = true.
Proof. intros r b HI H. rewrite (proj1 (Forall_forall _ _) ON r HI) in H. now destruct b. Qed.

Fixpoint follow_accounts (came : option tree_state) (parent_root : bytes) (traces : list account_trace)
  : result (list account_diff * option tree_state) :=
  match traces with
  | [] => Ok ([], came)
  | (address, tr, slots) :: traces =>
      take (diff, s) from verify_account on S (empty_root S) came parent_root address tr slots;
      take (diffs, came) from follow_accounts (Some s) parent_root traces;
      Ok (diff :: diffs, came)
  end.

Lemma follow_app : forall a came root da came1 b db came2, follow_accounts came root a = Ok (da, came1) ->
  follow_accounts came1 root b = Ok (db, came2) -> follow_accounts came root (a ++ b) = Ok (da ++ db, came2).
Proof.
  induction a as [|[[address tr] slots] a IH]; intros came root da came1 b db came2 H H2; cbn [follow_accounts app] in *.
  - inversion H; subst. exact H2.
  - destruct (verify_account _ _ _ _ _ _ _ _) as [[diff s]|]; [|discriminate].
    destruct (follow_accounts (Some s) root a) as [[diffs came']|] eqn:E; [|discriminate]. inversion H; subst.
    now rewrite (IH _ _ _ _ _ _ _ E H2).
Qed.

Lemma entries_follow : forall entries came root address last slots ds came',
  verify_entries on S (empty_root S) came root address last slots entries = Ok (ds, came') ->
  follow_accounts came root (entries_accounts address slots entries) = Ok (ds, came').
Proof.
  induction entries as [|e entries IH]; intros came root address last slots ds came' H; cbn [verify_entries entries_accounts] in *.
  - passes H. exact H.
  - destruct (e_slot e) as [slot|]; [exact (IH _ _ _ _ _ _ _ H)|]. cbv zeta in H. passes H. cbn [follow_accounts].
    destruct (verify_account _ _ _ _ _ _ _ _) as [[diff s]|]; [|discriminate].
    destruct (verify_entries _ _ _ (Some s) root address _ [] entries) as [[diffs came1]|] eqn:E; [|discriminate].
    inversion H; subst. now rewrite (IH _ _ _ _ _ _ _ E).
Qed.

Lemma segments_follow : forall segments came root last ds came',
  verify_segments on S (empty_root S) came root last segments = Ok (ds, came') ->
  follow_accounts came root (segments_accounts segments) = Ok (ds, came').
Proof.
  induction segments as [|[address entries] segments IH]; intros came root last ds came' H; cbn [verify_segments] in H;
    unfold segments_accounts in *; cbn [flat_map fst snd follow_accounts]; [exact H|]. cbv zeta in H. passes H.
  destruct (verify_entries _ _ _ came root address None [] (read_last entries)) as [[diffs came1]|] eqn:E; [|discriminate].
  destruct (verify_segments _ _ _ came1 root _ segments) as [[more came2]|] eqn:E2; [|discriminate]. inversion H; subst.
  eapply follow_app; [exact (entries_follow _ _ _ _ _ _ _ _ E)|exact (IH _ _ _ _ _ E2)].
Qed.

Lemma blocks_follow : forall blocks came root bs came',
  verify_blocks on S (empty_root S) came root blocks = Ok (bs, came') ->
  follow_accounts came root (blocks_accounts blocks) = Ok (flat_map snd bs, came').
Proof.
  induction blocks as [|block blocks IH]; intros came root bs came' H; cbn [verify_blocks] in H.
  - inversion H; subst. reflexivity.
  - destruct (verify_segments _ _ _ came root None (segments_of block)) as [[diffs came1]|] eqn:E; [|discriminate].
    destruct (verify_blocks _ _ _ came1 root blocks) as [[more last]|] eqn:E2; [|discriminate]. inversion H; subst.
    unfold blocks_accounts. cbn [flat_map snd]. eapply follow_app; [exact (segments_follow _ _ _ _ _ _ E)|exact (IH _ _ _ _ E2)].
Qed.

(** *** One account, with its storage *)

(** The storage that the traces of slots begin with: empty, if the account is not there yet. *)
Definition storage_before (s : state) (hk : bytes) (tr : trace) : tree * (N -> bytes) :=
  match kind_of tr with
  | KInsert | KReadAbsent => (empty_tree S, fun _ => zero_digest)
  | _ => (s_storage s hk, s_slot s hk)
  end.

Definition next_state (s : state) (t : account_trace) : state :=
  let '(address, tr, slots) := t in
  let hk := hash_key S Account address in
  let storage := storage_before s hk tr in
  {| s_accounts := next_tree S Account (s_accounts s) hk tr;
     s_value := next_served (s_accounts s) (s_value s) tr;
     s_storage := fun k => if equal_bytes k hk then last_tree S Storage (fst storage) slots else s_storage s k;
     s_slot := fun k => if equal_bytes k hk then last_served S Storage (fst storage) (snd storage) slots else s_slot s k |}.

Definition account_trace_candidates (s : state) (t : account_trace) : list break :=
  let '(address, tr, slots) := t in
  let hk := hash_key S Account address in
  let storage := storage_before s hk tr in
  (start_candidates S (s_accounts s) tr ++ trace_candidates S Account (s_accounts s) (s_value s) hk tr)
  ++ follow_candidates S Storage (fst storage) (snd storage) slots.

(** What a difference says of an account and its slots is so, and nothing else has changed. *)
Definition true_diff (s : state) (t : account_trace) (d : account_diff) : Prop :=
  let '(address, tr, slots) := t in
  let hk := hash_key S Account address in
  let storage := storage_before s hk tr in
  let s' := next_state s t in
  d_address d = address
  /\ holds_content (s_accounts s) (s_value s) hk (d_before d)
  /\ holds_content (s_accounts s') (s_value s') hk (d_after d)
  /\ (forall hk' v, hk' <> hk -> (content (s_accounts s') (s_value s') hk' v <-> content (s_accounts s) (s_value s) hk' v))
  /\ exists changes, map (fun c => fst (fst c)) changes = map fst slots
     /\ true_befores S Storage (holds_content (fst storage) (snd storage)) changes
     /\ (forall k o, holds_content (s_storage s' hk) (s_slot s' hk) k o <->
           match last_write S Storage k changes with Some w => o = w | None => holds_content (fst storage) (snd storage) k o end)
     /\ d_slots d = match d_after d with
                    | None => map (fun slot => (fst slot, zero_digest)) (note_slots changes)
                    | Some _ => note_slots changes
                    end.

Lemma before_by_kind : forall K came root hk tr c, step on S K came root hk tr = Ok c ->
  match kind_of tr with KInsert | KReadAbsent => before c = None | _ => exists v, before c = Some v end.
Proof.
  intros K came root hk tr c H. unfold step in H. passes H. passes H. passes H.
  destruct tr; cbn [kind_of apply_trace] in *; cbv zeta in *.
  - passes H. destruct a0. passes H. inversion H; subst. cbn. eauto.
  - passes H. destruct a0. passes H. passes H. now inversion H; subst.
  - passes H. destruct a0. passes H. destruct a0. passes H. passes H. destruct a0. do 3 passes H. unfold verify_result in H.
    passes H. passes H. now inversion H; subst.
  - passes H. destruct a0. passes H. destruct a0. passes H. unfold verify_result in H. passes H. passes H.
    inversion H; subst. cbn. eauto.
  - passes H. passes H. destruct a1. passes H. passes H. passes H. passes H. passes H. passes H. unfold verify_result in H.
    passes H. passes H. inversion H; subst. cbn. eauto.
Qed.

Lemma follow_keys : forall K traces came root changes came', follow on S K came root traces = Ok (changes, came') ->
  map (fun c => fst (fst c)) changes = map fst traces.
Proof.
  intros K. induction traces as [|[key tr] traces IH]; intros came root changes came' H; cbn [follow] in H.
  - now inversion H.
  - passes H. destruct (follow on S K (Some (reached a)) root traces) as [[more came1]|] eqn:E; [|discriminate].
    inversion H; subst. cbn [map fst]. f_equal. exact (IH _ _ _ _ E).
Qed.

Lemma account_trace_binds : forall s came parent_root address tr slots diff st, honest_l2 S s ->
  come_to S (s_accounts s) came parent_root ->
  verify_account on S (empty_root S) came parent_root address tr slots = Ok (diff, st) ->
  (let s' := next_state s (address, tr, slots) in
   honest_l2 S s' /\ at_state S (s_accounts s') st /\ true_diff s (address, tr, slots) diff)
  \/ broken S (account_trace_candidates s (address, tr, slots)).
Proof.
  intros s came parent_root address tr slots diff st HS HCome H. unfold verify_account in H. cbv zeta in H. passes H.
  destruct (step on S Account came parent_root (hash_key S Account address) tr) as [c|] eqn:HStep; [|discriminate].
  set (root_before := match before c with None => empty_root S | Some v => storage_root_of v end) in *.
  destruct (follow on S Storage None root_before slots) as [[changes storage']|] eqn:HFollow; [|discriminate].
  passes H. inversion H; subst. clear H. 
  unfold account_trace_candidates. set (hk := hash_key S Account address) in *.
  destruct (step_binds on tree_kept S OK Account (s_accounts s) (s_value s) came parent_root address tr c (l2_accounts S s HS)
    (l2_values S s HS) HCome HStep) as [HU|HB]; [|right; eapply broken_incl; [|exact HB]; intros; apply in_or_app; now left].
  fold hk in HU. destruct HU as (U1 & U2 & U3 & U4 & U5 & U6).
  pose proof (before_by_kind _ _ _ _ _ _ HStep) as HKind.
  set (t0 := fst (storage_before s hk tr)). set (v0 := snd (storage_before s hk tr)).
  assert (H0 : honest S t0 /\ stores S Storage t0 v0 /\ root_before = Tree.root S t0).
  { unfold t0, v0, storage_before, root_before. destruct (kind_of tr).
    1, 4, 5: destruct HKind as [v HV]; rewrite HV in U4 |- *; cbn [holds_content] in U4;
      destruct (l2_storage S s HS hk v U4) as (A & B & C); cbn [fst snd]; auto.
    1, 2: rewrite HKind; cbn [fst snd]; split; [now apply empty_tree_honest|]; split; [apply empty_stores|reflexivity]. }
  destruct H0 as (T1 & T2 & T3).
  destruct (follow_binds on tree_kept S OK Storage slots t0 v0 None root_before changes storage' T1 T2 T3 HFollow)
    as [(F1 & F2 & F3 & F4 & F5)|HB]; [left|right; eapply broken_incl; [|exact HB]; intros; apply in_or_app; now right].
  assert (HAfter : forall v, after c = Some v -> storage_root_of v = Tree.root S (last_tree S Storage t0 slots)).
  { intros v HV. rewrite HV in Heqb0. apply taken in Heqb0; [|now left]. apply equal_bytes_eq in Heqb0. rewrite <- Heqb0.
    now apply come_to_root. }
  cbv zeta. unfold true_diff. fold hk. cbn [next_state s_accounts s_value s_storage s_slot]. fold hk. fold t0. fold v0.
  rewrite equal_bytes_refl. split; [|split; [exact U3|]].
  - constructor; cbn [s_accounts s_value s_storage s_slot]; [exact U1|exact U2|].
    intros k v HC. destruct (equal_bytes k hk) eqn:E.
    + apply equal_bytes_eq in E. subst k. split; [exact F1|]. split; [exact F2|]. apply HAfter.
      symmetry. exact (holds_one S _ _ hk (Some v) (after c) U1 HC U5).
    + apply equal_bytes_neq in E. apply (l2_storage S s HS). now apply U6.
  - cbn [d_address d_before d_after d_slots]. split; [reflexivity|]. split; [exact U4|]. split; [exact U5|]. split; [exact U6|].
    exists changes. split; [exact (follow_keys _ _ _ _ _ _ HFollow)|]. split; [exact F4|]. split; [exact F5|reflexivity].
Qed.

(** *** The whole transition *)

Definition last_state (s : state) (traces : list account_trace) : state := fold_left next_state traces s.

Fixpoint transition_candidates (s : state) (traces : list account_trace) : list break :=
  match traces with [] => [] | t :: traces => account_trace_candidates s t ++ transition_candidates (next_state s t) traces end.

Fixpoint true_diffs (s : state) (traces : list account_trace) (diffs : list account_diff) : Prop :=
  match traces, diffs with
  | [], [] => True
  | t :: traces, d :: diffs => true_diff s t d /\ true_diffs (next_state s t) traces diffs
  | _, _ => False
  end.

Lemma accounts_bind : forall traces s came parent_root diffs came', honest_l2 S s ->
  come_to S (s_accounts s) came parent_root -> follow_accounts came parent_root traces = Ok (diffs, came') ->
  (honest_l2 S (last_state s traces) /\ come_to S (s_accounts (last_state s traces)) came' parent_root /\ true_diffs s traces diffs)
  \/ broken S (transition_candidates s traces).
Proof.
  induction traces as [|[[address tr] slots] traces IH]; intros s came parent_root diffs came' HS HCome H; cbn [follow_accounts] in H.
  - inversion H; subst. left. cbn. auto.
  - destruct (verify_account _ _ _ _ _ _ _ _) as [[diff st]|] eqn:E; [|discriminate].
    destruct (follow_accounts (Some st) parent_root traces) as [[more came1]|] eqn:E2; [|discriminate]. inversion H; subst.
    change (last_state s ((address, tr, slots) :: traces)) with (last_state (next_state s (address, tr, slots)) traces).
    change (transition_candidates s ((address, tr, slots) :: traces)) with (account_trace_candidates s (address, tr, slots)
      ++ transition_candidates (next_state s (address, tr, slots)) traces).
    change (true_diffs s ((address, tr, slots) :: traces) (diff :: more)) with (true_diff s (address, tr, slots) diff
      /\ true_diffs (next_state s (address, tr, slots)) traces more).
    destruct (account_trace_binds s came parent_root address tr slots diff st HS HCome E) as [(A1 & A2 & A3)|HB];
      [|right; eapply broken_incl; [|exact HB]; intros; apply in_or_app; now left].
    destruct (IH _ (Some st) parent_root more came' A1 A2 E2) as [(B1 & B2 & B3)|HB]; [left; auto|].
    right. eapply broken_incl; [|exact HB]. intros. apply in_or_app. now right.
Qed.

Lemma blocks_bind : forall s parent_root end_root blocks root bs, honest_l2 S s ->
  parent_root = Tree.root S (s_accounts s) ->
  check_transition_with on S (empty_root S) parent_root end_root blocks = Ok (root, bs) ->
  (let traces := blocks_accounts blocks in
   honest_l2 S (last_state s traces) /\ root = Tree.root S (s_accounts (last_state s traces))
   /\ true_diffs s traces (flat_map snd bs) /\ (forall r, end_root = Some r -> r = root))
  \/ broken S (transition_candidates s (blocks_accounts blocks)).
Proof.
  intros s parent_root end_root blocks root bs HS HR H. unfold check_transition_with in H.
  destruct (verify_blocks _ _ _ None parent_root blocks) as [[diffs came]|] eqn:E; [|discriminate]. cbv zeta in H.
  passes H. inversion H; subst. clear H. apply taken in Heqb; [|now right; left].
  destruct (accounts_bind _ s None _ _ came HS eq_refl (blocks_follow _ _ _ _ _ E)) as [(A1 & A2 & A3)|HB]; [left|now right].
  cbv zeta. split; [exact A1|]. split; [now apply come_to_root|]. split; [exact A3|]. intros r HE. subst end_root.
  now apply equal_bytes_eq in Heqb.
Qed.

Lemma no_other : forall traces s diffs hk, true_diffs s traces diffs ->
  (forall d, In d diffs -> hash_key S Account (d_address d) <> hk) ->
  (forall v, content (s_accounts (last_state s traces)) (s_value (last_state s traces)) hk v
     <-> content (s_accounts s) (s_value s) hk v)
  /\ s_storage (last_state s traces) hk = s_storage s hk /\ s_slot (last_state s traces) hk = s_slot s hk.
Proof.
  induction traces as [|[[address tr] slots] traces IH]; intros s [|d diffs] hk HD HN; try destruct HD.
  - cbn. split; [reflexivity|auto].
  - change (last_state s ((address, tr, slots) :: traces)) with (last_state (next_state s (address, tr, slots)) traces).
    destruct (IH _ _ hk H0) as (I1 & I2 & I3); [intros; apply HN; now right|].
    destruct H as (D1 & _ & _ & D4 & _). pose proof (HN d (or_introl eq_refl)) as HNe. rewrite D1 in HNe.
    assert (E : equal_bytes hk (hash_key S Account address) = false) by (apply equal_bytes_neq; congruence).
    rewrite I2, I3. cbn [next_state s_storage s_slot]. rewrite E. split; [|auto].
    intro v. rewrite I1. apply D4. congruence.
Qed.

End World.

(** An accepted transition leads from an honest state with the parent root to an honest state with the root that it states.
    Each difference says what was there before and after, in its turn. Or a break is found. *)
Definition transition_binds_with (on : trace_rule -> bool) : Prop :=
  forall S s parent_root end_root blocks root bs, scheme_ok S -> honest_l2 S s -> parent_root = Tree.root S (s_accounts s) ->
  check_transition_with on S (empty_root S) parent_root end_root blocks = Ok (root, bs) ->
  (let traces := blocks_accounts blocks in
   honest_l2 S (last_state S s traces) /\ root = Tree.root S (s_accounts (last_state S s traces))
   /\ true_diffs S s traces (flat_map snd bs) /\ (forall r, end_root = Some r -> r = root))
  \/ broken S (transition_candidates S s (blocks_accounts blocks)).

Theorem transition_binds_by : forall on, Forall (fun r => on r = true) transition_rules -> transition_binds_with on.
Proof. intros on ON S s parent_root end_root blocks root bs OK. now apply blocks_bind. Qed.

Theorem transition_binds : transition_binds_with all_trace_rules.
Proof. apply transition_binds_by. apply Forall_forall. reflexivity. Qed.

(** An account that is in no difference is as it was, and so is all of its storage. *)
Theorem no_other_account : forall S traces s diffs hk, true_diffs S s traces diffs ->
  (forall d, In d diffs -> hash_key S Account (d_address d) <> hk) ->
  (forall v, content (s_accounts (last_state S s traces)) (s_value (last_state S s traces)) hk v
     <-> content (s_accounts s) (s_value s) hk v)
  /\ s_storage (last_state S s traces) hk = s_storage s hk /\ s_slot (last_state S s traces) hk = s_slot s hk.
Proof. exact no_other. Qed.
