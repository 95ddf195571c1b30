(** Byte strings: big-endian integers, the order of keys, zeros. *)
From Coq Require Export List NArith ZArith Lia Bool.
From Coq.Strings Require Export Byte.
Export ListNotations.

Definition bytes := list byte.

Definition zeros (n : nat) : bytes := repeat x00 n.
Definition zero_digest : bytes := zeros 32.

(** Lists that are long, or compared often, are compared here: [length] of two lists, and their elements. *)
Fixpoint equal_bytes (a b : bytes) : bool :=
  match a, b with
  | [], [] => true
  | x :: a, y :: b => Byte.eqb x y && equal_bytes a b
  | _, _ => false
  end.

Definition is_zero (a : bytes) : bool := forallb (Byte.eqb x00) a.

(** The order of key hashes: the first byte that differs decides. *)
Fixpoint compare_bytes (a b : bytes) : comparison :=
  match a, b with
  | [], [] => Eq
  | [], _ => Lt
  | _, [] => Gt
  | x :: a, y :: b =>
      match N.compare (Byte.to_N x) (Byte.to_N y) with
      | Eq => compare_bytes a b
      | c => c
      end
  end.

Definition is_below (a b : bytes) : bool := match compare_bytes a b with Lt => true | _ => false end.
Definition below (a b : bytes) : Prop := compare_bytes a b = Lt.

(** The unsigned big-endian integer. *)
Definition integer (a : bytes) : N := fold_left (fun n x => n * 256 + Byte.to_N x)%N a 0%N.

Definition byte_of (n : N) : byte := match Byte.of_N (n mod 256) with Some x => x | None => x00 end.

(** The lowest [length] bytes of [n], big-endian. *)
Fixpoint big_endian (length : nat) (n : N) : bytes :=
  match length with
  | O => []
  | S length => big_endian length (n / 256) ++ [byte_of n]
  end.

Lemma byte_eqb_eq : forall x y, Byte.eqb x y = true <-> x = y.
Proof.
  intros x y; split; intro H.
  - now apply Byte.byte_dec_bl.
  - now apply Byte.byte_dec_lb.
Qed.

Lemma equal_bytes_eq : forall a b, equal_bytes a b = true <-> a = b.
Proof.
  induction a as [|x a IH]; destruct b as [|y b]; simpl; split; try discriminate; try reflexivity.
  - intro H. apply andb_prop in H as [H1 H2]. apply byte_eqb_eq in H1. apply IH in H2. now subst.
  - intro H. inversion H; subst. apply andb_true_intro. split; [now apply byte_eqb_eq | now apply IH].
Qed.

Lemma equal_bytes_refl : forall a, equal_bytes a a = true.
Proof. intro a. now apply equal_bytes_eq. Qed.

Lemma equal_bytes_neq : forall a b, equal_bytes a b = false <-> a <> b.
Proof.
  intros a b. rewrite <- not_true_iff_false. now rewrite equal_bytes_eq.
Qed.

Lemma length_zeros : forall n, length (zeros n) = n.
Proof. intro n. apply repeat_length. Qed.

Lemma is_zero_zeros : forall a, is_zero a = true <-> a = zeros (length a).
Proof.
  induction a as [|x a IH]; simpl; [tauto|]. unfold is_zero in *. cbn [forallb].
  rewrite andb_true_iff, IH, byte_eqb_eq. unfold zeros. cbn. split.
  - intros [<- H]. f_equal. exact H.
  - intro H. inversion H as [[H1 H2]]. split; [reflexivity|]. rewrite <- H2. now rewrite <- H2.
Qed.

Lemma is_zero_digest : forall a, length a = 32 -> (is_zero a = true <-> a = zero_digest).
Proof. intros a H. rewrite is_zero_zeros, H. reflexivity. Qed.

(** *** The order *)

Lemma to_N_injective : forall x y, Byte.to_N x = Byte.to_N y -> x = y.
Proof.
  intros x y H. pose proof (Byte.of_to_N x) as A. pose proof (Byte.of_to_N y) as B.
  rewrite H in A. congruence.
Qed.

Lemma compare_bytes_eq : forall a b, compare_bytes a b = Eq <-> a = b.
Proof.
  induction a as [|x a IH]; destruct b as [|y b]; simpl; split; try discriminate; try reflexivity.
  - destruct (N.compare_spec (Byte.to_N x) (Byte.to_N y)); try discriminate.
    intro Hc. apply IH in Hc. apply to_N_injective in H. now subst.
  - intro H. inversion H; subst. rewrite N.compare_refl. now apply IH.
Qed.

Lemma compare_bytes_opp : forall a b, compare_bytes b a = CompOpp (compare_bytes a b).
Proof.
  induction a as [|x a IH]; destruct b as [|y b]; simpl; try reflexivity.
  rewrite (N.compare_antisym (Byte.to_N x) (Byte.to_N y)).
  destruct (N.compare (Byte.to_N x) (Byte.to_N y)); simpl; auto.
Qed.

Lemma below_trans : forall a b c, below a b -> below b c -> below a c.
Proof.
  unfold below. induction a as [|x a IH]; destruct b as [|y b]; destruct c as [|z c]; simpl; try discriminate; auto.
  destruct (N.compare_spec (Byte.to_N x) (Byte.to_N y)) as [E|E|E]; try discriminate;
  destruct (N.compare_spec (Byte.to_N y) (Byte.to_N z)) as [F|F|F]; try discriminate; intros HA HB;
  destruct (N.compare_spec (Byte.to_N x) (Byte.to_N z)) as [G|G|G]; auto; try lia.
  eapply IH; eauto.
Qed.

Lemma below_irreflexive : forall a, ~ below a a.
Proof. intros a H. unfold below in H. now rewrite (proj2 (compare_bytes_eq a a) eq_refl) in H. Qed.

Lemma is_below_below : forall a b, is_below a b = true <-> below a b.
Proof. intros a b. unfold is_below, below. destruct (compare_bytes a b); split; congruence. Qed.

Lemma below_total : forall a b, below a b \/ a = b \/ below b a.
Proof.
  intros a b. unfold below. destruct (compare_bytes a b) eqn:E.
  - right; left. now apply compare_bytes_eq.
  - now left.
  - right; right. rewrite compare_bytes_opp, E. reflexivity.
Qed.

Lemma not_below_zeros : forall n a, length a = n -> ~ below a (zeros n).
Proof.
  unfold below. induction n as [|n IH]; intros [|x a] HL H; try discriminate. cbn in H.
  destruct (N.compare_spec (Byte.to_N x) 0) as [E|E|E]; [|lia|discriminate].
  injection HL as HL. exact (IH a HL H).
Qed.

(** *** Integers *)

Lemma integer_app : forall a x, integer (a ++ [x]) = (integer a * 256 + Byte.to_N x)%N.
Proof. intros a x. unfold integer. now rewrite fold_left_app. Qed.

Lemma to_N_byte_of : forall n, Byte.to_N (byte_of n) = (n mod 256)%N.
Proof.
  intro n. unfold byte_of. destruct (Byte.of_N (n mod 256)) as [x|] eqn:E.
  - now apply Byte.to_of_N.
  - exfalso. assert (n mod 256 < 256)%N by (apply N.mod_lt; lia).
    apply Byte.of_N_None_iff in E. lia.
Qed.

Lemma byte_of_to_N : forall x n, byte_of (n * 256 + Byte.to_N x) = x.
Proof.
  intros x n. apply to_N_injective. rewrite to_N_byte_of.
  pose proof (Byte.to_N_bounded x). rewrite N.add_comm, N.mod_add by lia. apply N.mod_small. lia.
Qed.

Lemma length_big_endian : forall k n, length (big_endian k n) = k.
Proof.
  induction k as [|k IH]; intro n; simpl; [reflexivity|]. rewrite app_length, IH. simpl. lia.
Qed.

Lemma integer_big_endian : forall k n, (n < 256 ^ N.of_nat k)%N -> integer (big_endian k n) = n.
Proof.
  induction k as [|k IH]; intros n H.
  - change (n < 1)%N in H. assert (n = 0%N) by lia. now subst.
  - cbn [big_endian]. rewrite integer_app, to_N_byte_of, IH.
    + rewrite N.mul_comm. symmetry. apply N.div_mod. lia.
    + apply N.div_lt_upper_bound; [lia|]. rewrite Nat2N.inj_succ, N.pow_succ_r' in H. exact H.
Qed.

Lemma big_endian_integer : forall a, big_endian (length a) (integer a) = a.
Proof.
  intro a. induction a as [|x a IH] using rev_ind; [reflexivity|].
  rewrite app_length, Nat.add_comm. cbn [length Nat.add big_endian]. rewrite integer_app, byte_of_to_N.
  f_equal. pose proof (Byte.to_N_bounded x).
  rewrite N.div_add_l by lia. rewrite (N.div_small (Byte.to_N x)) by lia. now rewrite N.add_0_r.
Qed.

Lemma integer_bounded : forall a, (integer a < 256 ^ N.of_nat (length a))%N.
Proof.
  intro a. induction a as [|x a IH] using rev_ind; [simpl; reflexivity|].
  rewrite app_length, Nat.add_comm, integer_app. cbn [length Nat.add].
  rewrite Nat2N.inj_succ, N.pow_succ_r'. pose proof (Byte.to_N_bounded x). lia.
Qed.

(** *** Joined byte strings *)

Lemma app_injective : forall (a b c d : bytes), length a = length b -> a ++ c = b ++ d -> a = b /\ c = d.
Proof.
  induction a as [|x a IH]; destruct b as [|y b]; simpl; intros c d HL H; try discriminate; [now split|].
  inversion H; subst. destruct (IH b c d) as [E F]; auto. now subst.
Qed.

Lemma firstn_app_left : forall (a b : bytes) n, length a = n -> firstn n (a ++ b) = a.
Proof. intros a b n <-. rewrite firstn_app, Nat.sub_diag, firstn_all. simpl. apply app_nil_r. Qed.

Lemma skipn_app_left : forall (a b : bytes) n, length a = n -> skipn n (a ++ b) = b.
Proof. intros a b n <-. rewrite skipn_app, Nat.sub_diag, skipn_all. reflexivity. Qed.
