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

(** A state: accounts, and for each the tree of its slots, with the values that are served for them. *)
Record world := { accounts : tree; account_value : N -> bytes; storage : N -> tree; slot_value : N -> N -> bytes }.

Record honest_world (S : scheme) (w : world) : Prop := {
  world_accounts : honest S (accounts w);
  world_values : stores S Account (accounts w) (account_value w);
  world_storage : forall i l, get (accounts w) i = Some l -> (2 <= i)%N ->
    honest S (storage w i) /\ storage_root_of (account_value w i) = root S (storage w i)
    /\ stores S Storage (storage w i) (slot_value w i);
}.

(** Where a key is proven to have a value: that this is not the value of HEAD or TAIL, and that it is the one of the leaf. *)
Definition value_candidates (S : scheme) (K : kind) (served : N -> bytes) (verdict : result verdict) : list break :=
  match verdict with
  | Ok (Some (i, value)) =>
      [Zero (value_message S K value); Collision (value_message S K value) (value_message S K (served i))]
  | _ => []
  end.

(** An accepted value is one that the tree is served with, away from both ends. *)
Lemma accepted_is_served : forall S K t served key proof i v, scheme_ok S -> honest S t -> stores S K t served ->
  check S K (root S t) key proof = Ok (Some (i, v)) ->
  (exists l, get t i = Some l /\ (2 <= i)%N /\ hKey l = hash_key S K key /\ v = served i)
  \/ broken S (value_candidates S K served (check S K (root S t) key proof) ++ candidates S K t proof).
Proof.
  intros S K t served key proof i v OK HT HSt H. rewrite H. cbn [value_candidates].
  match goal with |- _ \/ broken S ?c => set (cs := c) end.
  destruct (existence_binds S K t key proof i v OK HT H) as [(l & HG & HK & HV)|HB];
    [|right; eapply broken_incl; [|exact HB]; intros; apply in_or_app; now right].
  destruct (accepted_value _ _ _ _ _ _ _ _ H eq_refl eq_refl) as [HL HC].
  destruct (N.lt_ge_cases i 2) as [HI|HI].
  { right. apply broken_in with (Zero (value_message S K v)); [now left|].
    assert (HZ : hVal l = zero_digest).
    { destruct (honest_head S t HT) as (h & HH & _ & HHV & _). destruct (honest_tail S t HT) as (e & HE & _ & HEV & _).
      assert (i = 0%N \/ i = 1%N) as [->| ->] by lia; congruence. }
    cbn [is_break]. rewrite (length_value_message S OK K v HL), HC, <- HV, HZ.
    destruct (Nat.eqb_spec (match K with Account => 3 * word_length S + 128 | Storage => 64 end) 0);
      [destruct K; lia|]. apply equal_bytes_refl. }
  pose proof (HSt i l HG) as HS. destruct (N.ltb_spec i 2); [lia|]. destruct HS as (HL' & HC' & HV' & _).
  destruct (broken_collision S (value_message S K v) (value_message S K (served i)) cs) as [HE|HB];
    [right; now left | rewrite !length_value_message by assumption; reflexivity | assumption | assumption
    | congruence | | now right].
  left. exists l. repeat split; try assumption. eapply value_message_injective; eassumption.
Qed.

Definition slot_candidates (S : scheme) (w : world) (state_root address key : bytes) (account : leaf_proof)
  (slot : option leaf_proof) : list break :=
  let verdict := check S Account state_root address account in
  (value_candidates S Account (account_value w) verdict ++ candidates S Account (accounts w) account)
  ++ match verdict with
     | Ok (Some (i, value)) =>
         Collision (root_message S (storage w i)) (root_message S (empty_tree S))
         :: match slot with
            | Some proof =>
                value_candidates S Storage (slot_value w i) (check S Storage (root S (storage w i)) key proof)
                ++ candidates S Storage (storage w i) proof
            | None => []
            end
     | _ => []
     end.

(** A slot that is shown is the value of a leaf of the storage of the account, away from both ends; if none is shown, the
    account does not exist or its storage has no such leaf. Or a break is found. *)
Definition slot_shown (S : scheme) (w : world) (address key : bytes) (shown : option bytes) : Prop :=
  match shown with
  | Some value => exists i a j l, get (accounts w) i = Some a /\ (2 <= i)%N /\ hKey a = hash_key S Account address
      /\ get (storage w i) j = Some l /\ (2 <= j)%N /\ hKey l = hash_key S Storage key /\ value = slot_value w i j
  | None => forall i a j l, get (accounts w) i = Some a -> (2 <= i)%N -> hKey a = hash_key S Account address ->
      get (storage w i) j = Some l -> (2 <= j)%N -> hKey l <> hash_key S Storage key
  end.

Theorem slot_binds : forall S w address key account slot shown, scheme_ok S -> honest_world S w ->
  check_slot S (empty_root S) (root S (accounts w)) address key account slot = Ok shown ->
  slot_shown S w address key shown
  \/ broken S (slot_candidates S w (root S (accounts w)) address key account slot).
Proof.
  intros S w address key account slot shown OK HW H. unfold check_slot in H. unfold slot_candidates. cbv zeta.
  destruct (check S Account (root S (accounts w)) address account) as [[[i value]|]|c] eqn:HA; [| |discriminate].
  2: { destruct slot; [discriminate|]. inversion H; subst.
       destruct (absence_binds S Account (accounts w) address account OK (world_accounts S w HW) HA) as [HN|HB].
       - left. intros i a j l HG _ HK _ _ _. exact (HN i a HG HK).
       - right. eapply broken_incl; [|exact HB]. intros. apply in_or_app. left. apply in_or_app. now right. }
  destruct (accepted_is_served _ _ _ _ _ _ _ _ OK (world_accounts S w HW) (world_values S w HW) HA)
    as [(a & HG & HI & HK & ->)|HB];
    [|right; rewrite HA in HB; eapply broken_incl; [|exact HB]; intros; apply in_or_app; now left].
  match goal with |- _ \/ broken S (?first ++ ?rest) => set (cs := first ++ rest);
    assert (Hrest : forall b, In b rest -> In b cs) by (intros; apply in_or_app; now right) end.
  destruct (world_storage S w HW i a HG HI) as (HTree & HRoot & HSlots).
  assert (Hone : forall i' a', get (accounts w) i' = Some a' -> hKey a' = hash_key S Account address -> i' = i).
  { intros i' a' HG' HK'. eapply (keys_differ S (accounts w) (world_accounts S w HW)); [exact HG'|exact HG|congruence]. }
  destruct slot as [proof|].
  - rewrite HRoot in H. destruct (check S Storage (root S (storage w i)) key proof) as [[[j v]|]|c] eqn:HP; [| |discriminate];
      inversion H; subst.
    + destruct (accepted_is_served _ _ _ _ _ _ _ _ OK HTree HSlots HP) as [(l & HGl & HJ & HKl & ->)|HB].
      * left. exists i, a, j, l. auto 10.
      * right. rewrite HP in HB. eapply broken_incl; [|exact HB]. intros b Hb. apply Hrest. now right.
    + destruct (absence_binds S Storage (storage w i) key proof OK HTree HP) as [HN|HB].
      * left. intros i' a' j l HG' _ HK' HGl _ HKl. rewrite (Hone i' a' HG' HK') in HGl. exact (HN j l HGl HKl).
      * right. eapply broken_incl; [|exact HB]. intros b Hb. apply Hrest. right. exact Hb.
  - destruct (equal_bytes (storage_root_of (account_value w i)) (empty_root S)) eqn:HEq; [|discriminate].
    inversion H; subst. apply equal_bytes_eq in HEq. rewrite HRoot in HEq.
    destruct (broken_collision S (root_message S (storage w i)) (root_message S (empty_tree S)) cs) as [HM|HB];
      [apply Hrest; now left | rewrite !length_root_message by assumption; reflexivity
      | apply canonical_root_message; [assumption|apply (honest_free S _ HTree)]
      | apply canonical_root_message; [assumption|apply max_leaves_two; assumption] | exact HEq | | now right].
    left. intros i' a' j l HG' _ HK' HGl HJ _. rewrite (Hone i' a' HG' HK') in HGl.
    unfold root_message in HM. apply app_injective in HM as [HM _]; [|now rewrite !length_word].
    apply (word_injective S OK) in HM; [|apply (honest_free S _ HTree)|apply max_leaves_two; assumption].
    cbn [next_free empty_tree] in HM. rewrite (honest_missing S _ HTree j) in HGl; [discriminate|lia].
Qed.

(** The whole answer: what is shown of the account, and of each slot that was asked for. *)
Definition account_shown (S : scheme) (w : world) (address : bytes) (shown : verdict) : Prop :=
  match shown with
  | Some (i, value) => exists a, get (accounts w) i = Some a /\ (2 <= i)%N /\ hKey a = hash_key S Account address
      /\ value = account_value w i
  | None => forall i a, get (accounts w) i = Some a -> hKey a <> hash_key S Account address
  end.

Fixpoint answer_candidates (S : scheme) (w : world) (state_root address : bytes) (account : leaf_proof)
  (keys : list bytes) (slots : list (option leaf_proof)) : list break :=
  match keys with
  | [] => value_candidates S Account (account_value w) (check S Account state_root address account)
      ++ candidates S Account (accounts w) account
  | key :: keys => slot_candidates S w state_root address key account (hd None slots)
      ++ answer_candidates S w state_root address account keys (tl slots)
  end.

Lemma slots_bind : forall S w address account, scheme_ok S -> honest_world S w -> forall keys slots shown,
  check_slots S (empty_root S) (root S (accounts w)) address account keys slots = Ok shown ->
  Forall2 (slot_shown S w address) keys shown
  \/ broken S (answer_candidates S w (root S (accounts w)) address account keys slots).
Proof.
  intros S w address account OK HW. induction keys as [|key keys IH]; intros slots shown H; cbn [check_slots] in H.
  - inversion H; subst. left. constructor.
  - passes H. passes H. inversion H; subst. cbn [answer_candidates].
    destruct (slot_binds _ _ _ _ _ _ _ OK HW Heqr) as [HS|HB];
      [|right; eapply broken_incl; [|exact HB]; intros; apply in_or_app; now left].
    destruct (IH _ _ Heqr0) as [HF|HB]; [left; now constructor|].
    right. eapply broken_incl; [|exact HB]. intros. apply in_or_app. now right.
Qed.

Theorem answer_binds : forall S w address keys account slots of_account of_slots, scheme_ok S -> honest_world S w ->
  check_answer S (empty_root S) (root S (accounts w)) address keys account slots = Ok (of_account, of_slots) ->
  (account_shown S w address of_account /\ Forall2 (slot_shown S w address) keys of_slots)
  \/ broken S (answer_candidates S w (root S (accounts w)) address account keys slots).
Proof.
  intros S w address keys account slots of_account of_slots OK HW H. unfold check_answer in H.
  passes H. passes H. passes H. passes H. passes H. passes H. inversion H; subst.
  destruct (slots_bind _ _ _ _ OK HW _ _ _ Heqr2) as [HF|HB]; [|now right].
  assert (Hcs : forall b, In b (value_candidates S Account (account_value w)
      (check S Account (root S (accounts w)) address account) ++ candidates S Account (accounts w) account) ->
      forall keys slots, In b (answer_candidates S w (root S (accounts w)) address account keys slots)).
  { intros b Hb ks. induction ks as [|k0 ks IH]; intro ss; cbn [answer_candidates]; [exact Hb|].
    apply in_or_app. right. apply IH. }
  destruct of_account as [[i value]|].
  - destruct (accepted_is_served _ _ _ _ _ _ _ _ OK (world_accounts S w HW) (world_values S w HW) Heqr1)
      as [(leaf & HG & HI & HK & HV)|HB]; [left; split; [exists leaf; auto|exact HF]|].
    right. eapply broken_incl; [|exact HB]. intros b Hb. now apply Hcs.
  - destruct (absence_binds S Account (accounts w) address account OK (world_accounts S w HW) Heqr1) as [HN|HB];
      [left; split; [exact HN|exact HF]|].
    right. eapply broken_incl; [|exact HB]. intros b Hb. apply Hcs. apply in_or_app. now right.
Qed.
