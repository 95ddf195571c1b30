(** The two schemes: their encodings, with any hash function whose digests are 32 bytes of reduced elements. *)
From Soundness Require Export Values.

(** *** Numbers and order *)

Lemma integer_join : forall b a, integer (a ++ b) = (integer a * 256 ^ N.of_nat (length b) + integer b)%N.
Proof.
  intro b. induction b as [|x b IH] using rev_ind; intro a.
  - rewrite app_nil_r. cbn. lia.
  - rewrite app_assoc, integer_app, IH, integer_app, app_length, Nat.add_comm. cbn [length Nat.add].
    rewrite Nat2N.inj_succ, N.pow_succ_r'. lia.
Qed.

Lemma below_integer : forall a b, length a = length b -> (below a b <-> (integer a < integer b)%N).
Proof.
  unfold below. induction a as [|x a IH]; destruct b as [|y b]; intro HL; try discriminate; [split; [discriminate|cbn; lia]|].
  injection HL as HL. change (x :: a) with ([x] ++ a). change (y :: b) with ([y] ++ b). rewrite !integer_join.
  cbn [app compare_bytes]. change (integer [x]) with (0 * 256 + Byte.to_N x)%N.
  change (integer [y]) with (0 * 256 + Byte.to_N y)%N. rewrite HL.
  pose proof (integer_bounded a) as Ba. pose proof (integer_bounded b) as Bb. rewrite HL in Ba.
  set (m := (256 ^ N.of_nat (length b))%N) in *.
  destruct (N.compare_spec (Byte.to_N x) (Byte.to_N y)) as [E|E|E].
  - rewrite E. rewrite (IH b HL). lia.
  - split; [intros _|reflexivity]. nia.
  - split; [discriminate|]. intro. exfalso. nia.
Qed.

Lemma integer_injective : forall a b, length a = length b -> integer a = integer b -> a = b.
Proof.
  intros a b HL H. rewrite <- (big_endian_integer a), <- (big_endian_integer b). now rewrite HL, H.
Qed.

Lemma integer_zeros : forall n, integer (zeros n) = 0%N.
Proof.
  induction n as [|n IH]; [reflexivity|]. change (zeros (S n)) with ([x00] ++ zeros n). rewrite integer_join, IH. cbn. lia.
Qed.

Lemma compare_bytes_app : forall a b c d, length a = length b ->
  compare_bytes (a ++ c) (b ++ d) = match compare_bytes a b with Eq => compare_bytes c d | r => r end.
Proof.
  induction a as [|x a IH]; destruct b as [|y b]; intros c d H; try discriminate; [reflexivity|].
  cbn. injection H as H. destruct (N.compare (Byte.to_N x) (Byte.to_N y)); auto.
Qed.

(** *** Elements of [k] bytes, each below the modulus *)

Fixpoint reduced_from (fuel k : nat) (modulus a : bytes) : bool :=
  match fuel, a with
  | _, [] => true
  | O, _ => true
  | S fuel, _ => is_below (firstn k a) modulus && reduced_from fuel k modulus (skipn k a)
  end.

Definition reduced (k : nat) (modulus a : bytes) : bool := reduced_from (length a) k modulus a.

Section Reduced.
Variable k : nat.
Hypothesis Hk : k > 0.
Variable modulus : bytes.

Lemma reduced_from_enough : forall fuel more a, length a <= fuel ->
  reduced_from (fuel + more) k modulus a = reduced_from fuel k modulus a.
Proof.
  induction fuel as [|fuel IH]; intros more a H.
  - destruct a; [|simpl in H; lia]. now destruct more.
  - destruct a as [|x a]; [reflexivity|]. cbn [Nat.add reduced_from]. rewrite IH; [reflexivity|].
    rewrite skipn_length. cbn [length] in *. lia.
Qed.

Lemma reduced_step : forall a b, length a = k -> reduced k modulus (a ++ b) = is_below a modulus && reduced k modulus b.
Proof.
  intros a b H. unfold reduced. rewrite app_length, H. destruct a as [|x a]; [simpl in H; lia|].
  replace (k + length b) with (S (length b + (k - 1))) by lia. cbn [reduced_from app].
  change (x :: a ++ b) with ((x :: a) ++ b). rewrite (firstn_app_left _ _ _ H), (skipn_app_left _ _ _ H).
  f_equal. apply reduced_from_enough. lia.
Qed.

Lemma reduced_app : forall n a b, length a = k * n -> reduced k modulus (a ++ b) = reduced k modulus a && reduced k modulus b.
Proof.
  induction n as [|n IH]; intros a b H.
  - destruct a; [reflexivity|]. rewrite Nat.mul_0_r in H. discriminate.
  - rewrite <- (firstn_skipn k a) at 1 2. rewrite <- app_assoc.
    assert (HF : length (firstn k a) = k) by (rewrite firstn_length; nia).
    rewrite (reduced_step _ _ HF), (reduced_step _ _ HF), IH by (rewrite skipn_length; nia). now rewrite andb_assoc.
Qed.

Lemma reduced_one : forall a, length a = k -> reduced k modulus a = is_below a modulus.
Proof.
  intros a H. rewrite <- (app_nil_r a) at 1. rewrite reduced_step by exact H. apply andb_true_r.
Qed.

End Reduced.

Definition digests_ok (canonical : bytes -> bool) (hash : bytes -> bytes) : Prop :=
  forall m, length (hash m) = 32 /\ canonical (hash m) = true.

(** *** mimc: src/verify/scheme/mimc.ts, src/verify/field/bls12377.ts *)

Definition bls12377_order : N := 0x12ab655e9a2ca55660b44d1e5c37b00159aa76fed00000010a11800000000001.
Definition canonical_bls12377 : bytes -> bool := reduced 32 (big_endian 32 bls12377_order).

Definition mimc (depth : nat) (hash : bytes -> bytes) : scheme := {|
  depth := depth;
  hash := hash;
  word_length := 32;
  other_word_length := 64;
  canonical := canonical_bls12377;
  encode_word := fun x => x;
  is_word := fun _ => true;
  read_word := fun w => w;
  encode_bytes32 := fun x => zeros 16 ++ skipn 16 x ++ zeros 16 ++ firstn 16 x;
  encode_address := fun a => zeros 12 ++ a;
  tail_key := big_endian 32 (bls12377_order - 1);
|}.

Lemma canonical_bls12377_one : forall a, length a = 32 -> (canonical_bls12377 a = true <-> (integer a < bls12377_order)%N).
Proof.
  intros a H. unfold canonical_bls12377. rewrite reduced_one by (assumption || lia).
  rewrite is_below_below, below_integer by (rewrite length_big_endian; assumption).
  rewrite integer_big_endian by reflexivity. reflexivity.
Qed.

Theorem mimc_ok : forall depth hash, (1 <= depth <= 60)%nat -> digests_ok canonical_bls12377 hash ->
  scheme_ok (mimc depth hash).
Proof.
  intros n hash HD HH.
  assert (Half : forall h, length h = 16 -> canonical_bls12377 (zeros 16 ++ h) = true).
  { intros h H. apply canonical_bls12377_one; [now rewrite app_length, H|].
    rewrite integer_join, integer_zeros, H. pose proof (integer_bounded h) as B. rewrite H in B.
    apply N.lt_trans with (256 ^ N.of_nat 16)%N; [lia|reflexivity]. }
  constructor; cbn [depth Rules.hash word_length other_word_length canonical encode_word is_word read_word encode_bytes32
    encode_address tail_key mimc].
  - assumption.
  - apply HH.
  - apply HH.
  - reflexivity.
  - intros m a b HL. apply (reduced_app 32 ltac:(lia) _ m). exact HL.
  - now exists 1.
  - lia.
  - auto.
  - reflexivity.
  - auto.
  - intros i HI. apply canonical_bls12377_one; [apply length_big_endian|].
    assert (i < bls12377_order)%N.
    { apply N.le_lt_trans with (2 ^ 60)%N; [|reflexivity]. etransitivity; [exact HI|]. apply N.pow_le_mono_r; lia. }
    rewrite integer_big_endian; [assumption|]. etransitivity; [eassumption|reflexivity].
  - intros x HX. assert (HF : length (firstn 16 x) = 16) by (rewrite firstn_length; lia).
    assert (HS : length (skipn 16 x) = 16) by (rewrite skipn_length; lia). split.
    + rewrite !app_length, HF, HS. reflexivity.
    + rewrite app_assoc. unfold canonical_bls12377.
      rewrite (reduced_app 32 ltac:(lia) _ 1) by (rewrite app_length, HS; reflexivity).
      fold canonical_bls12377. apply andb_true_intro. split; now apply Half.
  - intros x y HX HY H. apply app_injective in H as [_ H]; [|reflexivity].
    apply app_injective in H as [E H]; [|rewrite !skipn_length; lia].
    apply app_injective in H as [_ H]; [|reflexivity].
    rewrite <- (firstn_skipn 16 x), <- (firstn_skipn 16 y). congruence.
  - intros x y HX HY. rewrite !app_length. lia.
  - intros x HX. apply canonical_bls12377_one; [rewrite app_length, HX; reflexivity|].
    rewrite integer_join, integer_zeros, HX. pose proof (integer_bounded x) as B. rewrite HX in B.
    apply N.lt_trans with (256 ^ N.of_nat 20)%N; [lia|reflexivity].
  - intros x y _ _ H. now apply app_injective in H as [_ H].
  - split; [apply length_big_endian|]. split; [vm_compute; reflexivity|vm_compute; reflexivity].
  - intros d HL HC. apply canonical_bls12377_one in HC; [|assumption].
    rewrite below_integer by (rewrite length_big_endian; assumption). rewrite integer_big_endian by reflexivity.
    destruct (N.lt_trichotomy (integer d) (bls12377_order - 1)) as [H|[H|H]]; [now right| |].
    + left. apply integer_injective; [now rewrite length_big_endian|]. rewrite integer_big_endian by reflexivity. exact H.
    + exfalso. unfold bls12377_order in *. lia.
  - discriminate.
Qed.

(** *** poseidon2: src/verify/scheme/poseidon2.ts, src/verify/field/koalabear.ts *)

Definition koalabear_order : bytes := [x7f; x00; x00; x01].
Definition canonical_koalabear : bytes -> bool := reduced 4 koalabear_order.

Fixpoint widen (x : bytes) : bytes :=
  match x with
  | a :: b :: x => x00 :: x00 :: a :: b :: widen x
  | _ => []
  end.

Fixpoint narrow (wide : bytes) : bytes :=
  match wide with
  | _ :: _ :: a :: b :: wide => a :: b :: narrow wide
  | _ => []
  end.

Fixpoint has_no_stray (wide : bytes) : bool :=
  match wide with
  | p :: q :: _ :: _ :: wide => Byte.eqb x00 p && Byte.eqb x00 q && has_no_stray wide
  | _ => true
  end.

Definition poseidon2 (depth : nat) (hash : bytes -> bytes) : scheme := {|
  depth := depth;
  hash := hash;
  word_length := 64;
  other_word_length := 32;
  canonical := canonical_koalabear;
  encode_word := widen;
  is_word := has_no_stray;
  read_word := narrow;
  encode_bytes32 := widen;
  encode_address := widen;
  tail_key := concat (repeat [x7f; x00; x00; x00] 8);
|}.

Lemma pairs_ind : forall P : bytes -> Prop, P [] -> (forall a b x, P x -> P (a :: b :: x)) ->
  forall n x, length x = 2 * n -> P x.
Proof.
  intros P H0 H2 n. induction n as [|n IH]; intros x HL.
  - destruct x; [exact H0|discriminate].
  - destruct x as [|a [|b x]]; cbn [length] in HL; try lia. apply H2, IH. lia.
Qed.

Lemma length_widen : forall n x, length x = 2 * n -> length (widen x) = 4 * n.
Proof.
  induction n as [|n IH]; intros x HL.
  - destruct x; [reflexivity|discriminate].
  - destruct x as [|a [|b x]]; cbn [length] in HL; try lia. cbn [widen length]. rewrite IH by lia. lia.
Qed.

Lemma narrow_widen : forall n x, length x = 2 * n -> narrow (widen x) = x /\ has_no_stray (widen x) = true.
Proof.
  intros n x HL. eapply (pairs_ind (fun x => narrow (widen x) = x /\ has_no_stray (widen x) = true)); [auto| |exact HL].
  intros a b y [E F]. cbn [widen narrow has_no_stray]. rewrite E, F. auto.
Qed.

Lemma widen_narrow : forall n w, length w = 4 * n -> has_no_stray w = true ->
  length (narrow w) = 2 * n /\ widen (narrow w) = w.
Proof.
  induction n as [|n IH]; intros w HL HS.
  - destruct w; [auto|discriminate].
  - destruct w as [|p [|q [|a [|b w]]]]; cbn [length] in HL; try lia. cbn [has_no_stray] in HS.
    apply andb_prop in HS as [HS HW]. apply andb_prop in HS as [HP HQ].
    apply byte_eqb_eq in HP. apply byte_eqb_eq in HQ. subst p q.
    destruct (IH w) as [E F]; [lia|assumption|]. cbn [narrow widen length]. rewrite E, F. split; [lia|reflexivity].
Qed.

Lemma canonical_widen : forall n x, length x = 2 * n -> canonical_koalabear (widen x) = true.
Proof.
  intros n x HL. eapply (pairs_ind (fun x => canonical_koalabear (widen x) = true)); [reflexivity| |exact HL].
  intros a b y H. cbn [widen]. change (x00 :: x00 :: a :: b :: widen y) with ([x00; x00; a; b] ++ widen y).
  unfold canonical_koalabear. rewrite reduced_step by (reflexivity || lia). fold canonical_koalabear. now rewrite H.
Qed.

Lemma koalabear_largest : forall n d, length d = 4 * n -> canonical_koalabear d = true ->
  d = concat (repeat [x7f; x00; x00; x00] n) \/ below d (concat (repeat [x7f; x00; x00; x00] n)).
Proof.
  induction n as [|n IH]; intros d HL HC.
  - destruct d; [now left|discriminate].
  - rewrite <- (firstn_skipn 4 d) in HC |- *. assert (HF : length (firstn 4 d) = 4) by (rewrite firstn_length; lia).
    assert (HS : length (skipn 4 d) = 4 * n) by (rewrite skipn_length; lia).
    set (c := firstn 4 d) in *. set (e := skipn 4 d) in *. clearbody c e.
    unfold canonical_koalabear in HC. rewrite reduced_step in HC by (assumption || lia).
    apply andb_prop in HC as [HC HE]. apply is_below_below in HC.
    cbn [repeat concat]. unfold below. rewrite compare_bytes_app by exact HF.
    assert (HQ : c = [x7f; x00; x00; x00] \/ below c [x7f; x00; x00; x00]).
    { rewrite below_integer in HC |- * by exact HF. change (integer koalabear_order) with 0x7f000001%N in HC.
      destruct (N.lt_trichotomy (integer c) 0x7f000000) as [H|[H|H]]; [now right| |lia].
      left. apply integer_injective; [exact HF|exact H]. }
    destruct HQ as [->|HQ].
    + rewrite (proj2 (compare_bytes_eq _ _) eq_refl). destruct (IH e HS HE) as [->|H]; [now left|now right].
    + right. unfold below in HQ. now rewrite HQ.
Qed.

Theorem poseidon2_ok : forall depth hash, (1 <= depth <= 60)%nat -> digests_ok canonical_koalabear hash ->
  scheme_ok (poseidon2 depth hash).
Proof.
  intros n hash HD HH.
  constructor; cbn [depth Rules.hash word_length other_word_length canonical encode_word is_word read_word encode_bytes32
    encode_address tail_key poseidon2].
  - assumption.
  - apply HH.
  - apply HH.
  - reflexivity.
  - intros m a b HL. apply (reduced_app 4 ltac:(lia) _ (8 * m)). lia.
  - now exists 2.
  - lia.
  - intros x HX. destruct (narrow_widen 16 x HX). split; [apply (length_widen 16 x HX)|now split].
  - reflexivity.
  - intros w HW HS. apply (widen_narrow 16 w HW HS).
  - intros i _. apply (canonical_widen 16). apply length_big_endian.
  - intros x HX. split; [apply (length_widen 16 x HX)|apply (canonical_widen 16 x HX)].
  - intros x y HX HY H. rewrite <- (proj1 (narrow_widen 16 x HX)), <- (proj1 (narrow_widen 16 y HY)). now rewrite H.
  - intros x y HX HY. now rewrite (length_widen 10 x HX), (length_widen 10 y HY).
  - intros x HX. apply (canonical_widen 10 x HX).
  - intros x y HX HY H. rewrite <- (proj1 (narrow_widen 10 x HX)), <- (proj1 (narrow_widen 10 y HY)). now rewrite H.
  - now vm_compute.
  - intros d HL HC. apply (koalabear_largest 8 d HL HC).
  - discriminate.
Qed.

(** *** 6. Encodings *)

Section Encodings.
Variable S : scheme.
Hypothesis OK : scheme_ok S.

(** An index word that is accepted is the only one of its index. *)
Theorem index_word_injective : forall K a b limit v w n, length v = word_length S -> length w = word_length S ->
  decode_index_word all_rules S K a b limit v = Ok n -> decode_index_word all_rules S K a b limit w = Ok n -> v = w.
Proof.
  intros K a b limit v w n HV HW DV DW. unfold decode_index_word in *.
  passes DV. passes DV. passes DW. passes DW. inversion DV. inversion DW.
  apply passed in Heqb0; [|reflexivity]. apply passed in Heqb2; [|reflexivity].
  destruct (ok_read S OK v HV Heqb0) as [LV <-]. destruct (ok_read S OK w HW Heqb2) as [LW <-].
  f_equal. apply integer_injective; congruence.
Qed.

(** An opening that is accepted is the only one of its leaf. *)
Theorem opening_injective : forall K a b o o' l, length o = opening_length S -> length o' = opening_length S ->
  decode_opening all_rules S K a b o = Ok l -> decode_opening all_rules S K a b o' = Ok l -> o = o'.
Proof.
  intros K a b o o' l HO HO' D D'. unfold decode_opening in *. unfold opening_length in *.
  passes D. passes D. passes D'. passes D'. pose proof (eq_trans D' (eq_sym D)) as E.
  pose proof (f_equal (fun r => match r with Ok l => hKey l | Error _ => [] end) E) as E5.
  pose proof (f_equal (fun r => match r with Ok l => hVal l | Error _ => [] end) E) as E6.
  cbn [hKey hVal] in E5, E6. inversion E as [[E3 E4]]. subst. clear E D D'.
  assert (E1 : firstn (word_length S) o = firstn (word_length S) o').
  { eapply index_word_injective; [| |exact Heqr|exact Heqr1]; rewrite firstn_length; lia. }
  assert (E2 : firstn (word_length S) (skipn (word_length S) o) = firstn (word_length S) (skipn (word_length S) o')).
  { eapply index_word_injective; [| |exact Heqr0|exact Heqr2];
      rewrite firstn_length, skipn_length; lia. }
  set (w := word_length S) in *.
  rewrite <- (firstn_skipn w o), <- (firstn_skipn w o'). f_equal; [congruence|].
  rewrite <- (firstn_skipn w (skipn w o)), <- (firstn_skipn w (skipn w o')). f_equal; [congruence|].
  rewrite !skipn_more. rewrite <- (firstn_skipn 32 (skipn (w + w) o)), <- (firstn_skipn 32 (skipn (w + w) o')).
  rewrite !skipn_more. replace (w + w) with (2 * w) by lia. replace (32 + 2 * w) with (2 * w + 32) by lia. congruence.
Qed.

(** So is node 0, of its index and sub-root. *)
Theorem root_node_injective : forall K m m' n, length m = root_length S -> length m' = root_length S ->
  decode_index_word all_rules S K RootWord RootRange (max_leaves S + 1) (firstn (word_length S) m) = Ok n ->
  decode_index_word all_rules S K RootWord RootRange (max_leaves S + 1) (firstn (word_length S) m') = Ok n ->
  skipn (word_length S) m = skipn (word_length S) m' -> m = m'.
Proof.
  intros K m m' n HL HL' D D' HS. unfold root_length in *.
  rewrite <- (firstn_skipn (word_length S) m), <- (firstn_skipn (word_length S) m'). f_equal; [|exact HS].
  eapply index_word_injective; [| |exact D|exact D']; rewrite firstn_length; lia.
Qed.

(** At every level, also above 32, the turn is the bit of the index. *)
Fixpoint fold_bits (digest : bytes) (siblings : list bytes) (level : N) (index : N) : bytes :=
  match siblings with
  | [] => digest
  | sibling :: rest =>
      fold_bits (hash S (if N.testbit index level then sibling ++ digest else digest ++ sibling)) rest (level + 1) index
  end.

Theorem turns_are_bits : forall siblings digest index, fold_path S digest siblings index = fold_bits digest siblings 0 index.
Proof.
  assert (H : forall siblings digest level index,
    fold_path S digest siblings (index / 2 ^ level) = fold_bits digest siblings level index).
  { induction siblings as [|s siblings IH]; intros digest level index; [reflexivity|].
    cbn [fold_path fold_bits]. rewrite <- IH. rewrite N.div_div by (try apply N.pow_nonzero; lia).
    rewrite N.add_1_r, N.pow_succ_r', (N.mul_comm 2). f_equal. f_equal.
    rewrite <- N.bit0_odd, <- N.shiftr_div_pow2, N.shiftr_spec by lia. reflexivity. }
  intros siblings digest index. rewrite <- (H siblings digest 0%N). now rewrite N.div_1_r.
Qed.

(** Two indices below 2^depth that turn alike at every level are one. *)
Theorem turns_tell_indices_apart : forall i j, (i < max_leaves S)%N -> (j < max_leaves S)%N ->
  (forall level, (level < N.of_nat (depth S))%N -> N.testbit i level = N.testbit j level) -> i = j.
Proof.
  intros i j HI HJ H. unfold max_leaves in *. apply N.bits_inj. intro level.
  destruct (N.lt_ge_cases level (N.of_nat (depth S))) as [HL|HL]; [now apply H|].
  assert (Z : forall n, (n < 2 ^ N.of_nat (depth S))%N -> N.testbit n level = false).
  { intros n Hn. rewrite <- (N.mod_small n (2 ^ N.of_nat (depth S))) by assumption. now apply N.mod_pow2_bits_high. }
  now rewrite !Z.
Qed.

End Encodings.
