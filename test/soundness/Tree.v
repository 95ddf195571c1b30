(** Honest trees, what is assumed of a scheme, and what counts as a break of its hash. *)
From Soundness Require Export Rules.

(** *** What is assumed of a scheme. Schemes.v proves it for the encodings of both schemes, and any hash function whose
    digests are 32 bytes of reduced elements. *)
Record scheme_ok (S : scheme) : Prop := {
  ok_depth : (1 <= depth S <= 60)%nat;
  ok_hash_length : forall m, length (hash S m) = 32;
  ok_hash_canonical : forall m, canonical S (hash S m) = true;
  ok_zero_canonical : canonical S zero_digest = true;
  ok_canonical_app : forall n a b, length a = 32 * n -> canonical S (a ++ b) = canonical S a && canonical S b;
  ok_word_length : exists n, word_length S = 32 * n;
  ok_word_positive : (word_length S > 0)%nat;
  ok_word : forall x, length x = 32 -> length (encode_word S x) = word_length S /\ is_word S (encode_word S x) = true
    /\ read_word S (encode_word S x) = x;
  ok_word_zero : encode_word S (zeros 32) = zeros (word_length S);
  ok_read : forall w, length w = word_length S -> is_word S w = true ->
    length (read_word S w) = 32 /\ encode_word S (read_word S w) = w;
  ok_index_canonical : forall n, (n <= 2 ^ N.of_nat (depth S))%N -> canonical S (encode_word S (big_endian 32 n)) = true;
  ok_bytes32 : forall x, length x = 32 -> length (encode_bytes32 S x) = 64 /\ canonical S (encode_bytes32 S x) = true;
  ok_bytes32_injective : forall x y, length x = 32 -> length y = 32 -> encode_bytes32 S x = encode_bytes32 S y -> x = y;
  ok_address : forall x y, length x = 20 -> length y = 20 -> length (encode_address S x) = length (encode_address S y);
  ok_address_canonical : forall x, length x = 20 -> canonical S (encode_address S x) = true;
  ok_address_injective : forall x y, length x = 20 -> length y = 20 -> encode_address S x = encode_address S y -> x = y;
  ok_tail : length (tail_key S) = 32 /\ canonical S (tail_key S) = true /\ below zero_digest (tail_key S);
  ok_tail_largest : forall d, length d = 32 -> canonical S d = true -> d = tail_key S \/ below d (tail_key S);
  ok_other : other_word_length S <> word_length S;
}.

(** *** Breaks *)

(** Two different messages of one length, both of reduced elements, with one digest; or a message, not empty, whose digest is
    that of a missing leaf. Nothing else is asked of the hash: messages of two lengths, or elements that are not reduced, may
    collide. *)
Inductive break := Collision (a b : bytes) | Zero (message : bytes).

Definition is_break (S : scheme) (b : break) : bool :=
  match b with
  | Collision a b =>
      negb (equal_bytes a b) && (length a =? length b) && canonical S a && canonical S b
      && equal_bytes (hash S a) (hash S b)
  | Zero message =>
      negb (length message =? 0) && canonical S message && equal_bytes (hash S message) zero_digest
  end.

(** A break is among the candidates: it is found by looking through them. *)
Definition broken (S : scheme) (candidates : list break) : Prop :=
  exists b, find (is_break S) candidates = Some b.

Lemma broken_in : forall S b candidates, In b candidates -> is_break S b = true -> broken S candidates.
Proof.
  intros S b candidates HI HB. unfold broken. destruct (find (is_break S) candidates) eqn:E; [eauto|].
  pose proof (find_none _ _ E b HI). congruence.
Qed.

Lemma broken_incl : forall S a b, (forall x, In x a -> In x b) -> broken S a -> broken S b.
Proof.
  intros S a b H [x Hx]. apply find_some in Hx as [HI HB]. eapply broken_in; eauto.
Qed.

Lemma broken_collision : forall S a b candidates, In (Collision a b) candidates -> length a = length b ->
  canonical S a = true -> canonical S b = true -> hash S a = hash S b -> a = b \/ broken S candidates.
Proof.
  intros S a b candidates HI HL Ha Hb HH. destruct (equal_bytes a b) eqn:E.
  - left. now apply equal_bytes_eq.
  - right. eapply broken_in; eauto. simpl. rewrite E, HL, Nat.eqb_refl, Ha, Hb, HH. simpl. apply equal_bytes_refl.
Qed.

(** *** Trees *)

(** [order] lists the leaves from HEAD to TAIL. *)
Record tree := { get : N -> option leaf; next_free : N; order : list N }.

Section Digests.
Variable S : scheme.

Definition word (n : N) : bytes := encode_word S (big_endian 32 n).
Definition encode_opening (l : leaf) : bytes := word (prev l) ++ word (next l) ++ hKey l ++ hVal l.

Definition leaf_digest (l : option leaf) : bytes :=
  match l with None => zero_digest | Some l => hash S (encode_opening l) end.

(** The node at this level and position: level 0 has the leaves. *)
Fixpoint node (t : tree) (level : nat) (position : N) : bytes :=
  match level with
  | O => leaf_digest (get t position)
  | Datatypes.S level => hash S (node t level (2 * position) ++ node t level (2 * position + 1))
  end.

Definition sub_root (t : tree) : bytes := node t (depth S) 0.
Definition root_message (t : tree) : bytes := word (next_free t) ++ sub_root t.
Definition root (t : tree) : bytes := hash S (root_message t).

End Digests.

(** Each leaf of the list points at the next and back, and the key hashes rise. *)
Fixpoint chained (get : N -> option leaf) (i : N) (rest : list N) : Prop :=
  match rest with
  | [] => True
  | j :: rest =>
      (exists a b, get i = Some a /\ get j = Some b /\ next a = j /\ prev b = i /\ below (hKey a) (hKey b))
      /\ chained get j rest
  end.

Record honest (S : scheme) (t : tree) : Prop := {
  honest_free : (2 <= next_free t <= max_leaves S)%N;
  honest_missing : forall i, (next_free t <= i)%N -> get t i = None;
  honest_leaf : forall i l, get t i = Some l ->
    (prev l < max_leaves S)%N /\ (next l < max_leaves S)%N
    /\ length (hKey l) = 32 /\ canonical S (hKey l) = true /\ length (hVal l) = 32 /\ canonical S (hVal l) = true;
  honest_head : exists l, get t 0%N = Some l /\ hKey l = zero_digest /\ hVal l = zero_digest /\ prev l = 0%N;
  honest_tail : exists l, get t 1%N = Some l /\ hKey l = tail_key S /\ hVal l = zero_digest /\ next l = 1%N;
  honest_order : exists rest, order t = 0%N :: rest /\ chained (get t) 0%N rest /\ last (order t) 0%N = 1%N;
  honest_all : forall i, In i (order t) <-> get t i <> None;
}.

(** *** Facts about nodes *)

Section Facts.
Variable S : scheme.
Hypothesis OK : scheme_ok S.

Lemma max_leaves_bound : (max_leaves S < 256 ^ 32)%N.
Proof.
  unfold max_leaves. pose proof (ok_depth S OK).
  apply N.le_lt_trans with (2 ^ 60)%N; [|reflexivity]. apply N.pow_le_mono_r; lia.
Qed.

Lemma max_leaves_two : (2 <= max_leaves S)%N.
Proof.
  unfold max_leaves. pose proof (ok_depth S OK).
  change 2%N with (2 ^ 1)%N at 1. apply N.pow_le_mono_r; lia.
Qed.

Lemma length_word : forall n, length (word S n) = word_length S.
Proof. intro n. unfold word. apply (ok_word S OK). apply length_big_endian. Qed.

Lemma is_word_word : forall n, is_word S (word S n) = true.
Proof. intro n. unfold word. apply (ok_word S OK). apply length_big_endian. Qed.

Lemma read_word_word : forall n, (n <= max_leaves S)%N -> integer (read_word S (word S n)) = n.
Proof.
  intros n H. unfold word. destruct (ok_word S OK (big_endian 32 n) (length_big_endian 32 n)) as (_ & _ & ->).
  apply integer_big_endian. pose proof max_leaves_bound. change (N.of_nat 32) with 32%N. lia.
Qed.

Lemma word_canonical : forall n, (n <= max_leaves S)%N -> canonical S (word S n) = true.
Proof. intros n H. now apply (ok_index_canonical S OK). Qed.

Lemma word_injective : forall a b, (a <= max_leaves S)%N -> (b <= max_leaves S)%N -> word S a = word S b -> a = b.
Proof. intros a b Ha Hb H. rewrite <- (read_word_word a), <- (read_word_word b); auto. now rewrite H. Qed.

Lemma canonical_two : forall a b, length a = 32 -> canonical S a = true -> canonical S b = true ->
  canonical S (a ++ b) = true.
Proof. intros a b HL Ha Hb. rewrite (ok_canonical_app S OK 1) by assumption. now rewrite Ha, Hb. Qed.

Lemma canonical_word_app : forall n b, (n <= max_leaves S)%N -> canonical S b = true -> canonical S (word S n ++ b) = true.
Proof.
  intros n b Hn Hb. destruct (ok_word_length S OK) as [k Hk].
  rewrite (ok_canonical_app S OK k) by (rewrite length_word; exact Hk). now rewrite word_canonical, Hb.
Qed.

Lemma length_node : forall t level position, length (node S t level position) = 32.
Proof.
  intros t [|level] position; simpl; [|apply (ok_hash_length S OK)].
  destruct (get t position); simpl; [apply (ok_hash_length S OK) | reflexivity].
Qed.

Lemma canonical_node : forall t level position, canonical S (node S t level position) = true.
Proof.
  intros t [|level] position; simpl; [|apply (ok_hash_canonical S OK)].
  destruct (get t position); simpl; [apply (ok_hash_canonical S OK) | apply (ok_zero_canonical S OK)].
Qed.

Lemma length_root_message : forall t, length (root_message S t) = root_length S.
Proof. intro t. unfold root_message, root_length, sub_root. now rewrite app_length, length_word, length_node. Qed.

Lemma canonical_root_message : forall t, (next_free t <= max_leaves S)%N -> canonical S (root_message S t) = true.
Proof. intros t H. apply canonical_word_app; [assumption | apply canonical_node]. Qed.

Lemma length_opening : forall l, length (hKey l) = 32 -> length (hVal l) = 32 ->
  length (encode_opening S l) = opening_length S.
Proof.
  intros l HK HV. unfold encode_opening, opening_length. rewrite !app_length, !length_word, HK, HV. lia.
Qed.

Lemma canonical_opening : forall l, (prev l < max_leaves S)%N -> (next l < max_leaves S)%N ->
  length (hKey l) = 32 -> canonical S (hKey l) = true -> canonical S (hVal l) = true ->
  canonical S (encode_opening S l) = true.
Proof.
  intros l Hp Hn HL HK HV. unfold encode_opening.
  apply canonical_word_app; [lia|]. apply canonical_word_app; [lia|]. now apply canonical_two.
Qed.

End Facts.
