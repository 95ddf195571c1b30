(** 10. RLP: src/verify/anchor/trie.ts. What is decoded has one encoding, and every encoding is decoded. *)
From Soundness Require Export Rules.

Inductive item := Str (s : bytes) | List (items : list item).

(** *** The encoder *)

(** Big-endian, without leading zeros. *)
Definition byte_count (n : N) : nat := N.to_nat ((N.size n + 7) / 8).
Definition minimal (n : N) : bytes := big_endian (byte_count n) n.

Definition prefix (offset n : N) : bytes :=
  if (n <? 56)%N then [byte_of (offset + n)] else byte_of (offset + 55 + N.of_nat (byte_count n)) :: minimal n.

(** One byte below 128 is its own encoding. *)
Definition is_small (s : bytes) : bool := match s with [x] => (Byte.to_N x <? 128)%N | _ => false end.

Fixpoint encode (i : item) : bytes :=
  match i with
  | Str s => if is_small s then s else prefix 128 (N.of_nat (length s)) ++ s
  | List items => let payload := flat_map encode items in prefix 192 (N.of_nat (length payload)) ++ payload
  end.

(** *** The decoder *)

(** Whether a list begins here, how long its payload is, and where that begins. *)
Definition header (x : byte) (rest : bytes) : bool * N * bytes :=
  let n := Byte.to_N x in
  let long k := (integer (firstn (N.to_nat k) rest), skipn (N.to_nat k) rest) in
  if (n <? 128)%N then (false, 1%N, x :: rest)
  else if (n <? 184)%N then (false, (n - 128)%N, rest)
  else if (n <? 192)%N then (false, fst (long (n - 183)%N), snd (long (n - 183)%N))
  else if (n <? 248)%N then (true, (n - 192)%N, rest)
  else (true, fst (long (n - 247)%N), snd (long (n - 247)%N)).

(** All items in [b]; lengths need not be in their shortest form. *)
Fixpoint parse (fuel : nat) (b : bytes) : option (list item) :=
  match fuel, b with
  | _, [] => Some []
  | O, _ => None
  | S fuel, x :: rest =>
      let '(is_list, n, body) := header x rest in
      if (N.of_nat (length body) <? n)%N then None
      else
        let payload := firstn (N.to_nat n) body in
        match parse fuel (skipn (N.to_nat n) body) with
        | None => None
        | Some items =>
            if is_list
            then match parse fuel payload with Some inner => Some (List inner :: items) | None => None end
            else Some (Str payload :: items)
        end
  end.

(** [decodeRlp]: exactly one item. It is encoded again, and compared. *)
Definition decode_any (b : bytes) : option item := match parse (length b) b with Some [i] => Some i | _ => None end.
Definition decode (b : bytes) : option item :=
  match decode_any b with Some i => if equal_bytes (encode i) b then Some i else None | None => None end.

(** *** Each encoding is decoded *)

Lemma byte_count_enough : forall n, (n < 256 ^ N.of_nat (byte_count n))%N.
Proof.
  intro n. unfold byte_count. rewrite N2Nat.id. apply N.lt_le_trans with (2 ^ N.size n)%N; [apply N.size_gt|].
  change 256%N with (2 ^ 8)%N. rewrite <- N.pow_mul_r. apply N.pow_le_mono_r; [lia|].
  pose proof (N.div_mod (N.size n + 7) 8 ltac:(lia)). pose proof (N.mod_lt (N.size n + 7) 8 ltac:(lia)). lia.
Qed.

Lemma integer_minimal : forall n, integer (minimal n) = n.
Proof. intro n. apply integer_big_endian, byte_count_enough. Qed.

Lemma byte_count_bounds : forall n, (0 < n < 2 ^ 64)%N -> (1 <= N.of_nat (byte_count n) <= 8)%N.
Proof.
  intros n [H0 H]. unfold byte_count. rewrite N2Nat.id. assert (HS : (1 <= N.size n <= 64)%N).
  { rewrite N.size_log2 by lia. apply N.log2_lt_pow2 in H; lia. }
  split.
  - apply N.div_le_lower_bound; lia.
  - apply N.lt_succ_r. apply N.div_lt_upper_bound; lia.
Qed.

Lemma to_N_small : forall n, (n < 256)%N -> Byte.to_N (byte_of n) = n.
Proof. intros n H. rewrite to_N_byte_of. now apply N.mod_small. Qed.

(** The header of what [prefix] begins. *)
Lemma header_prefix : forall is_list n body, (n < 2 ^ 64)%N -> exists x rest,
  prefix (if is_list : bool then 192 else 128) n ++ body = x :: rest /\ header x rest = (is_list, n, body).
Proof.
  intros is_list n body H. unfold prefix. destruct (N.ltb_spec n 56) as [HS|HS].
  - eexists. eexists. split; [reflexivity|]. unfold header.
    destruct is_list; rewrite to_N_small by lia.
    + destruct (N.ltb_spec (192 + n) 128), (N.ltb_spec (192 + n) 184), (N.ltb_spec (192 + n) 192),
        (N.ltb_spec (192 + n) 248); try lia. do 2 f_equal. lia.
    + destruct (N.ltb_spec (128 + n) 128), (N.ltb_spec (128 + n) 184); try lia. do 2 f_equal. lia.
  - eexists. eexists. split; [reflexivity|]. pose proof (byte_count_bounds n ltac:(lia)) as HC.
    assert (HL : length (minimal n) = N.to_nat (N.of_nat (byte_count n)))
      by (unfold minimal; rewrite length_big_endian; lia).
    unfold header. set (c := N.of_nat (byte_count n)) in *.
    destruct is_list; rewrite to_N_small by lia.
    + replace (192 + 55 + c - 247)%N with c by lia.
      destruct (N.ltb_spec (192 + 55 + c) 128), (N.ltb_spec (192 + 55 + c) 184), (N.ltb_spec (192 + 55 + c) 192),
        (N.ltb_spec (192 + 55 + c) 248); try lia. cbn [fst snd].
      now rewrite (firstn_app_left _ _ _ HL), (skipn_app_left _ _ _ HL), integer_minimal.
    + replace (128 + 55 + c - 183)%N with c by lia.
      destruct (N.ltb_spec (128 + 55 + c) 128), (N.ltb_spec (128 + 55 + c) 184), (N.ltb_spec (128 + 55 + c) 192);
        try lia. cbn [fst snd].
      now rewrite (firstn_app_left _ _ _ HL), (skipn_app_left _ _ _ HL), integer_minimal.
Qed.

Lemma prefix_not_empty : forall offset n, length (prefix offset n) > 0.
Proof. intros offset n. unfold prefix. destruct (n <? 56)%N; cbn [length]; lia. Qed.

Lemma header_encode : forall i after, (N.of_nat (length (encode i)) < 2 ^ 64)%N -> exists x rest payload is_list,
  encode i ++ after = x :: rest /\ header x rest = (is_list, N.of_nat (length payload), payload ++ after)
  /\ match i with
     | Str s => is_list = false /\ payload = s
     | List items => is_list = true /\ payload = flat_map encode items /\ length payload < length (encode i)
     end.
Proof.
  intros [s|items] after H; cbn [encode] in *.
  - destruct (is_small s) eqn:ES.
    + destruct s as [|x [|y s]]; try discriminate. exists x, after, [x], false. cbn [is_small] in ES.
      split; [reflexivity|]. split; [|auto]. unfold header. now rewrite ES.
    + rewrite app_length in H. destruct (header_prefix false (N.of_nat (length s)) (s ++ after)) as (x & rest & E & F);
        [lia|]. exists x, rest, s, false. rewrite <- app_assoc. auto.
  - cbv zeta in *. set (p := flat_map encode items) in *. rewrite app_length in *.
    destruct (header_prefix true (N.of_nat (length p)) (p ++ after)) as (x & rest & E & F); [lia|].
    exists x, rest, p, true. rewrite <- app_assoc. pose proof (prefix_not_empty 192 (N.of_nat (length p))).
    repeat split; auto. lia.
Qed.

Lemma encode_not_empty : forall i, length (encode i) > 0.
Proof.
  intros [s|items]; cbn [encode].
  - destruct (is_small s) eqn:ES; [destruct s; [discriminate|cbn; lia]|].
    rewrite app_length. pose proof (prefix_not_empty 128 (N.of_nat (length s))). lia.
  - rewrite app_length. match goal with |- context [prefix ?a ?b] => pose proof (prefix_not_empty a b) end. lia.
Qed.

Lemma parse_encode : forall fuel items, length (flat_map encode items) <= fuel ->
  (N.of_nat (length (flat_map encode items)) < 2 ^ 64)%N -> parse fuel (flat_map encode items) = Some items.
Proof.
  induction fuel as [|fuel IH]; intros [|i items] HF HS; try reflexivity; cbn [flat_map] in *; rewrite app_length in *;
    pose proof (encode_not_empty i); [lia|].
  destruct (header_encode i (flat_map encode items)) as (x & rest & payload & is_list & E & F & G); [lia|].
  rewrite E. cbn [parse]. rewrite F, app_length. destruct (N.ltb_spec
    (N.of_nat (length payload + length (flat_map encode items))) (N.of_nat (length payload))) as [HL|_]; [lia|].
  rewrite Nat2N.id, (firstn_app_left payload) by reflexivity. rewrite (skipn_app_left payload) by reflexivity.
  rewrite IH by lia. destruct i as [s|inner].
  - destruct G as [-> ->]. reflexivity.
  - destruct G as (-> & -> & HL). rewrite IH by lia. reflexivity.
Qed.

Lemma parse_one : forall i, (N.of_nat (length (encode i)) < 2 ^ 64)%N -> decode_any (encode i) = Some i.
Proof.
  intros i H. unfold decode_any. pose proof (parse_encode (length (encode i)) [i]) as P. cbn [flat_map] in P.
  rewrite app_nil_r in P. now rewrite P.
Qed.

Theorem rlp_complete : forall i, (N.of_nat (length (encode i)) < 2 ^ 64)%N -> decode (encode i) = Some i.
Proof. intros i H. unfold decode. now rewrite parse_one, equal_bytes_refl by assumption. Qed.

(** What is decoded is what the encoder makes of it, so nothing has a second encoding. *)
Theorem rlp_canonical : forall b i, decode b = Some i -> b = encode i.
Proof.
  intros b i H. unfold decode in H. destruct (decode_any b) as [j|]; [|discriminate].
  destruct (equal_bytes (encode j) b) eqn:E; [|discriminate]. inversion H; subst. symmetry. now apply equal_bytes_eq.
Qed.

Theorem rlp_injective : forall a b i, decode a = Some i -> decode b = Some i -> a = b.
Proof. intros a b i HA HB. apply rlp_canonical in HA. apply rlp_canonical in HB. congruence. Qed.

(** Two items with one encoding are one. *)
Theorem rlp_encode_injective : forall i j, (N.of_nat (length (encode i)) < 2 ^ 64)%N -> encode i = encode j -> i = j.
Proof.
  intros i j H E. assert (HJ : (N.of_nat (length (encode j)) < 2 ^ 64)%N) by now rewrite <- E.
  pose proof (parse_one i H) as P. pose proof (parse_one j HJ) as Q. congruence.
Qed.

(** Without the comparison, one item has many encodings: the byte 1 is also a string of one byte, and of a long length. *)
Theorem rlp_canonical_needed : decode_any [x01] = Some (Str [x01]) /\ decode_any [x81; x01] = Some (Str [x01])
  /\ decode_any [xb8; x01; x01] = Some (Str [x01]) /\ decode_any [xb9; x00; x01; x01] = Some (Str [x01])
  /\ decode [x81; x01] = None /\ decode [xb8; x01; x01] = None /\ decode [xb9; x00; x01; x01] = None.
Proof. vm_compute. repeat split. Qed.

(** [decodeInteger]: at most so many bytes, and no leading zero. *)
Definition decode_integer (i : item) (most : nat) : option N :=
  match i with
  | Str s =>
      if (length s <=? most) && negb (match s with x :: _ => Byte.eqb x x00 | [] => false end) then Some (integer s) else None
  | List _ => None
  end.
