(** 18. Receipts: those of a block, all of them, in order. src/verify/blocks/receipts.ts, after JSON. *)
From Soundness Require Export Ordered TrieNeeded.

Inductive receipt_rule := ReceiptStatus | ReceiptsRoot | ReceiptGas | ReceiptBloom.

Definition receipt_code_of (r : receipt_rule) : code :=
  match r with
  | ReceiptStatus => RECEIPT_STATUS
  | ReceiptsRoot => RECEIPTS_ROOT_MISMATCH
  | ReceiptGas => RECEIPT_GAS
  | ReceiptBloom => RECEIPT_BLOOM
  end.

Record log := { log_address : bytes; log_topics : list bytes; log_data : bytes }.
(** The type is that of the transaction, at most 4. *)
Record receipt := { r_type : N; r_status : N; r_gas : N; r_bloom : bytes; r_logs : list log }.

(** *** Encoding: a byte for the type, which legacy transactions do not have, and the RLP of the fields *)

Definition log_item (l : log) : item := List [Str (log_address l); List (map Str (log_topics l)); Str (log_data l)].
Definition receipt_item (r : receipt) : item :=
  List [Str (minimal (r_status r)); Str (minimal (r_gas r)); Str (r_bloom r); List (map log_item (r_logs r))].
Definition encode_receipt (r : receipt) : bytes :=
  (if (r_type r =? 0)%N then [] else [byte_of (r_type r)]) ++ encode (receipt_item r).

Section Check.

Variable on : receipt_rule -> bool.
Variable hash : bytes -> bytes.

Notation "'demand' r 'that' b ; k" := (if on r && negb b then Error (receipt_code_of r) else k)
  (at level 200, r at level 0, b at level 99, k at level 200).

(** The bits that an address or a topic sets: three, numbered from the last one. *)
Definition bloom_bits (value : bytes) : list N :=
  let digest := hash value in
  map (fun i => (integer (firstn 2 (skipn i digest)) mod 2048)%N) [0; 2; 4].
Definition bloom_of (logs : list log) : bytes :=
  big_endian 256
    (fold_left N.setbit (flat_map bloom_bits (flat_map (fun l => log_address l :: log_topics l) logs)) 0%N).

Fixpoint verify_statuses (receipts : list receipt) : result unit :=
  match receipts with
  | [] => Ok tt
  | r :: receipts => demand ReceiptStatus that (r_status r <=? 1)%N; verify_statuses receipts
  end.

(** The gas that each transaction has used. *)
Fixpoint open_each (gas : N) (receipts : list receipt) : result (list N) :=
  match receipts with
  | [] => Ok []
  | r :: receipts =>
      demand ReceiptGas that (gas <=? r_gas r)%N;
      demand ReceiptBloom that equal_bytes (r_bloom r) (bloom_of (r_logs r));
      take used from open_each (r_gas r) receipts;
      Ok ((r_gas r - gas)%N :: used)
  end.

(** [verifyReceipts]. *)
Definition check_receipts_with (root : bytes) (receipts : list receipt) : result (list N) :=
  take _ from verify_statuses receipts;
  demand ReceiptsRoot that equal_bytes (list_root hash (map encode_receipt receipts)) root;
  open_each 0 receipts.

End Check.

Definition check_receipts := check_receipts_with (fun _ => true).

(** *** A receipt has one encoding *)

Lemma map_injective : forall {A B} (f : A -> B), (forall a b, f a = f b -> a = b) -> forall l m, map f l = map f m -> l = m.
Proof.
  intros A B f H. induction l as [|a l IH]; intros [|b m] E; cbn [map] in E; try discriminate; [reflexivity|].
  inversion E. f_equal; auto.
Qed.

Lemma minimal_injective : forall a b, minimal a = minimal b -> a = b.
Proof. intros a b H. apply (f_equal integer) in H. now rewrite !integer_minimal in H. Qed.

Lemma receipt_item_injective : forall a b, r_type a = r_type b -> receipt_item a = receipt_item b -> a = b.
Proof.
  intros [t s g bl l] [t' s' g' bl' l'] HT H. cbn [r_type] in HT. unfold receipt_item in H.
  cbn [r_status r_gas r_bloom r_logs] in H. inversion H as [[HS HG HB HL]]. apply minimal_injective in HS, HG.
  apply map_injective in HL; [now subst|]. intros [a ts d] [a' ts' d'] E. inversion E as [[E1 E2 E3]].
  apply map_injective in E2; [now subst|]. intros x y EX. now inversion EX.
Qed.

(** The RLP of a list begins with a byte that is no type. *)
Lemma list_first : forall items, (N.of_nat (length (encode (List items))) < 2 ^ 64)%N ->
  exists x rest, encode (List items) = x :: rest /\ (192 <= Byte.to_N x)%N.
Proof.
  intros items H. cbn [encode] in *. set (n := N.of_nat (length (flat_map encode items))) in *. unfold prefix in *.
  destruct (N.ltb_spec n 56) as [HN|HN].
  - eexists. eexists. split; [reflexivity|]. rewrite to_N_small; lia.
  - eexists. eexists. split; [reflexivity|].
    assert (HB : (n < 2 ^ 64)%N) by (rewrite app_length in H; unfold n; lia).
    pose proof (byte_count_most n 8 ltac:(change (256 ^ N.of_nat 8)%N with (2 ^ 64)%N; exact HB)). rewrite to_N_small; lia.
Qed.

Definition typed (r : receipt) : Prop := (r_type r <= 4)%N.

Lemma encode_receipt_injective : forall a b, typed a -> typed b -> (N.of_nat (length (encode_receipt a)) < 2 ^ 64)%N ->
  encode_receipt a = encode_receipt b -> a = b.
Proof.
  intros a b TA TB HA E. assert (HB : (N.of_nat (length (encode_receipt b)) < 2 ^ 64)%N) by (now rewrite <- E).
  unfold typed, encode_receipt in *. destruct (N.eqb_spec (r_type a) 0) as [EA|EA], (N.eqb_spec (r_type b) 0) as [EB|EB].
  - cbn [app] in *. apply receipt_item_injective; [congruence|]. now apply rlp_encode_injective in E.
  - exfalso. cbn [app] in *. destruct (list_first _ HA) as (x & rest & EX & HX). unfold receipt_item in E. rewrite EX in E.
    inversion E; subst x. rewrite to_N_small in HX; lia.
  - exfalso. cbn [app] in *. destruct (list_first _ HB) as (x & rest & EX & HX). unfold receipt_item in E. rewrite EX in E.
    inversion E; subst x. rewrite to_N_small in HX; lia.
  - cbn [app] in *. pose proof (f_equal (hd x00) E) as ET. pose proof (f_equal (@tl byte) E) as EI. cbn [hd tl] in ET, EI.
    apply receipt_item_injective.
    + apply (f_equal Byte.to_N) in ET. rewrite !to_N_small in ET; lia.
    + cbn [length] in HA. apply rlp_encode_injective in EI; [exact EI|]. unfold receipt_item in *. lia.
Qed.

(** *** The theorem *)

Definition receipts_bind_with (on : receipt_rule -> bool) : Prop := forall hash honest given used,
  (forall m, length (hash m) = 32) -> Forall typed honest -> Forall typed given ->
  Forall (fun r => N.of_nat (length (encode_receipt r)) < 2 ^ 64)%N honest -> within (length honest) -> within (length given) ->
  sized hash (list_trie (map encode_receipt honest)) ->
  check_receipts_with on hash (list_root hash (map encode_receipt honest)) given = Ok used ->
  given = honest
  \/ collision hash (pairs hash (list_trie (map encode_receipt honest)) (list_trie (map encode_receipt given))).

Theorem receipts_bind_by : forall on, on ReceiptsRoot = true -> receipts_bind_with on.
Proof.
  intros on ON hash honest given used HL TH TG HS HH HG HT H. unfold check_receipts_with in H. passes H. passes H.
  rewrite ON in Heqb. apply negb_false_iff, equal_bytes_eq in Heqb.
  destruct (list_binds hash HL (map encode_receipt honest) (map encode_receipt given)) as [E|HC];
    [now rewrite map_length|now rewrite map_length|exact HT|exact Heqb|left|now right].
  clear - TH TG HS E. revert given TG E. induction honest as [|r honest IH]; intros [|s given] TG E; cbn [map] in E;
    try discriminate; [reflexivity|]. inversion E as [[E1 E2]]. inversion TH; inversion TG; inversion HS; subst. f_equal.
  - symmetry. apply encode_receipt_injective; [assumption|assumption|assumption|now symmetry].
  - now apply IH.
Qed.

(** Receipts whose root is that of an honest list are that list: none is missing, added or moved, and each field of each is so. *)
Theorem receipts_bind : receipts_bind_with (fun _ => true).
Proof. now apply receipts_bind_by. Qed.

Theorem receipts_root_needed : ~ receipts_bind_with (fun r => match r with ReceiptsRoot => false | _ => true end).
Proof.
  intro H. pose (r := {| r_type := 0; r_status := 1; r_gas := 21000; r_bloom := zeros 256; r_logs := [] |}%N).
  destruct (H mixed [r] [] [] length_mixed) as [E|HC].
  - constructor; [vm_compute; discriminate|constructor].
  - constructor.
  - constructor; [vm_compute; reflexivity|constructor].
  - vm_compute. reflexivity.
  - vm_compute. reflexivity.
  - split; [vm_compute; reflexivity|exact I].
  - reflexivity.
  - discriminate.
  - revert HC. apply no_collision. vm_compute. reflexivity.
Qed.
