(** 14. Trees of messages: a root binds each message and its place. src/verify/messages/tree.ts. *)
From Soundness Require Export TrieBinding.

Inductive message_rule := PathDepth | IndexInTree | PathToRoot | DepthOfRoot.

Definition message_code_of (r : message_rule) : code :=
  match r with
  | PathDepth => MESSAGE_MALFORMED
  | IndexInTree => MESSAGE_INDEX
  | PathToRoot => MESSAGE_ROOT_MISMATCH
  | DepthOfRoot => MESSAGE_DEPTH_MISMATCH
  end.

Section Check.

Variable on : message_rule -> bool.
Variable hash : bytes -> bytes.

Notation "'demand' r 'that' b ; k" := (if on r && negb b then Error (message_code_of r) else k)
  (at level 200, r at level 0, b at level 99, k at level 200).

Fixpoint climb_message (node : bytes) (proof : list bytes) (i : N) : bytes :=
  match proof with
  | [] => node
  | other :: proof => climb_message (hash (if N.odd i then other ++ node else node ++ other)) proof (i / 2)
  end.

(** [openMessageProof]. The message is given as what is hashed. *)
Definition open_message (root message : bytes) (i : Z) (proof : list bytes) : result unit :=
  demand PathDepth that ((1 <=? length proof) && (length proof <=? 32));
  demand IndexInTree that ((0 <=? i)%Z && (i <? 2 ^ Z.of_nat (length proof))%Z);
  demand PathToRoot that equal_bytes (climb_message (hash message) proof (Z.to_N i)) root;
  Ok tt.

(** With the depth that L1 keeps beside the root: [statusOf] in src/verify/messages/from-l2.ts. *)
Definition check_message_with (root : bytes) (depth : nat) (message : bytes) (i : Z) (proof : list bytes) : result unit :=
  take _ from open_message root message i proof;
  demand DepthOfRoot that (length proof =? depth);
  Ok tt.

End Check.

Definition check_message := check_message_with (fun _ => true).

(** *** Honest trees: the hashes of the messages, in order, then 32 zero bytes *)

Section Tree.

Variable hash : bytes -> bytes.
Variable messages : list bytes.

Definition message_leaf (i : N) : bytes :=
  match nth_error messages (N.to_nat i) with Some message => hash message | None => zero_digest end.

Fixpoint message_node (level : nat) (position : N) : bytes :=
  match level with
  | O => message_leaf position
  | S level => hash (message_node level (2 * position) ++ message_node level (2 * position + 1))
  end.

Definition message_root (depth : nat) : bytes := message_node depth 0.

Fixpoint message_siblings (count level : nat) (position : N) : list bytes :=
  match count with
  | O => []
  | S count => message_node level (if N.odd position then position - 1 else position + 1)
      :: message_siblings count (S level) (position / 2)
  end.

(** The messages of a proof, each beside the honest one in its place. *)
Fixpoint message_pairs (level : nat) (node : bytes) (proof : list bytes) (i : N) : list (bytes * bytes) :=
  match proof with
  | [] => []
  | other :: proof =>
      let joined := if N.odd i then other ++ node else node ++ other in
      (joined, message_node level (2 * (i / 2)) ++ message_node level (2 * (i / 2) + 1))
      :: message_pairs (S level) (hash joined) proof (i / 2)
  end.

Definition message_candidates (message : bytes) (i : Z) (proof : list bytes) : list (bytes * bytes) :=
  (message, nth (Z.to_nat i) messages []) :: message_pairs 0 (hash message) proof (Z.to_N i).

Hypothesis hash_length : forall m, length (hash m) = 32.

Lemma length_message_node : forall level position, length (message_node level position) = 32.
Proof.
  intros [|level] position; cbn [message_node]; [|apply hash_length].
  unfold message_leaf. destruct (nth_error messages (N.to_nat position)); [apply hash_length|reflexivity].
Qed.

(** From the top down. No length is asked of the other nodes: it follows. *)
Lemma climb_message_binds : forall proof level node i, length node = 32 ->
  climb_message hash node proof i = message_node (level + length proof) (i / 2 ^ N.of_nat (length proof)) ->
  node = message_node level i \/ collision hash (message_pairs level node proof i).
Proof.
  induction proof as [|other proof IH]; intros level node i HL H.
  - cbn in H. rewrite Nat.add_0_r, N.div_1_r in H. now left.
  - cbn [climb_message message_pairs] in *. cbv zeta. set (joined := if N.odd i then other ++ node else node ++ other) in *.
    destruct (IH (S level) (hash joined) (i / 2)%N (hash_length _)) as [HU|HC].
    + etransitivity; [exact H|]. cbn [length]. rewrite Nat.add_succ_r. f_equal.
      rewrite N.div_div by (try apply N.pow_nonzero; lia). now rewrite Nat2N.inj_succ, N.pow_succ_r'.
    + cbn [message_node] in HU. match goal with |- _ \/ collision hash ?c =>
        destruct (collision_in hash joined (message_node level (2 * (i / 2)) ++ message_node level (2 * (i / 2) + 1)) c)
          as [HE|HC]; [now left|exact HU| |now right] end.
      left. rewrite (half i). unfold joined in HE. destruct (N.odd i).
      * assert (HO : length other = 32).
        { apply (f_equal (@length byte)) in HE. rewrite !app_length, !length_message_node in HE. lia. }
        apply app_injective in HE as [_ HE]; [exact HE|]. now rewrite HO, length_message_node.
      * apply app_injective in HE as [HE _]; [now rewrite N.add_0_r|]. now rewrite HL, length_message_node.
    + right. eapply collision_incl; [|exact HC]. intros x Hx. now right.
Qed.

Lemma climb_honest_message : forall count level p,
  climb_message hash (message_node level p) (message_siblings count level p) p
  = message_node (level + count) (p / 2 ^ N.of_nat count).
Proof.
  induction count as [|count IH]; intros level p; cbn [message_siblings climb_message].
  - rewrite Nat.add_0_r. cbn. now rewrite N.div_1_r.
  - assert (E : (if N.odd p then message_node level (if N.odd p then p - 1 else p + 1) ++ message_node level p
        else message_node level p ++ message_node level (if N.odd p then p - 1 else p + 1))
      = message_node level (2 * (p / 2)) ++ message_node level (2 * (p / 2) + 1)).
    { pose proof (half p) as HP. destruct (N.odd p).
      - rewrite <- HP. now replace (p - 1)%N with (2 * (p / 2))%N by lia.
      - rewrite N.add_0_r in HP. now rewrite <- HP. }
    etransitivity; [|etransitivity; [exact (IH (S level) (p / 2)%N)|]]; [f_equal; cbn [message_node]; f_equal; exact E|].
    rewrite Nat.add_succ_r. f_equal. rewrite N.div_div by (try apply N.pow_nonzero; lia).
    now rewrite Nat2N.inj_succ, N.pow_succ_r'.
Qed.

Lemma length_message_siblings : forall count level p, length (message_siblings count level p) = count.
Proof. induction count as [|count IH]; intros; cbn [message_siblings length]; [reflexivity|]. now rewrite IH. Qed.

End Tree.

(** An accepted message is the one at that place; or it hashes to zeros, or a collision is found. *)
Definition message_binds_with (on : message_rule -> bool) : Prop :=
  forall hash messages depth message i proof, (forall m, length (hash m) = 32) ->
  check_message_with on hash (message_root hash messages depth) depth message i proof = Ok tt ->
  (0 <= i)%Z /\ nth_error messages (Z.to_nat i) = Some message
  \/ hash message = zero_digest \/ collision hash (message_candidates hash messages message i proof).

Theorem message_binds_by : forall on, Forall (fun r => on r = true) [IndexInTree; PathToRoot; DepthOfRoot] ->
  message_binds_with on.
Proof.
  intros on HI hash messages depth message i proof HL H.
  assert (HOn : forall r, In r [IndexInTree; PathToRoot; DepthOfRoot] -> on r = true) by now apply Forall_forall.
  unfold check_message_with, open_message in H. passes H. passes H. do 3 passes Heqr.
  assert (Held : forall r b, on r && negb b = false -> In r [IndexInTree; PathToRoot; DepthOfRoot] -> b = true).
  { intros r b E HR. rewrite (HOn r HR) in E. now destruct b. }
  apply Held in Heqb; [|cbn; tauto]. apply Held in Heqb1; [|cbn; tauto]. apply Held in Heqb2; [|cbn; tauto].
  apply Nat.eqb_eq in Heqb. apply equal_bytes_eq in Heqb2. apply andb_prop in Heqb1 as [H0 H1].
  apply Z.leb_le in H0. apply Z.ltb_lt in H1.
  destruct (climb_message_binds hash messages HL proof 0 (hash message) (Z.to_N i) (HL _)) as [HN|HC].
  - rewrite Heqb2. unfold message_root. rewrite Heqb. cbn [Nat.add]. f_equal. symmetry. apply N.div_small.
    rewrite Heqb in H1. apply N2Z.inj_lt. rewrite Z2N.id by assumption. rewrite N2Z.inj_pow. now rewrite nat_N_Z.
  - cbn [message_node] in HN. unfold message_leaf in HN. rewrite Z_N_nat in HN. unfold message_candidates.
    destruct (nth_error messages (Z.to_nat i)) as [m|] eqn:E; [|now right; left].
    rewrite (nth_error_nth _ _ _ E). match goal with |- _ \/ _ \/ collision hash ?c =>
      destruct (collision_in hash message m c) as [->|HC]; [now left|exact HN| |now right; right] end.
    now left.
  - right. right. eapply collision_incl; [|exact HC]. intros x Hx. now right.
Qed.

Theorem message_binds : message_binds_with (fun _ => true).
Proof. apply message_binds_by. now repeat constructor. Qed.

(** The path of a message in an honest tree is accepted. *)
Theorem message_complete : forall on hash messages depth i message, 1 <= depth <= 32 ->
  nth_error messages i = Some message -> (N.of_nat i < 2 ^ N.of_nat depth)%N ->
  check_message_with on hash (message_root hash messages depth) depth message (Z.of_nat i)
    (message_siblings hash messages depth 0 (N.of_nat i)) = Ok tt.
Proof.
  intros on hash messages depth i message HD HN HI. unfold check_message_with, open_message.
  rewrite length_message_siblings, Nat.eqb_refl, (proj2 (Nat.leb_le 1 depth)), (proj2 (Nat.leb_le depth 32)) by lia.
  assert (E1 : (0 <=? Z.of_nat i)%Z = true) by (apply Z.leb_le; lia).
  assert (E2 : (Z.of_nat i <? 2 ^ Z.of_nat depth)%Z = true).
  { apply Z.ltb_lt. apply N2Z.inj_lt in HI. rewrite N2Z.inj_pow, !nat_N_Z in HI. exact HI. }
  assert (E3 : climb_message hash (hash message) (message_siblings hash messages depth 0 (N.of_nat i)) (Z.to_N (Z.of_nat i))
    = message_root hash messages depth).
  { replace (Z.to_N (Z.of_nat i)) with (N.of_nat i) by lia.
    replace (hash message) with (message_node hash messages 0 (N.of_nat i))
      by (cbn [message_node]; unfold message_leaf; now rewrite Nat2N.id, HN).
    rewrite climb_honest_message. cbn [Nat.add]. unfold message_root. f_equal. now apply N.div_small. }
  rewrite E1, E2, E3, equal_bytes_refl. cbn [negb andb]. now rewrite !andb_false_r.
Qed.

(** *** Every rule but one is needed. The hash joins digits, so that a tree is easy to see through. *)

Definition short_hash (m : bytes) : bytes := big_endian 32 (integer m mod 2 ^ 255 + 1).

Definition two_messages : list bytes := [[x01]; [x02]].
Definition refutes_message (on : message_rule -> bool) (depth : nat) (messages : list bytes) (message : bytes) (i : Z)
  (proof : list bytes) : bool :=
  match check_message_with on short_hash (message_root short_hash messages depth) depth message i proof with
  | Ok _ =>
      match nth_error messages (Z.to_nat i) with Some m => negb (equal_bytes m message && (0 <=? i)%Z) | None => true end
      && negb (equal_bytes (short_hash message) zero_digest)
      && forallb (fun pair => negb (collides short_hash pair)) (message_candidates short_hash messages message i proof)
  | Error _ => false
  end.

Lemma length_short_hash : forall m, length (short_hash m) = 32.
Proof. intro m. apply length_big_endian. Qed.

Lemma message_refuted : forall on depth messages message i proof,
  refutes_message on depth messages message i proof = true -> ~ message_binds_with on.
Proof.
  intros on depth messages message i proof H HB. unfold refutes_message in H.
  destruct (check_message_with on short_hash _ depth message i proof) as [[]|] eqn:E; [|discriminate].
  apply andb_prop in H as [H HC]. apply andb_prop in H as [HN HZ].
  destruct (HB _ _ _ _ _ _ length_short_hash E) as [[H0 HM]|[HM|HM]].
  - rewrite HM, equal_bytes_refl in HN. apply Z.leb_le in H0. rewrite H0 in HN. discriminate.
  - rewrite HM, equal_bytes_refl in HZ. discriminate.
  - destruct HM as [p HP]. apply find_some in HP as [HI HP]. rewrite forallb_forall in HC. specialize (HC p HI).
    rewrite HP in HC. discriminate.
Qed.

Definition message_rule_eq_dec : forall a b : message_rule, {a = b} + {a <> b}.
Proof. decide equality. Defined.
Definition without_message_rule (r : message_rule) : message_rule -> bool :=
  fun other => if message_rule_eq_dec r other then false else true.

(** The path of the second message with an index on top: the same turns. *)
Theorem index_in_tree_needed : ~ message_binds_with (without_message_rule IndexInTree).
Proof.
  apply (message_refuted _ 1 two_messages [x02] 3 (message_siblings short_hash two_messages 1 0 1)). reflexivity.
Qed.

Theorem path_to_root_needed : ~ message_binds_with (without_message_rule PathToRoot).
Proof. apply (message_refuted _ 1 two_messages [x05] 0 [zero_digest]). reflexivity. Qed.

(** An inner node is shown as a leaf: it is the hash of its two children. *)
Theorem depth_of_root_needed : ~ message_binds_with (without_message_rule DepthOfRoot).
Proof.
  apply (message_refuted _ 2 two_messages (short_hash [x01] ++ short_hash [x02]) 0
    [message_node short_hash two_messages 1 1]). reflexivity.
Qed.
