(** 12. From a state root through an account's four fields to its slots: src/verify/anchor/eth-proof.ts. *)
From Soundness Require Export TrieBinding.

Record l1_account := { l1_nonce : N; l1_balance : N; l1_storage_root : bytes; l1_code_hash : bytes }.

(** *** The rules, after JSON *)

(** [decodeAccount]. *)
Definition decode_account (value : bytes) : result l1_account :=
  match decode value with
  | None => Error RLP_NON_CANONICAL
  | Some (List [nonce; balance; Str storage_root; Str code_hash]) =>
      match decode_integer nonce 8, decode_integer balance 32 with
      | Some nonce, Some balance =>
          if (length storage_root =? 32) && (length code_hash =? 32)
          then Ok {| l1_nonce := nonce; l1_balance := balance; l1_storage_root := storage_root; l1_code_hash := code_hash |}
          else Error L1_ACCOUNT_MALFORMED
      | _, _ => Error L1_ACCOUNT_MALFORMED
      end
  | Some _ => Error L1_ACCOUNT_MALFORMED
  end.

(** [decodeSlotValue]: a slot that is not in the trie is zero, and a zero is never in the trie. *)
Definition decode_slot (encoded : option bytes) : result N :=
  match encoded with
  | None => Ok 0%N
  | Some value =>
      match decode value with
      | None => Error RLP_NON_CANONICAL
      | Some i =>
          match decode_integer i 32 with
          | Some n => if (n =? 0)%N then Error L1_VALUE_MALFORMED else Ok n
          | None => Error L1_VALUE_MALFORMED
          end
      end
  end.

Section Check.

Variable hash : bytes -> bytes.

Definition check_account (state_root address : bytes) (nodes : list bytes) : result (option l1_account) :=
  take value from verify_trie hash state_root (hash address) nodes;
  match value with
  | None => Ok None
  | Some value => take account from decode_account value; Ok (Some account)
  end.

Definition check_eth_slot (storage_root key : bytes) (nodes : list bytes) : result N :=
  take value from verify_trie hash storage_root (hash key) nodes;
  decode_slot value.

Fixpoint check_eth_slots (storage_root : bytes) (keys : list bytes) (proofs : list (list bytes)) : result (list N) :=
  match keys with
  | [] => Ok []
  | key :: keys =>
      take slot from check_eth_slot storage_root key (hd [] proofs);
      take slots from check_eth_slots storage_root keys (tl proofs);
      Ok (slot :: slots)
  end.

(** [verifyEthProof], of the nodes alone: an account that does not exist has no storage. *)
Definition check_eth (state_root address : bytes) (nodes : list bytes) (keys : list bytes) (proofs : list (list bytes))
  : result (option l1_account * list N) :=
  take account from check_account state_root address nodes;
  let storage_root := match account with Some a => l1_storage_root a | None => hash empty_node end in
  take slots from check_eth_slots storage_root keys proofs;
  Ok (account, slots).

End Check.

(** *** Integers have one encoding *)

Lemma byte_count_least : forall n, n <> 0%N -> (256 ^ (N.of_nat (byte_count n) - 1) <= n)%N.
Proof.
  intros n H. unfold byte_count. rewrite N2Nat.id. apply N.le_trans with (2 ^ N.log2 n)%N.
  - change 256%N with (2 ^ 8)%N. rewrite <- N.pow_mul_r. apply N.pow_le_mono_r; [lia|].
    rewrite N.size_log2 by assumption. pose proof (N.div_mod (N.succ (N.log2 n) + 7) 8 ltac:(lia)) as E.
    set (q := ((N.succ (N.log2 n) + 7) / 8)%N) in *. set (r := ((N.succ (N.log2 n) + 7) mod 8)%N) in *. clearbody q r. lia.
  - apply N.log2_spec. lia.
Qed.

Lemma byte_count_most : forall n k, (n < 256 ^ N.of_nat k)%N -> byte_count n <= k.
Proof.
  intros n k H. destruct (N.eq_dec n 0) as [->|HN]; [cbn; lia|]. pose proof (byte_count_least n HN) as HL.
  assert (H2 : (N.of_nat (byte_count n) - 1 < N.of_nat k)%N) by (apply (N.pow_lt_mono_r_iff 256); lia).
  lia.
Qed.

Lemma decode_minimal : forall n k, (n < 256 ^ N.of_nat k)%N -> decode_integer (Str (minimal n)) k = Some n.
Proof.
  intros n k H. unfold decode_integer.
  assert (HL : length (minimal n) = byte_count n) by apply length_big_endian.
  rewrite HL, (proj2 (Nat.leb_le _ _) (byte_count_most n k H)), integer_minimal.
  destruct (minimal n) as [|x s] eqn:E; [reflexivity|]. destruct (Byte.eqb x x00) eqn:EX; [exfalso|reflexivity].
  apply byte_eqb_eq in EX. subst x. pose proof (integer_minimal n) as HI. rewrite E in HI. change (integer s = n) in HI.
  pose proof (integer_bounded s) as HB. cbn [length] in HL. destruct (N.eq_dec n 0) as [->|HN]; [discriminate E|].
  pose proof (byte_count_least n HN) as HM. rewrite <- HL in HM.
  replace (N.of_nat (S (length s)) - 1)%N with (N.of_nat (length s)) in HM by lia. lia.
Qed.

Definition encode_account (a : l1_account) : bytes :=
  encode (List [Str (minimal (l1_nonce a)); Str (minimal (l1_balance a)); Str (l1_storage_root a); Str (l1_code_hash a)]).
Definition encode_slot (n : N) : bytes := encode (Str (minimal n)).

Record account_ok (a : l1_account) : Prop := {
  ok_nonce : (l1_nonce a < 2 ^ 64)%N;
  ok_balance : (l1_balance a < 2 ^ 256)%N;
  ok_storage_root : length (l1_storage_root a) = 32;
  ok_code_hash : length (l1_code_hash a) = 32;
}.

Lemma length_encode_str : forall s, length s <= 32 -> length (encode (Str s)) <= 33.
Proof.
  intros s H. cbn [encode]. destruct (is_small s); [lia|]. unfold prefix. rewrite app_length.
  destruct (N.ltb_spec (N.of_nat (length s)) 56); cbn [length]; lia.
Qed.

Lemma length_minimal : forall n k, (n < 256 ^ N.of_nat k)%N -> length (minimal n) <= k.
Proof. intros n k H. unfold minimal. rewrite length_big_endian. now apply byte_count_most. Qed.

Theorem account_read : forall a, account_ok a -> decode_account (encode_account a) = Ok a.
Proof.
  intros a OK. pose proof (length_minimal (l1_nonce a) 8 (ok_nonce a OK)) as H1.
  pose proof (length_minimal (l1_balance a) 32 (ok_balance a OK)) as H2.
  pose proof (ok_storage_root a OK) as H3. pose proof (ok_code_hash a OK) as H4.
  unfold decode_account, encode_account. rewrite rlp_complete.
  - rewrite (decode_minimal _ 8) by apply (ok_nonce a OK). rewrite (decode_minimal _ 32) by apply (ok_balance a OK).
    rewrite H3, H4. now destruct a.
  - pose proof (length_encode_str (minimal (l1_nonce a)) ltac:(lia)). pose proof (length_encode_str (minimal (l1_balance a)) H2).
    pose proof (length_encode_str (l1_storage_root a) ltac:(lia)). pose proof (length_encode_str (l1_code_hash a) ltac:(lia)).
    set (l := [Str (minimal (l1_nonce a)); Str (minimal (l1_balance a)); Str (l1_storage_root a); Str (l1_code_hash a)]).
    assert (HL : length (flat_map encode l) <= 132).
    { unfold l. cbn [flat_map]. rewrite !app_length. cbn [length]. lia. }
    change (encode (List l)) with (prefix 192 (N.of_nat (length (flat_map encode l))) ++ flat_map encode l).
    rewrite app_length. unfold prefix. destruct (N.ltb_spec (N.of_nat (length (flat_map encode l))) 56); cbn [length]; [lia|].
    unfold minimal. rewrite length_big_endian. pose proof (byte_count_bounds (N.of_nat (length (flat_map encode l)))). lia.
Qed.

Theorem slot_read : forall n, (0 < n < 2 ^ 256)%N -> decode_slot (Some (encode_slot n)) = Ok n.
Proof.
  intros n H. unfold decode_slot, encode_slot. rewrite rlp_complete.
  - rewrite (decode_minimal n 32) by apply H. destruct (N.eqb_spec n 0); [lia|reflexivity].
  - pose proof (length_encode_str (minimal n) (length_minimal n 32 (proj2 H))). lia.
Qed.

(** *** Secured tries: a value is under the hash of its key *)

Lemma join_high_low : forall x, join (high x) (low x) = x.
Proof. intros []; reflexivity. Qed.

Lemma of_to_nibbles : forall s, of_nibbles (to_nibbles s) = s.
Proof.
  induction s as [|x s IH]; [reflexivity|]. unfold to_nibbles in *. cbn [flat_map app of_nibbles].
  now rewrite join_high_low, IH.
Qed.

Lemma to_nibbles_injective : forall a b, to_nibbles a = to_nibbles b -> a = b.
Proof. intros a b H. rewrite <- (of_to_nibbles a), <- (of_to_nibbles b). now rewrite H. Qed.

(** The trie holds these values under the hashes of these keys, and nothing else. *)
Definition secured (hash : bytes -> bytes) (t : trie) (entries : list (bytes * bytes)) : Prop :=
  sized hash t /\
  forall digits v, lookup t digits = Some v <-> exists key, In (key, v) entries /\ digits = to_nibbles (hash key).

Definition secured_candidates (hash : bytes -> bytes) (t : trie) (entries : list (bytes * bytes)) (key : bytes)
  (nodes : list bytes) : list (bytes * bytes) :=
  map (fun entry => (key, fst entry)) entries ++ trie_candidates hash t (hash key) nodes.

Definition shows (entries : list (bytes * bytes)) (key : bytes) (v : option bytes) : Prop :=
  match v with Some value => In (key, value) entries | None => forall value, ~ In (key, value) entries end.

(** A collision of the hash of the key counts as a break. *)
Theorem secured_binds : forall hash t entries key nodes v, (forall m, length (hash m) = 32) -> secured hash t entries ->
  verify_trie hash (trie_root hash t) (hash key) nodes = Ok v ->
  shows entries key v \/ collision hash (secured_candidates hash t entries key nodes).
Proof.
  intros hash t entries key nodes v HL [HS HE] H. unfold secured_candidates.
  destruct (trie_binds hash t (hash key) nodes v HL HS H) as [->|HC];
    [|right; eapply collision_incl; [|exact HC]; intros; apply in_or_app; now right].
  destruct (lookup t (to_nibbles (hash key))) as [value|] eqn:E; cbn [shows].
  - apply HE in E as (k & HI & HK). apply to_nibbles_injective in HK.
    destruct (collision_in hash key k (secured_candidates hash t entries key nodes)) as [->|HC];
      [|exact HK|now left|now right].
    apply in_or_app. left. apply in_map_iff. now exists (k, value).
  - left. intros value HI. assert (HS' : lookup t (to_nibbles (hash key)) = Some value) by (apply HE; eauto). congruence.
Qed.

(** *** Honest states *)

(** Accounts and, by address, the storage of each. *)
Record l1_state := {
  state_trie : trie;
  l1_accounts : list (bytes * l1_account);
  storage_trie : bytes -> trie;
  l1_slots : bytes -> list (bytes * N);
}.

Definition account_entries (s : l1_state) : list (bytes * bytes) := map (fun e => (fst e, encode_account (snd e))) (l1_accounts s).
Definition slot_entries (s : l1_state) (address : bytes) : list (bytes * bytes) :=
  map (fun e => (fst e, encode_slot (snd e))) (l1_slots s address).

Record honest_state (hash : bytes -> bytes) (s : l1_state) : Prop := {
  state_secured : secured hash (state_trie s) (account_entries s);
  state_accounts : forall address a, In (address, a) (l1_accounts s) ->
    account_ok a /\ l1_storage_root a = trie_root hash (storage_trie s address)
    /\ secured hash (storage_trie s address) (slot_entries s address);
  state_slots : forall address key n, In (key, n) (l1_slots s address) -> (0 < n < 2 ^ 256)%N;
}.

Definition shows_account (s : l1_state) (address : bytes) (shown : option l1_account) : Prop :=
  match shown with Some a => In (address, a) (l1_accounts s) | None => forall a, ~ In (address, a) (l1_accounts s) end.

(** Zero stands for a slot that is not there. *)
Definition shows_slot (s : l1_state) (address key : bytes) (n : N) : Prop :=
  if (n =? 0)%N then forall a m, In (address, a) (l1_accounts s) -> ~ In (key, m) (l1_slots s address)
  else In (key, n) (l1_slots s address).

Fixpoint slots_candidates (hash : bytes -> bytes) (s : l1_state) (address : bytes) (keys : list bytes)
  (proofs : list (list bytes)) : list (bytes * bytes) :=
  match keys with
  | [] => []
  | key :: keys =>
      secured_candidates hash (storage_trie s address) (slot_entries s address) key (hd [] proofs)
      ++ slots_candidates hash s address keys (tl proofs)
  end.

Definition eth_candidates (hash : bytes -> bytes) (s : l1_state) (address : bytes) (nodes keys : list bytes)
  (proofs : list (list bytes)) : list (bytes * bytes) :=
  secured_candidates hash (state_trie s) (account_entries s) address nodes
  ++ slots_candidates hash s address keys proofs ++ map (fun node => (node, empty_node)) (concat proofs).

Section State.

Variable hash : bytes -> bytes.
Hypothesis hash_length : forall m, length (hash m) = 32.
Variable s : l1_state.
Hypothesis HS : honest_state hash s.

Lemma account_binds : forall address nodes shown,
  check_account hash (trie_root hash (state_trie s)) address nodes = Ok shown ->
  shows_account s address shown \/ collision hash (secured_candidates hash (state_trie s) (account_entries s) address nodes).
Proof.
  intros address nodes shown H. unfold check_account in H. passes H.
  destruct (secured_binds _ _ _ _ _ _ hash_length (state_secured hash s HS) Heqr) as [HV|HC]; [left|now right].
  destruct a as [value|]; cbn [shows] in HV.
  - passes H. inversion H; subst. cbn [shows_account]. apply in_map_iff in HV as ([k a'] & E & HI). cbn [fst snd] in E.
    inversion E; subst. rewrite account_read in Heqr0 by apply (state_accounts hash s HS _ _ HI).
    inversion Heqr0; subst. exact HI.
  - inversion H; subst. intros a HI. apply (HV (encode_account a)). apply in_map_iff. now exists (address, a).
Qed.

Lemma slots_bind_to : forall address a, In (address, a) (l1_accounts s) -> forall keys proofs shown,
  check_eth_slots hash (l1_storage_root a) keys proofs = Ok shown ->
  Forall2 (shows_slot s address) keys shown \/ collision hash (slots_candidates hash s address keys proofs).
Proof.
  intros address a HA. destruct (state_accounts hash s HS _ _ HA) as (_ & HR & HSec).
  induction keys as [|key keys IH]; intros proofs shown H; cbn [check_eth_slots] in H.
  - inversion H; subst. left. constructor.
  - passes H. passes H. inversion H; subst. cbn [slots_candidates].
    destruct (IH _ _ Heqr0) as [HF|HC]; [|right; eapply collision_incl; [|exact HC]; intros; apply in_or_app; now right].
    unfold check_eth_slot in Heqr. passes Heqr. rewrite HR in Heqr1.
    destruct (secured_binds _ _ _ _ _ _ hash_length HSec Heqr1) as [HV|HC];
      [|right; eapply collision_incl; [|exact HC]; intros; apply in_or_app; now left].
    left. constructor; [|exact HF]. unfold shows_slot. destruct a2 as [value|]; cbn [shows] in HV.
    + apply in_map_iff in HV as ([k n] & E & HI). cbn [fst snd] in E. inversion E; subst.
      pose proof (state_slots hash s HS _ _ _ HI) as HN. rewrite slot_read in Heqr by exact HN. inversion Heqr; subst.
      destruct (N.eqb_spec a0 0); [lia|exact HI].
    + inversion Heqr; subst. cbn [N.eqb]. intros a' m _ HI. apply (HV (encode_slot m)). apply in_map_iff. now exists (key, m).
Qed.

(** Without an account, every slot is zero. *)
Lemma slots_of_none : forall keys proofs shown, check_eth_slots hash (hash empty_node) keys proofs = Ok shown ->
  Forall (fun n => n = 0%N) shown \/ collision hash (map (fun node => (node, empty_node)) (concat proofs)).
Proof.
  induction keys as [|key keys IH]; intros proofs shown H; cbn [check_eth_slots] in H.
  - inversion H; subst. left. constructor.
  - passes H. passes H. inversion H; subst.
    assert (HI : forall x, In x (map (fun node => (node, empty_node)) (hd [] proofs)) \/
      In x (map (fun node => (node, empty_node)) (concat (tl proofs))) ->
      In x (map (fun node => (node, empty_node)) (concat proofs))).
    { intros x Hx. destruct proofs as [|p proofs]; [now destruct Hx|]. cbn [hd tl concat] in *. rewrite map_app. now apply in_or_app. }
    unfold check_eth_slot in Heqr. passes Heqr.
    destruct (nothing_there _ _ _ _ _ eq_refl Heqr1) as [->|HC]; [|right; eapply collision_incl; [|exact HC]; auto].
    inversion Heqr; subst. destruct (IH _ _ Heqr0) as [HF|HC]; [left; now constructor|].
    right. eapply collision_incl; [|exact HC]. auto.
Qed.

Theorem eth_binds : forall address nodes keys proofs account slots,
  check_eth hash (trie_root hash (state_trie s)) address nodes keys proofs = Ok (account, slots) ->
  (shows_account s address account
   /\ match account with Some _ => Forall2 (shows_slot s address) keys slots | None => Forall (fun n => n = 0%N) slots end)
  \/ collision hash (eth_candidates hash s address nodes keys proofs).
Proof.
  intros address nodes keys proofs account slots H. unfold check_eth in H. passes H. passes H. inversion H; subst.
  unfold eth_candidates. destruct (account_binds _ _ _ Heqr) as [HA|HC];
    [|right; eapply collision_incl; [|exact HC]; intros; apply in_or_app; now left].
  destruct account as [a|].
  - destruct (slots_bind_to address a HA _ _ _ Heqr0) as [HF|HC]; [now left|].
    right. eapply collision_incl; [|exact HC]. intros. apply in_or_app. right. apply in_or_app. now left.
  - destruct (slots_of_none _ _ _ Heqr0) as [HF|HC]; [now left|].
    right. eapply collision_incl; [|exact HC]. intros. apply in_or_app. right. apply in_or_app. now right.
Qed.

End State.
