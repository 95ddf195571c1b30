(** Keys and values themselves, not only their hashes. *)
From Soundness Require Export Binding.

Section Messages.
Variable S : scheme.
Hypothesis OK : scheme_ok S.

Lemma length_account_word : forall v i, length v = 192 -> i < 6 -> length (account_word v i) = 32.
Proof. intros v i HV HI. unfold account_word. rewrite firstn_length, skipn_length. lia. Qed.

Lemma skipn_more : forall (v : bytes) a b, skipn a (skipn b v) = skipn (a + b) v.
Proof. induction v as [|x v IH]; intros a [|b]; rewrite ?Nat.add_0_r; auto.
  - now rewrite !skipn_nil.
  - rewrite Nat.add_succ_r. cbn [skipn]. apply IH.
Qed.

Lemma account_words : forall v, length v = 192 ->
  v = account_word v 0 ++ account_word v 1 ++ account_word v 2 ++ account_word v 3 ++ account_word v 4 ++ account_word v 5.
Proof.
  intros v HV. unfold account_word.
  assert (H : forall i, firstn 32 (skipn (32 * i) v) ++ skipn (32 * Datatypes.S i) v = skipn (32 * i) v).
  { intro i. replace (32 * Datatypes.S i) with (32 + 32 * i) by lia.
    rewrite <- skipn_more. apply firstn_skipn. }
  pose proof (H 0) as H0. pose proof (H 1) as H1. pose proof (H 2) as H2. pose proof (H 3) as H3. pose proof (H 4) as H4.
  pose proof (H 5) as H5. rewrite (skipn_all2 (n := 32 * 6) v) in H5 by lia. rewrite app_nil_r in H5.
  rewrite H5, H4, H3, H2, H1, H0. reflexivity.
Qed.

Lemma word_message_injective : forall x y, length x = 32 -> length y = 32 -> encode_word S x = encode_word S y -> x = y.
Proof.
  intros x y HX HY H. destruct (ok_word S OK x HX) as (_ & _ & <-). destruct (ok_word S OK y HY) as (_ & _ & <-).
  now rewrite H.
Qed.

Lemma length_encode_word : forall x, length x = 32 -> length (encode_word S x) = word_length S.
Proof. intros x H. now apply (ok_word S OK). Qed.

Lemma length_value_message : forall K v, length v = value_length K -> length (value_message S K v)
  = match K with Account => 3 * word_length S + 128 | Storage => 64 end.
Proof.
  intros [|] v HV; cbn [value_message value_length] in *; [|now apply (ok_bytes32 S OK)].
  rewrite !app_length, !length_encode_word, (proj1 (ok_bytes32 S OK _ (length_account_word v 4 HV ltac:(lia))))
    by (apply length_account_word; [assumption|lia]).
  rewrite !length_account_word by (assumption || lia). lia.
Qed.

Lemma value_message_injective : forall K v v', length v = value_length K -> length v' = value_length K ->
  value_message S K v = value_message S K v' -> v = v'.
Proof.
  intros [|] v v' HV HV' H; cbn [value_message value_length] in *; [|now apply (ok_bytes32_injective S OK)].
  assert (L : forall i, i < 6 -> length (account_word v i) = 32) by (intros; now apply length_account_word).
  assert (L' : forall i, i < 6 -> length (account_word v' i) = 32) by (intros; now apply length_account_word).
  apply app_injective in H as [E0 H]; [|rewrite !length_encode_word by (apply L || apply L'; lia); reflexivity].
  apply app_injective in H as [E1 H]; [|rewrite !length_encode_word by (apply L || apply L'; lia); reflexivity].
  apply app_injective in H as [E2 H]; [|rewrite L, L' by lia; reflexivity].
  apply app_injective in H as [E3 H]; [|rewrite L, L' by lia; reflexivity].
  apply app_injective in H as [E4 E5];
    [|rewrite (proj1 (ok_bytes32 S OK _ (L 4 ltac:(lia)))), (proj1 (ok_bytes32 S OK _ (L' 4 ltac:(lia)))); reflexivity].
  apply word_message_injective in E0; [|apply L; lia|apply L'; lia].
  apply word_message_injective in E1; [|apply L; lia|apply L'; lia].
  apply (ok_bytes32_injective S OK) in E4; [|apply L; lia|apply L'; lia].
  apply word_message_injective in E5; [|apply L; lia|apply L'; lia].
  rewrite (account_words v HV), (account_words v' HV'). congruence.
Qed.

Lemma length_key_message : forall K k k', length k = key_length K -> length k' = key_length K ->
  length (key_message S K k) = length (key_message S K k').
Proof.
  intros [|] k k' H H'; cbn [key_message key_length] in *; [now apply (ok_address S OK)|].
  now rewrite (proj1 (ok_bytes32 S OK k H)), (proj1 (ok_bytes32 S OK k' H')).
Qed.

Lemma canonical_key_message : forall K k, length k = key_length K -> canonical S (key_message S K k) = true.
Proof.
  intros [|] k H; cbn [key_message key_length] in *; [now apply (ok_address_canonical S OK)|now apply (ok_bytes32 S OK)].
Qed.

Lemma key_message_injective : forall K k k', length k = key_length K -> length k' = key_length K ->
  key_message S K k = key_message S K k' -> k = k'.
Proof.
  intros [|] k k' H H'; cbn [key_message key_length] in *; [now apply (ok_address_injective S OK)|
    now apply (ok_bytes32_injective S OK)].
Qed.

End Messages.

(** A leaf holds a key and a value: its hashes are theirs. *)
Definition holds (S : scheme) (K : kind) (l : leaf) (key value : bytes) : Prop :=
  length key = key_length K /\ hKey l = hash_key S K key
  /\ length value = value_length K /\ canonical S (value_message S K value) = true
  /\ hVal l = hash S (value_message S K value).

(** 1b. The accepted value is the one that the leaf holds, and its key is the requested one; or a break is found. *)
Definition value_binds_with (on : rule -> bool) : Prop :=
  forall S K t key proof i v l key' v', scheme_ok S -> honest S t -> length key = key_length K ->
  check_with on S K (root S t) key proof = Ok (Some (i, v)) ->
  get t i = Some l -> holds S K l key' v' ->
  (key = key' /\ v = v')
  \/ broken S (Collision (key_message S K key) (key_message S K key')
               :: Collision (value_message S K v) (value_message S K v') :: candidates S K t proof).

Lemma accepted_value : forall on S K root key proof i v, check_with on S K root key proof = Ok (Some (i, v)) ->
  on ValueLength = true -> on ValueCanonical = true ->
  length v = value_length K /\ canonical S (value_message S K v) = true.
Proof.
  intros on S K root key proof i v H HL HC.
  destruct proof as [served p | served p q]; [|now apply absence_accepted in H as [? _]].
  apply existence_accepted in H as (d & HA & HEq). inversion HEq; subst.
  pose proof (value_of_existence _ _ _ _ _ _ _ _ HA HL) as HLen. split; [exact HLen|].
  pose proof (decode_proof_facts _ _ _ _ _ _ (ae_decode _ _ _ _ _ _ _ _ HA)) as F.
  pose proof (d_preimage _ _ _ _ _ _ F) as HP. rewrite <- (d_value _ _ _ _ _ _ F) in HP.
  now apply (preimage_of_value _ _ _ _ _ _ HP HLen).
Qed.

Definition value_rules : list rule := existence_rules ++ [ValueCanonical].

Theorem value_binds_by : forall on, includes on value_rules -> value_binds_with on.
Proof.
  intros on HI S K t key proof i v l key' v' OK HT HK H HG (HK' & EK & HV' & HC' & EV).
  unfold value_rules in HI. apply includes_app in HI as [HE HI].
  destruct (existence_binds_by on HE S K t key proof i v OK HT H) as [(l0 & HG0 & EK0 & EV0)|HB];
    [|right; eapply broken_incl; [|exact HB]; intros; now do 2 right].
  rewrite HG in HG0. inversion HG0; subst l0.
  destruct (accepted_value on S K (root S t) key proof i v H ltac:(eapply includes_on; [exact HE|simpl; tauto])
    ltac:(eapply includes_on; [exact HI|simpl; tauto])) as [HL HC].
  destruct (broken_collision S (key_message S K key) (key_message S K key')
    (Collision (key_message S K key) (key_message S K key')
     :: Collision (value_message S K v) (value_message S K v') :: candidates S K t proof)) as [E|HB];
    [now left | now apply length_key_message | now apply canonical_key_message | now apply canonical_key_message
     | unfold hash_key in *; congruence | | now right].
  destruct (broken_collision S (value_message S K v) (value_message S K v')
    (Collision (key_message S K key) (key_message S K key')
     :: Collision (value_message S K v) (value_message S K v') :: candidates S K t proof)) as [E'|HB];
    [right; now left | rewrite !length_value_message by assumption; reflexivity | assumption | assumption
     | congruence | | now right].
  left. split; [eapply key_message_injective | eapply value_message_injective]; eassumption.
Qed.

Theorem value_binds : value_binds_with all_rules.
Proof. apply value_binds_by, includes_all. Qed.
