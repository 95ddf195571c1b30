(** 7. The tree of accounts on top: from the state root through an account to one of its slots. *)
From Soundness Require Export Prover.

(** HEAD and TAIL alone: the storage of an account without slots. *)
Definition empty_tree (S : scheme) : tree := {|
  get := fun i =>
    if (i =? 0)%N then Some {| prev := 0; next := 1; hKey := zero_digest; hVal := zero_digest |}
    else if (i =? 1)%N then Some {| prev := 0; next := 1; hKey := tail_key S; hVal := zero_digest |}
    else None;
  next_free := 2;
  order := [0; 1]%N;
|}.

Definition empty_root (S : scheme) : bytes := root S (empty_tree S).

Lemma empty_tree_honest : forall S, scheme_ok S -> honest S (empty_tree S).
Proof.
  intros S OK. pose proof (max_leaves_two S OK). destruct (ok_tail S OK) as (TL & TC & TB).
  constructor; cbn [get next_free order empty_tree].
  - lia.
  - intros i HI. destruct (N.eqb_spec i 0); [lia|]. destruct (N.eqb_spec i 1); [lia|reflexivity].
  - intros i l HG. pose proof (ok_zero_canonical S OK).
    destruct (i =? 0)%N; [|destruct (i =? 1)%N; [|discriminate]]; inversion HG; cbn [prev next hKey hVal];
      repeat split; try assumption; lia.
  - eexists. split; [reflexivity|]. auto.
  - eexists. split; [reflexivity|]. auto.
  - exists [1%N]. split; [reflexivity|]. split; [|reflexivity]. cbn [chained]. split; [|exact I].
    eexists. eexists. split; [reflexivity|]. split; [reflexivity|]. auto.
  - intro i. cbn [In]. destruct (N.eqb_spec i 0); [subst; split; [discriminate|auto]|].
    destruct (N.eqb_spec i 1); [subst; split; [discriminate|auto]|]. split; [intros [?|[?|[]]]; congruence|tauto].
Qed.

(** A state: accounts, and for each the tree of its slots. *)
Record world := { accounts : tree; account_value : N -> bytes; storage : N -> tree }.

Record honest_world (S : scheme) (w : world) : Prop := {
  world_accounts : honest S (accounts w);
  world_values : stores S Account (accounts w) (account_value w);
  world_storage : forall i l, get (accounts w) i = Some l -> (2 <= i)%N ->
    honest S (storage w i) /\ storage_root_of (account_value w i) = root S (storage w i);
}.

Definition slot_candidates (S : scheme) (w : world) (state_root address : bytes) (account : leaf_proof)
  (slot : option leaf_proof) : list break :=
  candidates S Account (accounts w) account
  ++ match check S Account state_root address account with
     | Ok (Some (i, value)) =>
         [Zero (value_message S Account value);
          Collision (value_message S Account value) (value_message S Account (account_value w i));
          Collision (root_message S (storage w i)) (root_message S (empty_tree S))]
         ++ match slot with Some proof => candidates S Storage (storage w i) proof | None => [] end
     | _ => []
     end.

(** A slot that is shown is a leaf of the storage of the account; if none is shown, the account does not exist or its storage
    has no such leaf. Or a break is found. *)
Definition slot_shown (S : scheme) (w : world) (address key : bytes) (shown : option bytes) : Prop :=
  match shown with
  | Some value => exists i a j l, get (accounts w) i = Some a /\ (2 <= i)%N /\ hKey a = hash_key S Account address
      /\ get (storage w i) j = Some l /\ hKey l = hash_key S Storage key /\ hVal l = hash S (value_message S Storage value)
  | None => forall i a j l, get (accounts w) i = Some a -> (2 <= i)%N -> hKey a = hash_key S Account address ->
      get (storage w i) j = Some l -> (2 <= j)%N -> hKey l <> hash_key S Storage key
  end.

Theorem slot_binds : forall S w address key account slot shown, scheme_ok S -> honest_world S w ->
  check_slot S (empty_root S) (root S (accounts w)) address key account slot = Ok shown ->
  slot_shown S w address key shown
  \/ broken S (slot_candidates S w (root S (accounts w)) address account slot).
Proof.
  intros S w address key account slot shown OK HW H. unfold check_slot in H. unfold slot_candidates.
  destruct (check S Account (root S (accounts w)) address account) as [[[i value]|]|c] eqn:HA; [| |discriminate].
  2: { destruct slot; [discriminate|]. inversion H; subst.
       destruct (absence_binds S Account (accounts w) address account OK (world_accounts S w HW) HA) as [HN|HB].
       - left. intros i a j l HG _ HK _ _ _. exact (HN i a HG HK).
       - right. eapply broken_incl; [|exact HB]. intros. apply in_or_app. now left. }
  match goal with |- _ \/ broken S ?c => set (cs := c) end.
  assert (Hfirst : forall b, In b (candidates S Account (accounts w) account) -> In b cs)
    by (intros; apply in_or_app; now left).
  assert (Hrest : forall b, In b ([Zero (value_message S Account value);
          Collision (value_message S Account value) (value_message S Account (account_value w i));
          Collision (root_message S (storage w i)) (root_message S (empty_tree S))]
         ++ match slot with Some proof => candidates S Storage (storage w i) proof | None => [] end) -> In b cs)
    by (intros; apply in_or_app; now right).
  destruct (existence_binds S Account (accounts w) address account i value OK (world_accounts S w HW) HA)
    as [(a & HG & HK & HV)|HB]; [|right; eapply broken_incl; [|exact HB]; assumption].
  destruct (accepted_value _ _ _ _ _ _ _ _ HA eq_refl eq_refl) as [HL HC].
  destruct (N.lt_ge_cases i 2) as [HI|HI].
  { right. apply broken_in with (Zero (value_message S Account value)); [apply Hrest; now left|].
    assert (HZ : hVal a = zero_digest).
    { destruct (honest_head S _ (world_accounts S w HW)) as (h & HH & _ & HHV & _).
      destruct (honest_tail S _ (world_accounts S w HW)) as (e & HE & _ & HEV & _).
      assert (i = 0%N \/ i = 1%N) as [->| ->] by lia; congruence. }
    cbn [is_break]. rewrite (length_value_message S OK Account value HL), HC, <- HV, HZ.
    destruct (Nat.eqb_spec (3 * word_length S + 128) 0); [lia|]. apply equal_bytes_refl. }
  pose proof (world_values S w HW i a HG) as HSt. destruct (N.ltb_spec i 2); [lia|]. destruct HSt as (HL' & HC' & HV' & _).
  destruct (broken_collision S (value_message S Account value) (value_message S Account (account_value w i)) cs)
    as [HE|HB]; [apply Hrest; right; now left | rewrite !length_value_message by assumption; reflexivity | assumption
    | assumption | congruence | | now right].
  apply (value_message_injective S OK Account) in HE; [|assumption|assumption]. subst value.
  destruct (world_storage S w HW i a HG HI) as [HTree HRoot].
  assert (Hone : forall i' a', get (accounts w) i' = Some a' -> hKey a' = hash_key S Account address -> i' = i).
  { intros i' a' HG' HK'. eapply (keys_differ S (accounts w) (world_accounts S w HW)); [exact HG'|exact HG|congruence]. }
  destruct slot as [proof|].
  - rewrite HRoot in H. destruct (check S Storage (root S (storage w i)) key proof) as [[[j v]|]|c] eqn:HP; [| |discriminate];
      inversion H; subst.
    + destruct (existence_binds S Storage (storage w i) key proof j v OK HTree HP) as [(l & HGl & HKl & HVl)|HB].
      * left. exists i, a, j, l. auto 10.
      * right. eapply broken_incl; [|exact HB]. intros b Hb. apply Hrest. apply in_or_app. now right.
    + destruct (absence_binds S Storage (storage w i) key proof OK HTree HP) as [HN|HB].
      * left. intros i' a' j l HG' _ HK' HGl _ HKl. rewrite (Hone i' a' HG' HK') in HGl. exact (HN j l HGl HKl).
      * right. eapply broken_incl; [|exact HB]. intros b Hb. apply Hrest. apply in_or_app. now right.
  - destruct (equal_bytes (storage_root_of (account_value w i)) (empty_root S)) eqn:HEq; [|discriminate].
    inversion H; subst. apply equal_bytes_eq in HEq. rewrite HRoot in HEq.
    destruct (broken_collision S (root_message S (storage w i)) (root_message S (empty_tree S)) cs) as [HM|HB];
      [apply Hrest; right; right; now left | rewrite !length_root_message by assumption; reflexivity
      | apply canonical_root_message; [assumption|apply (honest_free S _ HTree)]
      | apply canonical_root_message; [assumption|apply max_leaves_two; assumption] | exact HEq | | now right].
    left. intros i' a' j l HG' _ HK' HGl HJ _. rewrite (Hone i' a' HG' HK') in HGl.
    unfold root_message in HM. apply app_injective in HM as [HM _]; [|now rewrite !length_word].
    apply (word_injective S OK) in HM; [|apply (honest_free S _ HTree)|apply max_leaves_two; assumption].
    cbn [next_free empty_tree] in HM. rewrite (honest_missing S _ HTree j) in HGl; [discriminate|lia].
Qed.
