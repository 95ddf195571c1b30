(** 5. Every rule is needed: without it a theorem is false. Each is refuted by a forgery that the other rules accept, in a
    small tree, with a toy hash in which no break is found. The toy hash may collide where a break is not one: for messages
    of two lengths, or elements that are not reduced. *)
From Soundness Require Export AnyTree Schemes.

(** *** A toy hash: 16 bytes of a number *)

Definition mix (m : bytes) : N :=
  fold_left (fun n x => N.land (n * 33 + Byte.to_N x + 7) 2305843009213693951)%N m 88172645463325252%N.

Definition digest_of (n : N) : bytes := zeros 16 ++ big_endian 16 n.
Definition toy (number : bytes -> N) : scheme := mimc 3 (fun m => digest_of (number m)).

(** The same with the words of poseidon2, which can have stray bytes. *)
Definition wide_toy : scheme := poseidon2 3 (fun m => widen (big_endian 16 (mix m))).

Lemma digest_of_good : forall n, length (digest_of n) = 32 /\ canonical_bls12377 (digest_of n) = true.
Proof.
  intro n. assert (HL : length (digest_of n) = 32)
    by (unfold digest_of; rewrite app_length, length_big_endian; reflexivity).
  split; [exact HL|]. apply canonical_bls12377_one; [exact HL|]. unfold digest_of.
  rewrite integer_join, integer_zeros, length_big_endian. pose proof (integer_bounded (big_endian 16 n)) as B.
  rewrite length_big_endian in B. apply N.lt_trans with (256 ^ N.of_nat 16)%N; [lia|reflexivity].
Qed.

Lemma toy_ok : forall number, scheme_ok (toy number).
Proof. intro number. apply mimc_ok; [lia|]. intro m. apply digest_of_good. Qed.

(** The numbers of some messages are chosen. *)
Fixpoint except (chosen : list (bytes * N)) (m : bytes) : N :=
  match chosen with
  | [] => mix m
  | (message, n) :: chosen => if equal_bytes m message then n else except chosen m
  end.

(** *** A small honest tree: keys [k 2], [k 3] and [k 4] at those indices *)

Section Small.
Variable K : kind.

Definition plain : scheme := toy mix.
Definition word_of (n : N) : bytes := big_endian 32 n.

(** Keys whose hashes rise; that of [k 1] is below, that of [k 5] between [k 2] and [k 3]. *)
Definition seed (i : N) : N :=
  match K, i with
  | Storage, 1 => 3 | Account, 1 => 1
  | Storage, 2 => 6 | Storage, 3 => 5 | Storage, 4 => 8 | Storage, _ => 2
  | Account, 2 => 2 | Account, 3 => 4 | Account, 4 => 5 | Account, _ => 3
  end%N.
Definition k (i : N) : bytes := big_endian (key_length K) (seed i).

(** The value at an index: [i] in each word. *)
Definition v (i : N) : bytes :=
  match K with Account => concat (repeat (word_of i) 6) | Storage => word_of i end.

Definition served (i : N) : bytes := if (i <? 2)%N then zero_digest else v i.

Definition leaf_of (p n : N) (i : N) : leaf :=
  {| prev := p; next := n; hKey := digest_of (mix (key_message plain K (k i)));
     hVal := digest_of (mix (value_message plain K (v i))) |}.

Definition small : tree := {|
  get := fun i =>
    match i with
    | 0 => Some {| prev := 0; next := 2; hKey := zero_digest; hVal := zero_digest |}
    | 1 => Some {| prev := 4; next := 1; hKey := tail_key plain; hVal := zero_digest |}
    | 2 => Some (leaf_of 0 3 2)
    | 3 => Some (leaf_of 2 4 3)
    | 4 => Some (leaf_of 3 1 4)
    | _ => None
    end%N;
  next_free := 5;
  order := [0; 2; 3; 4; 1]%N;
|}.

End Small.

Lemma small_cases : forall K i l, get (small K) i = Some l -> In i [0; 1; 2; 3; 4]%N.
Proof.
  intros K i l H. cbn [In]. destruct i as [|p]; [auto|].
  destruct p as [[?|?|]|[?|[?|?|]|]|]; cbn [get small] in H; first [discriminate H | auto 10].
Qed.

Lemma small_honest : forall K number, honest (toy number) (small K).
Proof.
  intros K number. constructor.
  - change (2 <= 5 <= 8)%N. lia.
  - intros i HI. change (5 <= i)%N in HI. destruct (get (small K) i) as [l|] eqn:E; [|reflexivity].
    apply small_cases in E. cbn [In] in E. lia.
  - intros i l H. change (max_leaves (toy number)) with 8%N. change (canonical (toy number)) with canonical_bls12377.
    pose proof (digest_of_good (mix (key_message plain K (k K i)))) as [H1 H2].
    pose proof (digest_of_good (mix (value_message plain K (v K i)))) as [H3 H4].
    destruct (small_cases _ _ _ H) as [<-|[<-|[<-|[<-|[<-|[]]]]]]; cbn [get small] in H; inversion H; subst l;
      cbn [prev next hKey hVal leaf_of];
      (split; [lia|]; split; [lia|]).
    1, 2: split; [reflexivity|]; split; [vm_compute; reflexivity|]; split; [reflexivity|vm_compute; reflexivity].
    1, 2, 3: exact (conj H1 (conj H2 (conj H3 H4))).
  - eexists. split; [reflexivity|]. auto.
  - eexists. split; [reflexivity|]. auto.
  - exists [2; 3; 4; 1]%N. split; [reflexivity|]. split; [|reflexivity]. cbn [chained].
    assert (L : forall i j a b, get (small K) i = Some a -> get (small K) j = Some b -> next a = j -> prev b = i ->
      is_below (hKey a) (hKey b) = true -> exists a b, get (small K) i = Some a /\ get (small K) j = Some b /\ next a = j
      /\ prev b = i /\ below (hKey a) (hKey b)).
    { intros i j a b HA HB HN HP HL. exists a, b. apply is_below_below in HL. auto. }
    split; [|split; [|split; [|split; [|exact I]]]];
      (eapply L; [reflexivity|reflexivity|reflexivity|reflexivity|destruct K; vm_compute; reflexivity]).
  - intro i. split; [|intro H; destruct (get (small K) i) as [l|] eqn:E; [|now destruct H]].
    2: { clear H. apply small_cases in E. cbn [In order small] in *. clear l. intuition. }
    intros [<-|[<-|[<-|[<-|[<-|[]]]]]]; cbn [get small]; discriminate.
Qed.

Lemma small_stores : forall K number,
  forallb (fun i => number (value_message plain K (v K i)) =? mix (value_message plain K (v K i)))%N [2; 3; 4]%N = true ->
  stores (toy number) K (small K) (served K).
Proof.
  intros K number H i l HG. cbn [forallb] in H. repeat rewrite andb_true_iff in H. destruct H as (H2 & H3 & H4 & _).
  apply N.eqb_eq in H2, H3, H4.
  destruct (small_cases _ _ _ HG) as [<-|[<-|[<-|[<-|[<-|[]]]]]]; cbn [get small] in HG; inversion HG; subst l;
    [reflexivity|reflexivity| | |]; change (value_message (toy number)) with (value_message plain);
    (split; [destruct K; reflexivity|]; split; [destruct K; vm_compute; reflexivity|];
     split; [|destruct K; vm_compute; reflexivity]);
    cbn [leaf_of hVal]; change (hash (toy number)) with (fun m => digest_of (number m)); cbv beta;
    unfold served; cbn [N.ltb N.compare Pos.compare Pos.compare_cont]; congruence.
Qed.


(** *** What a forgery shows. Each test is computed. *)

Definition none_found (S : scheme) (breaks : list break) : bool :=
  match find (is_break S) breaks with None => true | Some _ => false end.

Lemma not_broken : forall S breaks, none_found S breaks = true -> ~ broken S breaks.
Proof. intros S breaks H [b HB]. unfold none_found in H. rewrite HB in H. discriminate. Qed.

Definition holds_hashes (S : scheme) (K : kind) (t : tree) (i : N) (key value : bytes) : bool :=
  match get t i with
  | Some l => equal_bytes (hKey l) (hash_key S K key) && equal_bytes (hVal l) (hash S (value_message S K value))
  | None => false
  end.

Definition forges_existence on number K key proof : bool :=
  let S := toy number in
  match check_with on S K (root S (small K)) key proof with
  | Ok (Some (i, value)) =>
      negb (holds_hashes S K (small K) i key value) && none_found S (candidates S K (small K) proof)
  | _ => false
  end.

Lemma no_existence_binds : forall on number K key proof, forges_existence on number K key proof = true ->
  ~ existence_binds_with on.
Proof.
  intros on number K key proof H HT. unfold forges_existence in H.
  destruct (check_with _ _ _ _ _ _) as [[[i value]|]|] eqn:E; [|discriminate|discriminate].
  apply andb_prop in H as [HN HB].
  destruct (HT _ _ _ _ _ _ _ (toy_ok number) (small_honest K number) E) as [(l & HG & HK & HV)|HB'].
  - unfold holds_hashes in HN. rewrite HG, HK, HV, !equal_bytes_refl in HN. discriminate.
  - exact (not_broken _ _ HB HB').
Qed.

(** The leaf at the index holds the requested key and another value. *)
Definition forges_value on number K key proof : bool :=
  let S := toy number in
  match check_with on S K (root S (small K)) key proof with
  | Ok (Some (i, value)) =>
      holds_hashes S K (small K) i key (served K i) && (length key =? key_length K)
      && (length (served K i) =? value_length K) && canonical S (value_message S K (served K i))
      && negb (equal_bytes value (served K i))
      && none_found S (Collision (key_message S K key) (key_message S K key)
           :: Collision (value_message S K value) (value_message S K (served K i)) :: candidates S K (small K) proof)
  | _ => false
  end.

Lemma no_value_binds : forall on number K key proof, forges_value on number K key proof = true ->
  ~ value_binds_with on.
Proof.
  intros on number K key proof H HT. unfold forges_value in H.
  destruct (check_with _ _ _ _ _ _) as [[[i value]|]|] eqn:E; [|discriminate|discriminate].
  repeat rewrite andb_true_iff in H. destruct H as [[[[[HH HL] HL'] HC] HN] HB]. unfold holds_hashes in HH.
  destruct (get (small K) i) as [l|] eqn:HG; [|discriminate]. apply andb_prop in HH as [HK HV].
  apply equal_bytes_eq in HK. apply equal_bytes_eq in HV. apply Nat.eqb_eq in HL. apply Nat.eqb_eq in HL'.
  destruct (HT _ _ _ _ _ _ _ l key (served K i) (toy_ok number) (small_honest K number) HL E HG) as [[_ HE]|HB'].
  - unfold holds. auto.
  - rewrite HE, equal_bytes_refl in HN. discriminate.
  - exact (not_broken _ _ HB HB').
Qed.

(** The key is in the tree. *)
Definition forges_absence on number K i proof : bool :=
  let S := toy number in
  match check_with on S K (root S (small K)) (k K i) proof, get (small K) i with
  | Ok None, Some l =>
      equal_bytes (hKey l) (hash_key S K (k K i)) && none_found S (candidates S K (small K) proof)
  | _, _ => false
  end.

Lemma no_absence_binds : forall on number K i proof, forges_absence on number K i proof = true ->
  ~ absence_binds_with on.
Proof.
  intros on number K i proof H HT. unfold forges_absence in H.
  destruct (check_with _ _ _ _ _ _) as [[?|]|] eqn:E; try discriminate.
  destruct (get (small K) i) as [l|] eqn:HG; [|discriminate]. apply andb_prop in H as [HK HB]. apply equal_bytes_eq in HK.
  destruct (HT _ _ _ _ _ (toy_ok number) (small_honest K number) E) as [HN|HB'].
  - exact (HN i l HG HK).
  - exact (not_broken _ _ HB HB').
Qed.

Definition equal_raw (p q : raw_proof) : bool :=
  Z.eqb (index p) (index q) && equal_bytes (concat (nodes p)) (concat (nodes q))
  && (length (nodes p) =? length (nodes q)) && equal_bytes (value p) (value q).

Definition equal_proof (p q : leaf_proof) : bool :=
  match p, q with
  | Existence a p, Existence b q => equal_bytes a b && equal_raw p q
  | NonExistence a l r, NonExistence b l' r' => equal_bytes a b && equal_raw l l' && equal_raw r r'
  | _, _ => false
  end.

Lemma equal_proof_refl : forall p, equal_proof p p = true.
Proof.
  assert (H : forall p, equal_raw p p = true).
  { intro p. unfold equal_raw. now rewrite Z.eqb_refl, Nat.eqb_refl, !equal_bytes_refl. }
  intros [a p|a p q]; cbn [equal_proof]; now rewrite equal_bytes_refl, ?H.
Qed.

(** Another proof of what the honest prover proves. *)
Definition forges_proof on number K key proof : bool :=
  let S := toy number in
  match check_with on S K (root S (small K)) key proof with
  | Ok _ =>
      forallb (fun i => number (value_message plain K (v K i)) =? mix (value_message plain K (v K i)))%N [2; 3; 4]%N
      && negb (equal_proof proof (prove S K (small K) (served K) key))
      && none_found S (proof_candidates S K (small K) (served K) proof)
  | _ => false
  end.

Lemma no_one_proof : forall on number K key proof, forges_proof on number K key proof = true -> ~ one_proof_with on.
Proof.
  intros on number K key proof H HT. unfold forges_proof in H. destruct (check_with _ _ _ _ _ _) as [verdict|] eqn:E;
    [|discriminate].
  repeat rewrite andb_true_iff in H. destruct H as [[HV HN] HB].
  destruct (HT _ _ _ (served K) _ _ _ (toy_ok number) (small_honest K number) (small_stores K number HV) E) as [HE|HB'].
  - rewrite <- HE, equal_proof_refl in HN. discriminate.
  - exact (not_broken _ _ HB HB').
Qed.

Definition forges_tree on S K root key proof : bool :=
  match check_with on S K root key proof with Ok _ => negb (well_formed S K proof) | Error _ => false end.

Lemma no_any_tree : forall on S K root key proof, forges_tree on S K root key proof = true -> ~ any_tree_with on.
Proof.
  intros on S K root key proof H HT. unfold forges_tree in H. destruct (check_with _ _ _ _ _ _) as [verdict|] eqn:E;
    [|discriminate]. rewrite (HT _ _ _ _ _ _ E) in H. discriminate.
Qed.

(** *** Honest proofs, and how they are changed *)

Definition part (K : kind) (i : N) : raw_proof := prove_leaf plain (small K) (served K) i (leaf_at (small K) i).

Definition with_node (at_ : nat) (node : bytes) (p : raw_proof) : raw_proof :=
  {| index := index p; nodes := firstn at_ (nodes p) ++ node :: skipn (S at_) (nodes p); value := value p |}.
Definition with_value (value : bytes) (p : raw_proof) : raw_proof :=
  {| index := index p; nodes := nodes p; value := value |}.
Definition with_index (index : Z) (p : raw_proof) : raw_proof :=
  {| index := index; nodes := nodes p; value := value p |}.

Definition node_at (at_ : nat) (p : raw_proof) : bytes := nth at_ (nodes p) [].
(** The 32 bytes at this offset, raised by the modulus. *)
Definition lifted (offset : nat) (m : bytes) : bytes :=
  firstn offset m ++ big_endian 32 (integer (firstn 32 (skipn offset m)) + bls12377_order) ++ skipn (offset + 32) m.

(** A hash with which the forged message has the digest of the true one. *)
Definition like (forged true_message : bytes) : bytes -> N := except [(forged, mix true_message)].

(** *** Rules that existence takes *)

(** An inner node is shown as a leaf, one level too high. *)
Definition short_proof : raw_proof :=
  let forged := encode_opening plain {| prev := 3; next := 1; hKey := digest_of (mix (key_message plain Storage (k Storage 5)));
    hVal := digest_of (mix (value_message plain Storage (v Storage 7))) |} in
  let beside := encode_opening plain {| prev := 1; next := 1; hKey := digest_of 1; hVal := digest_of 1 |} in
  {| index := 2; value := v Storage 7;
     nodes := [root_message plain (small Storage);
               node plain (small Storage) 1 0 ++ node plain (small Storage) 1 1; beside; forged] |}.

Theorem node_count_needed : ~ existence_binds_with (without NodeCount).
Proof.
  apply (no_existence_binds _ (except
    [(node_at 3 short_proof, mix (node plain (small Storage) 0 4 ++ node plain (small Storage) 0 5));
     (node_at 2 short_proof, mix (node plain (small Storage) 0 6 ++ node plain (small Storage) 0 7))])
    Storage (k Storage 5) (Existence (k Storage 5) short_proof)).
  vm_cast_no_check (eq_refl true).
Qed.

Theorem value_length_needed : ~ existence_binds_with (without ValueLength).
Proof.
  apply (no_existence_binds _ mix Storage (k Storage 2)
    (Existence (k Storage 2) (with_value (value_message plain Storage (v Storage 2)) (part Storage 2)))).
  vm_cast_no_check (eq_refl true).
Qed.

Theorem value_hash_needed : ~ existence_binds_with (without ValueHash).
Proof.
  apply (no_existence_binds _ mix Storage (k Storage 2) (Existence (k Storage 2) (with_value (v Storage 7) (part Storage 2)))).
  vm_cast_no_check (eq_refl true).
Qed.

Theorem leaf_key_needed : ~ existence_binds_with (without LeafKey).
Proof.
  apply (no_existence_binds _ mix Storage (k Storage 5) (Existence (k Storage 5) (part Storage 2))).
  vm_cast_no_check (eq_refl true).
Qed.

(** A leaf that is not in the tree. *)
Definition invented : bytes := encode_opening plain (leaf_of Storage 0 1 5).

Theorem sub_root_needed : ~ existence_binds_with (without SubRoot).
Proof.
  apply (no_existence_binds _ mix Storage (k Storage 5)
    (Existence (k Storage 5) (with_value (v Storage 5) (with_node 4 invented (part Storage 2))))).
  vm_cast_no_check (eq_refl true).
Qed.

(** A leaf, its sibling and node 0, made to fit. Returns the proof and the root of its tree. *)
Definition planted (S : scheme) (free : bytes) (i : N) (opening sibling value : bytes) : raw_proof * bytes :=
  let digest := if is_zero sibling then zero_digest else hash S sibling in
  let above := hash S (zeros 64) in
  let node_0 := free ++ fold_path S (hash S opening) [digest; above; above] i in
  ({| index := Z.of_N i; nodes := [node_0; zeros 64; zeros 64; sibling; opening]; value := value |}, hash S node_0).

Theorem trusted_root_needed : ~ existence_binds_with (without TrustedRoot).
Proof.
  apply (no_existence_binds _ mix Storage (k Storage 5)
    (Existence (k Storage 5) (fst (planted plain (word_of 5) 2 invented zero_digest (v Storage 5))))).
  vm_cast_no_check (eq_refl true).
Qed.

(** The balance, raised by the modulus. *)
Theorem value_canonical_needed : ~ value_binds_with (without ValueCanonical).
Proof.
  pose (true_message := value_message plain Account (v Account 2)).
  apply (no_value_binds _ (like (lifted 32 true_message) true_message) Account (k Account 2)
    (Existence (k Account 2) (with_value (lifted 32 (v Account 2)) (part Account 2)))).
  vm_cast_no_check (eq_refl true).
Qed.

(** *** Rules that absence takes *)

(** The right neighbour's key is raised by the modulus: it is the key itself. *)
Theorem leaf_canonical_needed : ~ absence_binds_with (without LeafCanonical).
Proof.
  apply (no_absence_binds _ (like (lifted 64 (node_at 4 (part Storage 3))) (node_at 4 (part Storage 3))) Storage 3
    (NonExistence (k Storage 3) (part Storage 2) (with_node 4 (lifted 64 (node_at 4 (part Storage 3))) (part Storage 3)))).
  vm_cast_no_check (eq_refl true).
Qed.

Theorem above_left_needed : ~ absence_binds_with (without AboveLeft).
Proof.
  apply (no_absence_binds _ mix Storage 2 (NonExistence (k Storage 2) (part Storage 2) (part Storage 3))).
  vm_cast_no_check (eq_refl true).
Qed.

Theorem below_right_needed : ~ absence_binds_with (without BelowRight).
Proof.
  apply (no_absence_binds _ mix Storage 3 (NonExistence (k Storage 3) (part Storage 2) (part Storage 3))).
  vm_cast_no_check (eq_refl true).
Qed.

(** In an honest tree one link follows from the other: without both, any two leaves pass for neighbours. *)
Theorem one_link_needed : ~ absence_binds_with (fun r => match r with NextLink | PrevLink => false | _ => true end).
Proof.
  apply (no_absence_binds _ mix Storage 3 (NonExistence (k Storage 3) (part Storage 2) (part Storage 4))).
  vm_cast_no_check (eq_refl true).
Qed.

(** *** Rules without which a question has two proofs *)

Theorem index_range_needed : ~ one_proof_with (without IndexRange).
Proof.
  apply (no_one_proof _ mix Storage (k Storage 1)
    (NonExistence (k Storage 1) (with_index (-8) (part Storage 0)) (part Storage 2))).
  vm_cast_no_check (eq_refl true).
Qed.

Definition present (changed : raw_proof -> raw_proof) (i : N) : leaf_proof :=
  Existence (k Storage i) (changed (part Storage i)).

Theorem inner_length_needed : ~ one_proof_with (without InnerLength).
Proof.
  apply (no_one_proof _ (like (word_of 1) (node_at 1 (part Storage 2))) Storage (k Storage 2)
    (present (with_node 1 (word_of 1)) 2)).
  vm_cast_no_check (eq_refl true).
Qed.

Theorem inner_canonical_needed : ~ one_proof_with (without InnerCanonical).
Proof.
  apply (no_one_proof _ (like (lifted 0 (node_at 1 (part Storage 2))) (node_at 1 (part Storage 2))) Storage (k Storage 2)
    (present (with_node 1 (lifted 0 (node_at 1 (part Storage 2)))) 2)).
  vm_cast_no_check (eq_refl true).
Qed.

Theorem sibling_length_needed : ~ one_proof_with (without SiblingLength).
Proof.
  apply (no_one_proof _ (like [x01] (node_at 3 (part Storage 2))) Storage (k Storage 2) (present (with_node 3 [x01]) 2)).
  vm_cast_no_check (eq_refl true).
Qed.

Theorem sibling_canonical_needed : ~ one_proof_with (without SiblingCanonical).
Proof.
  apply (no_one_proof _ (like (lifted 64 (node_at 3 (part Storage 2))) (node_at 3 (part Storage 2))) Storage (k Storage 2)
    (present (with_node 3 (lifted 64 (node_at 3 (part Storage 2)))) 2)).
  vm_cast_no_check (eq_refl true).
Qed.

Theorem sibling_digest_needed : ~ one_proof_with (without SiblingDigest).
Proof.
  apply (no_one_proof _ (like (word_of 5) (node_at 3 (part Storage 2))) Storage (k Storage 2)
    (present (with_node 3 (word_of 5)) 2)).
  vm_cast_no_check (eq_refl true).
Qed.

Theorem zero_opening_needed : ~ one_proof_with (without ZeroOpening).
Proof.
  apply (no_one_proof _ mix Storage (k Storage 4) (present (with_node 3 (zeros 128)) 4)). vm_cast_no_check (eq_refl true).
Qed.

Theorem key_asked_needed : ~ one_proof_with (without KeyAsked).
Proof.
  apply (no_one_proof _ mix Storage (k Storage 2) (Existence (k Storage 3) (part Storage 2))). vm_cast_no_check (eq_refl true).
Qed.

Theorem neighbour_length_needed : ~ one_proof_with (without NeighbourLength).
Proof.
  apply (no_one_proof _ mix Account (k Account 1)
    (NonExistence (k Account 1) (with_value (zeros 192) (part Account 0)) (part Account 2))).
  vm_cast_no_check (eq_refl true).
Qed.

Theorem sentinel_value_needed : ~ one_proof_with (without SentinelValue).
Proof.
  apply (no_one_proof _ mix Storage (k Storage 1)
    (NonExistence (k Storage 1) (with_value (word_of 9) (part Storage 0)) (part Storage 2))).
  vm_cast_no_check (eq_refl true).
Qed.

Theorem neighbour_hash_needed : ~ one_proof_with (without NeighbourHash).
Proof.
  apply (no_one_proof _ mix Storage (k Storage 1)
    (NonExistence (k Storage 1) (part Storage 0) (with_value (word_of 9) (part Storage 2)))).
  vm_cast_no_check (eq_refl true).
Qed.

(** *** Rules that an honest tree keeps by itself *)

Definition leaf_with (S : scheme) (K : kind) (p n : bytes) (key value : bytes) : bytes :=
  p ++ n ++ hash_key S K key ++ hash S (value_message S K value).

(** A tree with one leaf, and the proof of its existence. *)
Definition alone (S : scheme) (K : kind) (free p n sibling key value : bytes) : leaf_proof * bytes :=
  let made := planted S free 2 (leaf_with S K p n key value) sibling value in (Existence key (fst made), snd made).

Definition refutes (r : rule) (S : scheme) (K : kind) (key : bytes) (made : leaf_proof * bytes) : bool :=
  forges_tree (without r) S K (snd made) key (fst made).

Lemma refutes_any_tree : forall r S K key made, refutes r S K key made = true -> ~ any_tree_with (without r).
Proof. intros r S K key made H. eapply no_any_tree. exact H. Qed.

Definition wide (n : N) : bytes := widen (word_of n).
(** Its first byte is a stray one. *)
Definition stray (word : bytes) : bytes := x01 :: tl word.
Definition one := word_of 1.
Definition alone_in_storage free p n sibling := alone plain Storage free p n sibling one one.
Definition alone_in_wide free p n sibling := alone wide_toy Storage free p n sibling one one.
Definition other_leaf (p n : bytes) : bytes := p ++ n ++ digest_of 7 ++ digest_of 7.
Definition other_wide_leaf (p n : bytes) : bytes := p ++ n ++ widen (big_endian 16 7) ++ widen (big_endian 16 7).

Theorem root_word_needed : ~ any_tree_with (without RootWord).
Proof.
  apply (refutes_any_tree _ wide_toy Storage one (alone_in_wide (stray (wide 3)) (wide 0) (wide 1) zero_digest)).
  vm_cast_no_check (eq_refl true).
Qed.

Theorem root_range_needed : ~ any_tree_with (without RootRange).
Proof.
  apply (refutes_any_tree _ plain Storage one (alone_in_storage (word_of 9) (word_of 0) one zero_digest)).
  vm_cast_no_check (eq_refl true).
Qed.

Theorem below_next_free_needed : ~ any_tree_with (without BelowNextFree).
Proof.
  apply (refutes_any_tree _ plain Storage one (alone_in_storage (word_of 2) (word_of 0) one zero_digest)).
  vm_cast_no_check (eq_refl true).
Qed.

Theorem leaf_word_needed : ~ any_tree_with (without LeafWord).
Proof.
  apply (refutes_any_tree _ wide_toy Storage one (alone_in_wide (wide 3) (stray (wide 0)) (wide 1) zero_digest)).
  vm_cast_no_check (eq_refl true).
Qed.

Theorem leaf_range_needed : ~ any_tree_with (without LeafRange).
Proof.
  apply (refutes_any_tree _ plain Storage one (alone_in_storage (word_of 3) (word_of 0) (word_of 8) zero_digest)).
  vm_cast_no_check (eq_refl true).
Qed.

Theorem sibling_word_needed : ~ any_tree_with (without SiblingWord).
Proof.
  apply (refutes_any_tree _ wide_toy Storage one
    (alone_in_wide (wide 3) (wide 0) (wide 1) (other_wide_leaf (wide 0) (stray (wide 1))))).
  vm_cast_no_check (eq_refl true).
Qed.

Theorem sibling_range_needed : ~ any_tree_with (without SiblingRange).
Proof.
  apply (refutes_any_tree _ plain Storage one
    (alone_in_storage (word_of 3) (word_of 0) one (other_leaf (word_of 8) one))).
  vm_cast_no_check (eq_refl true).
Qed.

Theorem zero_value_needed : ~ any_tree_with (without ZeroValue).
Proof.
  apply (refutes_any_tree _ plain Storage one
    (alone plain Storage (word_of 3) (word_of 0) one zero_digest one zero_digest)).
  vm_cast_no_check (eq_refl true).
Qed.

Definition account (nonce code_size : N) : bytes :=
  word_of nonce ++ one ++ one ++ one ++ one ++ word_of code_size.
Definition address : bytes := big_endian 20 1.

Theorem nonce_needed : ~ any_tree_with (without Nonce).
Proof.
  apply (refutes_any_tree _ plain Account address
    (alone plain Account (word_of 3) (word_of 0) one zero_digest address (account (2 ^ 64) 1))).
  vm_cast_no_check (eq_refl true).
Qed.

Theorem code_size_needed : ~ any_tree_with (without CodeSize).
Proof.
  apply (refutes_any_tree _ plain Account address
    (alone plain Account (word_of 3) (word_of 0) one zero_digest address (account 1 (2 ^ 64)))).
  vm_cast_no_check (eq_refl true).
Qed.

(** Two leaves beside each other, at 2 and 3, and a proof that nothing lies between them. *)
Definition two (left_key right_key : bytes) (left_next right_prev : N) : leaf_proof * bytes :=
  let hval := hash plain (value_message plain Storage one) in
  let left := word_of 0 ++ word_of left_next ++ left_key ++ hval in
  let right := word_of right_prev ++ one ++ right_key ++ hval in
  (NonExistence one (fst (planted plain (word_of 4) 2 left right one)) (fst (planted plain (word_of 4) 3 right left one)),
   snd (planted plain (word_of 4) 2 left right one)).

Definition low := digest_of 1.
Definition high := digest_of (2 ^ 100).

Theorem next_link_needed : ~ any_tree_with (without NextLink).
Proof. apply (refutes_any_tree _ plain Storage one (two low high 5 2)). vm_cast_no_check (eq_refl true). Qed.

Theorem prev_link_needed : ~ any_tree_with (without PrevLink).
Proof. apply (refutes_any_tree _ plain Storage one (two low high 3 5)). vm_cast_no_check (eq_refl true). Qed.

(** A leaf with the key of HEAD, at index 2. *)
Theorem sentinel_place_needed : ~ any_tree_with (without SentinelPlace).
Proof. apply (refutes_any_tree _ plain Storage one (two zero_digest high 3 2)). vm_cast_no_check (eq_refl true). Qed.

(** *** What no rule can give *)

(** A tree whose list leaves out the leaf at 3. Its root is as good as any. *)
Definition dishonest : tree := {|
  get := fun i =>
    match i with
    | 2 => Some (leaf_of Storage 0 4 2)
    | 4 => Some (leaf_of Storage 2 1 4)
    | _ => get (small Storage) i
    end%N;
  next_free := 5;
  order := [0; 2; 4; 1]%N;
|}.

Definition dishonest_part (i : N) : raw_proof := prove_leaf plain dishonest (served Storage) i (leaf_at dishonest i).

(** With all rules on, the key of that leaf is proven present and absent. So an honest tree is assumed, not checked. *)
Theorem honest_tree_needed : exists root key present absent,
  check plain Storage root key present = Ok (Some (3%N, v Storage 3)) /\ check plain Storage root key absent = Ok None.
Proof.
  exists (root plain dishonest), (k Storage 3), (Existence (k Storage 3) (dishonest_part 3)),
    (NonExistence (k Storage 3) (dishonest_part 2) (dishonest_part 4)).
  split; vm_compute; reflexivity.
Qed.

(** *** All of them *)

(** Without any one rule, other than the five early ones, a theorem is false. *)
Theorem every_rule_is_needed : forall r, In r early_rules \/
  ~ (existence_binds_with (without r) /\ value_binds_with (without r) /\ absence_binds_with (without r)
     /\ one_proof_with (without r) /\ any_tree_with (without r)).
Proof.
  assert (A : forall P Q R T U : Prop, ~ P -> ~ (P /\ Q /\ R /\ T /\ U)) by tauto.
  assert (B : forall P Q R T U : Prop, ~ Q -> ~ (P /\ Q /\ R /\ T /\ U)) by tauto.
  assert (C : forall P Q R T U : Prop, ~ R -> ~ (P /\ Q /\ R /\ T /\ U)) by tauto.
  assert (D : forall P Q R T U : Prop, ~ T -> ~ (P /\ Q /\ R /\ T /\ U)) by tauto.
  assert (E : forall P Q R T U : Prop, ~ U -> ~ (P /\ Q /\ R /\ T /\ U)) by tauto.
  intros []; try (left; cbn; tauto); right.
  - apply D, index_range_needed.
  - apply A, node_count_needed.
  - apply E, root_word_needed.
  - apply E, root_range_needed.
  - apply D, inner_length_needed.
  - apply D, inner_canonical_needed.
  - apply D, sibling_length_needed.
  - apply D, sibling_canonical_needed.
  - apply D, sibling_digest_needed.
  - apply D, zero_opening_needed.
  - apply E, sibling_word_needed.
  - apply E, sibling_range_needed.
  - apply C, leaf_canonical_needed.
  - apply E, leaf_word_needed.
  - apply E, leaf_range_needed.
  - apply A, value_length_needed.
  - apply B, value_canonical_needed.
  - apply E, below_next_free_needed.
  - apply D, key_asked_needed.
  - apply E, sentinel_place_needed.
  - apply A, sub_root_needed.
  - apply A, trusted_root_needed.
  - apply A, leaf_key_needed.
  - apply A, value_hash_needed.
  - apply E, nonce_needed.
  - apply E, code_size_needed.
  - apply E, zero_value_needed.
  - apply D, neighbour_length_needed.
  - apply D, sentinel_value_needed.
  - apply D, neighbour_hash_needed.
  - apply E, next_link_needed.
  - apply E, prev_link_needed.
  - apply C, above_left_needed.
  - apply C, below_right_needed.
Qed.
