(** 17. The traces of a block are in order, and each counts. No verdict about the state takes this: [transition_binds_by]. *)
From Soundness Require Export TransitionWorld.
From Coq Require Export Sorted.

Definition account_kinds (traces : list account_trace) : list trace_kind := map (fun t => kind_of (snd (fst t))) traces.

(** An account has one trace of its own in a block, or is deleted and created again. *)
Definition one_account (kinds : list trace_kind) : bool :=
  match kinds with [] | [_] | [KDelete; KInsert] => true | _ => false end.

(** Traces of slots go with that of their account. *)
Definition allowed_slots (t : account_trace) : bool :=
  forallb (fun s => allowed_before (kind_of (snd (fst t))) (kind_of (snd s))) (snd t).

Definition trace_count (traces : list account_trace) : nat := list_sum (map (fun t => Datatypes.S (length (snd t))) traces).

Definition orderly_segment (segment : bytes * list entry) : Prop :=
  let traces := segments_accounts [segment] in
  one_account (account_kinds traces) = true /\ forallb allowed_slots traces = true
  /\ trace_count traces = length (snd segment).

(** Accounts come in the order of their key hashes, so each once. *)
Definition orderly_block (S : scheme) (block : list entry) : Prop :=
  Sorted below (map (fun segment => hash_key S Account (fst segment)) (segments_of block))
  /\ Forall orderly_segment (segments_of block).

Definition order_rules : list trace_rule := [SegmentOrder; OnlyInsertion; AllowedBefore; NoOrphan].

Section Order.
Variable on : trace_rule -> bool.
Hypothesis ON : Forall (fun r => on r = true) order_rules.
Variable S : scheme.
Variable empty_root : bytes.

Lemma ordered : forall r b, In r order_rules -> on r && negb b = false -> b = true.
Proof. intros r b HI H. rewrite (proj1 (Forall_forall _ _) ON r HI) in H. now destruct b. Qed.

Definition may_follow (last : option trace_kind) (kinds : list trace_kind) : bool :=
  match last, kinds with None, _ => one_account kinds | _, [] => true | Some KDelete, [KInsert] => true | _, _ => false end.

Lemma entries_orderly : forall entries came root address last slots r,
  verify_entries on S empty_root came root address last slots entries = Ok r ->
  let traces := entries_accounts address slots entries in
  may_follow last (account_kinds traces) = true /\ forallb allowed_slots traces = true
  /\ trace_count traces = length slots + length entries.
Proof.
  induction entries as [|e entries IH]; intros came root address last slots r H; cbn [verify_entries entries_accounts] in *.
  - passes H. apply ordered in Heqb; [|cbn; tauto]. apply Nat.eqb_eq in Heqb. cbn. rewrite Heqb.
    destruct last as [[]|]; repeat split.
  - destruct (e_slot e) as [slot|].
    + destruct (IH _ _ _ _ _ _ H) as (H1 & H2 & H3). cbv zeta. rewrite H3, app_length. cbn [length]. repeat split; auto. lia.
    + cbv zeta in H. passes H. apply ordered in Heqb; [|cbn; tauto]. passes H. destruct a as [diff state]. passes H.
      destruct a as [diffs came']. destruct (IH _ _ _ _ _ _ Heqr1) as (H1 & H2 & H3).
      unfold verify_account in Heqr0. passes Heqr0. apply ordered in Heqb0; [|cbn; tauto].
      cbv zeta. cbn [forallb account_kinds map fst snd]. split; [|split].
      * fold (account_kinds (entries_accounts address [] entries)).
        destruct last as [[]|], (kind_of (e_trace e)), (account_kinds (entries_accounts address [] entries)) as [|[] [|]];
          cbn in *; congruence.
      * apply andb_true_intro. split; [exact Heqb0|exact H2].
      * unfold trace_count in *. cbn [map list_sum fold_right snd]. cbn [length] in *. unfold list_sum in H3. rewrite H3. lia.
Qed.

Lemma length_read_last : forall entries, length (read_last entries) = length entries.
Proof.
  intros [|e entries]; [reflexivity|]. unfold read_last. destruct (e_slot e); [reflexivity|].
  destruct (e_trace e); try reflexivity. rewrite app_length. cbn. lia.
Qed.

Lemma segments_orderly : forall segments came root last r,
  verify_segments on S empty_root came root last segments = Ok r ->
  let hashes := map (fun segment => hash_key S Account (fst segment)) segments in
  Sorted below hashes /\ match last with None => True | Some l => HdRel below l hashes end
  /\ Forall orderly_segment segments.
Proof.
  induction segments as [|[address entries] segments IH]; intros came root last r H; cbn [verify_segments] in H; cbv zeta in *.
  - destruct last; repeat constructor.
  - passes H. apply ordered in Heqb; [|cbn; tauto]. passes H. destruct a as [diffs came']. passes H. destruct a as [more came''].
    destruct (IH _ _ _ _ Heqr1) as (I1 & I2 & I3). cbn [map fst]. split; [constructor; assumption|]. split.
    + destruct last as [l|]; [constructor; now apply is_below_below|exact I].
    + constructor; [|exact I3]. apply entries_orderly in Heqr0. cbv zeta in Heqr0. destruct Heqr0 as (H1 & H2 & H3).
      unfold orderly_segment, segments_accounts. cbn [flat_map fst snd]. rewrite app_nil_r. cbv zeta.
      rewrite length_read_last in H3. repeat split; assumption.
Qed.

Lemma blocks_orderly : forall blocks came root r, verify_blocks on S empty_root came root blocks = Ok r ->
  Forall (orderly_block S) blocks.
Proof.
  induction blocks as [|block blocks IH]; intros came root r H; cbn [verify_blocks] in H; [constructor|].
  passes H. destruct a as [diffs came']. passes H. destruct a as [more last]. constructor; [|eapply IH; eassumption].
  apply segments_orderly in Heqr0 as (H1 & _ & H2). now split.
Qed.

End Order.

(** Of any root, honest or not. *)
Definition orderly_with (on : trace_rule -> bool) : Prop := forall S empty_root parent_root end_root blocks r,
  check_transition_with on S empty_root parent_root end_root blocks = Ok r -> Forall (orderly_block S) blocks.

Theorem orderly_by : forall on, Forall (fun r => on r = true) order_rules -> orderly_with on.
Proof.
  intros on ON S empty_root parent_root end_root blocks r H. unfold check_transition_with in H. passes H.
  destruct a as [diffs came]. eapply blocks_orderly; eassumption.
Qed.

Theorem orderly : orderly_with all_trace_rules.
Proof. apply orderly_by. apply Forall_forall. reflexivity. Qed.
