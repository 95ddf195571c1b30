(** What a verdict binds: existence, absence, and never both. *)
From Soundness Require Export Tree.

(** *** Reading [check_with] backwards *)

Ltac passes H :=
  match type of H with
  | (if ?b then Error _ else _) = Ok _ => destruct b eqn:?; [discriminate H|]
  | match ?a with Ok _ => _ | Error _ => _ end = Ok _ => destruct a eqn:?; [|discriminate H]
  end.

Lemma passed : forall (on : rule -> bool) r b, on r && negb b = false -> on r = true -> b = true.
Proof. intros on r b H Hr. rewrite Hr in H. now destruct b. Qed.

Ltac included H :=
  match goal with
  | HI : includes ?on ?rules |- ?on ?r = true => unfold includes in HI; rewrite Forall_forall in HI; apply HI; simpl; tauto
  end.

(** *** Candidates: the messages of a proof, each beside the honest one in its place *)

Section Candidates.
Variable S : scheme.
Variable t : tree.

Fixpoint climb (level : nat) (digest : bytes) (siblings : list bytes) (i : N) : list break :=
  match siblings with
  | [] => []
  | sibling :: rest =>
      let message := if N.odd i then sibling ++ digest else digest ++ sibling in
      Collision message (node S t level (2 * (i / 2)) ++ node S t level (2 * (i / 2) + 1))
      :: climb (Datatypes.S level) (hash S message) rest (i / 2)
  end.

Definition path_candidates (d : decoded) : list break :=
  Collision (root_node d) (root_message S t)
  :: match get t (leaf_index d) with
     | None => Zero (leaf_node d)
     | Some l => Collision (leaf_node d) (encode_opening S l)
     end
  :: climb 0 (hash S (leaf_node d)) (siblings_of S d) (leaf_index d).

End Candidates.

(** A proof is opened without any rule, which cannot fail. *)
Definition opened (S : scheme) (K : kind) (p : raw_proof) : list decoded :=
  match decode_proof (fun _ => false) S K [] p with Ok d => [d] | Error _ => [] end.

Definition candidates (S : scheme) (K : kind) (t : tree) (proof : leaf_proof) : list break :=
  match proof with
  | Existence _ p => flat_map (path_candidates S t) (opened S K p)
  | NonExistence _ p q => flat_map (path_candidates S t) (opened S K p ++ opened S K q)
  end.

(** *** Decoding gives the same with any rules *)

Section Decoding.
Variable on : rule -> bool.
Variable S : scheme.
Variable K : kind.

Lemma decode_index_word_free : forall a b limit w n, decode_index_word on S K a b limit w = Ok n ->
  decode_index_word (fun _ => false) S K a b limit w = Ok n /\ n = integer (read_word S w).
Proof. intros a b limit w n H. unfold decode_index_word in *. simpl. repeat passes H. inversion H. auto. Qed.

Lemma decode_opening_free : forall a b o l, decode_opening on S K a b o = Ok l ->
  decode_opening (fun _ => false) S K a b o = Ok l.
Proof.
  intros a b o l H. unfold decode_opening in *.
  passes H. passes H. apply decode_index_word_free in Heqr as [-> _]. apply decode_index_word_free in Heqr0 as [-> _].
  assumption.
Qed.

Lemma decode_inner_free : forall nodes, decode_inner (fun _ => false) S K nodes = Ok tt.
Proof. induction nodes as [|n nodes IH]; simpl; auto. Qed.

Lemma decode_sibling_free : forall o r, decode_sibling on S K o = Ok r -> decode_sibling (fun _ => false) S K o = Ok r.
Proof.
  intros o r H. unfold decode_sibling in *. cbn [andb]. do 4 passes H.
  destruct (is_zero o); [assumption|]. passes H. apply decode_opening_free in Heqr0 as ->. assumption.
Qed.

Lemma decode_value_free : forall lengths v m, decode_value on S K lengths v = Ok m ->
  decode_value (fun _ => false) S K [] v = Ok m.
Proof.
  intros lengths v m H. unfold decode_value in *. cbn [andb]. passes H.
  destruct (length v =? value_length K); [|assumption]. now passes H.
Qed.

Lemma decode_proof_free : forall lengths p d, decode_proof on S K lengths p = Ok d -> opened S K p = [d].
Proof.
  intros lengths p d H. unfold opened. unfold decode_proof in *. cbn [andb].
  do 5 passes H. passes H. passes H. passes H. passes H. passes H. passes H. passes H. passes H.
  apply decode_index_word_free in Heqr as [-> _]. rewrite decode_inner_free.
  apply decode_sibling_free in Heqr1 as ->. apply decode_opening_free in Heqr2 as ->.
  apply decode_value_free in Heqr3 as ->. now inversion H.
Qed.

End Decoding.

(** *** What each rule of the decoder establishes *)

Record decoding (on : rule -> bool) (S : scheme) (K : kind) (lengths : list nat) (p : raw_proof) (d : decoded) : Prop := {
  d_index : leaf_index d = Z.to_N (index p);
  d_range : on IndexRange = true -> index p = Z.of_N (leaf_index d) /\ (leaf_index d < max_leaves S)%N;
  d_count : on NodeCount = true -> length (nodes p) = node_count S;
  d_root_node : root_node d = hd [] (nodes p);
  d_root_length : on RootLength = true -> length (root_node d) = root_length S;
  d_root_canonical : on RootCanonical = true -> canonical S (root_node d) = true;
  d_inner : inner d = removelast (removelast (tl (nodes p)));
  d_inner_rules : decode_inner on S K (inner d) = Ok tt;
  d_sibling : decode_sibling on S K (last (removelast (tl (nodes p))) []) = Ok (sibling_leaf d);
  d_leaf_node : leaf_node d = last (tl (nodes p)) [];
  d_leaf_length : on LeafLength = true -> length (leaf_node d) = opening_length S;
  d_leaf_canonical : on LeafCanonical = true -> canonical S (leaf_node d) = true;
  d_leaf : decode_opening on S K LeafWord LeafRange (leaf_node d) = Ok (the_leaf d);
  d_value : the_value d = value p;
  d_preimage : decode_value on S K lengths (value p) = Ok (preimage d);
  d_next_free : decode_index_word on S K RootWord RootRange (max_leaves S + 1) (firstn (word_length S) (root_node d))
    = Ok (next_free_node d);
  d_below : on BelowNextFree = true -> (leaf_index d < next_free_node d)%N;
}.

Lemma decode_proof_facts : forall on S K lengths p d, decode_proof on S K lengths p = Ok d -> decoding on S K lengths p d.
Proof.
  intros on S K lengths p d H. unfold decode_proof in H.
  do 13 passes H. inversion H; subst; clear H.
  constructor; cbn; try reflexivity; try assumption; try (intro Hon; now eapply passed; eauto).
  - intro Hon. pose proof (passed _ _ _ Heqb Hon) as HI. apply andb_prop in HI as [HA HB].
    apply Z.leb_le in HA. apply Z.ltb_lt in HB. rewrite Z2N.id by assumption. split; [reflexivity|]. lia.
  - intro Hon. eapply passed in Heqb0; eauto. now apply Nat.eqb_eq.
  - intro Hon. eapply passed in Heqb2; eauto. now apply Nat.eqb_eq.
  - destruct a0; assumption.
  - intro Hon. eapply passed in Heqb4; eauto. now apply Nat.eqb_eq.
  - intro Hon. eapply passed in Heqb6; eauto. now apply N.ltb_lt.
Qed.

Lemma length_removelast : forall {A} (l : list A), length (removelast l) = pred (length l).
Proof. intros A l. rewrite removelast_firstn_len, firstn_length. lia. Qed.

Section Path.
Variable S : scheme.
Hypothesis OK : scheme_ok S.
Variable t : tree.
Hypothesis HT : honest S t.

Definition good (digest : bytes) : Prop := length digest = 32 /\ canonical S digest = true.

Lemma good_hash : forall m, good (hash S m).
Proof. intro m. split; [apply (ok_hash_length S OK) | apply (ok_hash_canonical S OK)]. Qed.

Lemma good_sibling_digest : forall s, good (sibling_digest S s).
Proof. intros [o|]; simpl; [apply good_hash|]. split; [reflexivity | apply (ok_zero_canonical S OK)]. Qed.

Lemma good_siblings : forall d, Forall good (siblings_of S d).
Proof.
  intro d. unfold siblings_of. constructor; [apply good_sibling_digest|].
  apply Forall_rev. apply Forall_forall. intros x Hx. apply in_map_iff in Hx as (y & <- & _). apply good_hash.
Qed.

Lemma half : forall i, i = (2 * (i / 2) + if N.odd i then 1 else 0)%N.
Proof.
  intro i. rewrite (N.div_mod i 2) at 1 by lia. f_equal. rewrite <- N.bit0_odd, <- N.bit0_mod.
  now destruct (N.testbit i 0).
Qed.

(** From the top down: where a digest is the honest one, so are both its children, or a break is found. *)
Lemma climb_binds : forall siblings level digest i, good digest -> Forall good siblings ->
  fold_path S digest siblings i = node S t (level + length siblings) (i / 2 ^ N.of_nat (length siblings)) ->
  digest = node S t level i \/ broken S (climb S t level digest siblings i).
Proof.
  induction siblings as [|s siblings IH]; intros level digest i HD HS H.
  - simpl in H. rewrite Nat.add_0_r, N.div_1_r in H. now left.
  - inversion HS as [|? ? Hs HS']; subst. cbn [fold_path] in H. cbn [climb].
    set (message := if N.odd i then s ++ digest else digest ++ s) in *.
    assert (Hup : hash S message = node S t (Datatypes.S level) (i / 2)
      \/ broken S (climb S t (Datatypes.S level) (hash S message) siblings (i / 2))).
    { apply IH; [apply good_hash | assumption|]. etransitivity; [exact H|]. cbn [length]. rewrite Nat.add_succ_r. f_equal.
      rewrite N.div_div by (try apply N.pow_nonzero; lia). rewrite Nat2N.inj_succ, N.pow_succ_r'. reflexivity. }
    destruct Hup as [Hup|Hup].
    + cbn [node] in Hup.
      assert (HG : length message = 64 /\ canonical S message = true).
      { unfold message. destruct HD as [HD1 HD2], Hs as [Hs1 Hs2]. destruct (N.odd i).
        - split; [rewrite app_length; lia | now apply canonical_two].
        - split; [rewrite app_length; lia | now apply canonical_two]. }
      match goal with |- _ \/ broken S ?c => destruct (broken_collision S message
        (node S t level (2 * (i / 2)) ++ node S t level (2 * (i / 2) + 1)) c) as [HE|HB] end;
        [now left | | apply HG | | exact Hup | | now right].
      * rewrite app_length, !length_node by assumption. apply HG.
      * apply canonical_two; [assumption | now apply length_node | now apply canonical_node | now apply canonical_node].
      * left. rewrite (half i). unfold message in HE. destruct HD as [HD1 HD2], Hs as [Hs1 Hs2]. destruct (N.odd i).
        -- apply app_injective in HE as [_ HE]; [exact HE|]. now rewrite Hs1, length_node.
        -- apply app_injective in HE as [HE _]; [rewrite N.add_0_r; exact HE|]. now rewrite HD1, length_node.
    + right. eapply broken_incl; [|exact Hup]. intros x Hx. now right.
Qed.

Definition path_rules : list rule :=
  [IndexRange; NodeCount; RootLength; RootCanonical; LeafLength; LeafCanonical; SubRoot; TrustedRoot].

Lemma decode_encoded_opening : forall on K a b l o, get t o = Some l ->
  decode_opening on S K a b (encode_opening S l) = Ok l.
Proof.
  intros on K a b l o HG. destruct (honest_leaf S t HT _ _ HG) as (Hp & Hn & HK & _ & HV & _).
  unfold decode_opening, encode_opening.
  rewrite (firstn_app_left (word S (prev l))) by now apply length_word.
  rewrite (skipn_app_left (word S (prev l))) by now apply length_word.
  rewrite (firstn_app_left (word S (next l))) by now apply length_word.
  assert (HI : forall n, (n < max_leaves S)%N -> decode_index_word on S K a b (max_leaves S) (word S n) = Ok n).
  { intros n Hlt. unfold decode_index_word. rewrite is_word_word, read_word_word by (assumption || lia).
    apply N.ltb_lt in Hlt. rewrite Hlt. cbn [negb]. now rewrite !andb_false_r. }
  rewrite !HI by assumption.
  assert (HW : length (word S (prev l) ++ word S (next l)) = 2 * word_length S).
  { rewrite app_length, !length_word by assumption. lia. }
  rewrite !app_assoc. rewrite <- (app_assoc (word S (prev l) ++ word S (next l))).
  rewrite (skipn_app_left _ _ _ HW), (firstn_app_left _ _ _ HK).
  rewrite app_assoc, skipn_app_left by (rewrite app_length, HW, HK; reflexivity).
  now destruct l.
Qed.

Lemma path_binds : forall on K lengths p d, includes on path_rules ->
  decode_proof on S K lengths p = Ok d -> verify_path on S K (root S t) d = Ok tt ->
  (get t (leaf_index d) = Some (the_leaf d) /\ leaf_node d = encode_opening S (the_leaf d)
   /\ root_node d = root_message S t /\ hash S (leaf_node d) = node S t 0 (leaf_index d)
   /\ fold_path S (hash S (leaf_node d)) (siblings_of S d) (leaf_index d) = sub_root S t
   /\ length (siblings_of S d) = depth S)
  \/ broken S (path_candidates S t d).
Proof.
  intros on K lengths p d HI HD HP. pose proof (decode_proof_facts _ _ _ _ _ _ HD) as F.
  assert (HFree : (next_free t <= max_leaves S)%N) by apply (honest_free S t HT).
  assert (Hon : forall r, In r path_rules -> on r = true)
    by (unfold includes in HI; rewrite Forall_forall in HI; exact HI).
  unfold verify_path in HP. passes HP. passes HP. clear HP.
  apply passed in Heqb; [|apply Hon; simpl; tauto]. apply equal_bytes_eq in Heqb.
  apply passed in Heqb0; [|apply Hon; simpl; tauto]. apply equal_bytes_eq in Heqb0.
  assert (HLen : length (siblings_of S d) = depth S).
  { unfold siblings_of. cbn [length]. rewrite rev_length, map_length, (d_inner _ _ _ _ _ _ F).
    rewrite !length_removelast. pose proof (d_count _ _ _ _ _ _ F (Hon NodeCount ltac:(simpl; tauto))) as HC.
    unfold node_count in HC. pose proof (ok_depth S OK). destruct (nodes p); simpl in *; lia. }
  destruct (d_range _ _ _ _ _ _ F (Hon IndexRange ltac:(simpl; tauto))) as [_ HRange].
  (* The root, and so the sub-root. *)
  eapply (broken_collision S _ _ (path_candidates S t d)) in Heqb0;
    [| left; reflexivity
     | rewrite length_root_message by assumption; apply (d_root_length _ _ _ _ _ _ F); apply Hon; simpl; tauto
     | apply (d_root_canonical _ _ _ _ _ _ F); apply Hon; simpl; tauto
     | now apply canonical_root_message].
  destruct Heqb0 as [HRoot|HB]; [|now right].
  unfold sub_root_of in Heqb. rewrite HRoot in Heqb. unfold root_message in Heqb.
  rewrite skipn_app_left in Heqb by now apply length_word.
  (* The path. *)
  assert (HClimb : hash S (leaf_node d) = node S t 0 (leaf_index d)
    \/ broken S (climb S t 0 (hash S (leaf_node d)) (siblings_of S d) (leaf_index d))).
  { apply climb_binds; [apply good_hash | apply good_siblings|]. rewrite Heqb, HLen. simpl.
    unfold sub_root. f_equal. symmetry. apply N.div_small. exact HRange. }
  destruct HClimb as [HLeaf|HB];
    [|right; eapply broken_incl; [|exact HB]; intros x Hx; right; right; assumption].
  (* The leaf. *)
  pose proof (d_leaf_length _ _ _ _ _ _ F (Hon LeafLength ltac:(simpl; tauto))) as HLL.
  pose proof (d_leaf_canonical _ _ _ _ _ _ F (Hon LeafCanonical ltac:(simpl; tauto))) as HLC.
  pose proof HLeaf as HLeaf'. cbn [node] in HLeaf.
  destruct (get t (leaf_index d)) as [l|] eqn:HG.
  - destruct (honest_leaf S t HT _ _ HG) as (Hp & Hn & HK1 & HK2 & HV1 & HV2).
    simpl in HLeaf. eapply (broken_collision S _ _ (path_candidates S t d)) in HLeaf;
      [| right; left; now rewrite HG
       | rewrite length_opening by assumption; exact HLL
       | exact HLC | now apply canonical_opening].
    destruct HLeaf as [HE|HB]; [|now right]. left.
    assert (the_leaf d = l).
    { pose proof (d_leaf _ _ _ _ _ _ F) as HDL. rewrite HE in HDL.
      rewrite (decode_encoded_opening _ _ _ _ _ _ HG) in HDL. now inversion HDL. }
    subst l. auto 10.
  - right. simpl in HLeaf. eapply broken_in; [right; left; now rewrite HG|].
    simpl. rewrite HLL, HLC, HLeaf. destruct (Nat.eqb_spec (opening_length S) 0) as [E|E]; [|apply equal_bytes_refl].
    unfold opening_length in E. lia.
Qed.

End Path.

(** *** The theorems. Each says which rules it takes; Needed.v shows that it fails without any one of them. *)

(** 1. If existence is accepted against the root of an honest tree, the leaf at that index has the hash of the key and the
    hash of the value; or a break is found. *)
Definition existence_binds_with (on : rule -> bool) : Prop :=
  forall S K t key proof i v, scheme_ok S -> honest S t ->
  check_with on S K (root S t) key proof = Ok (Some (i, v)) ->
  (exists l, get t i = Some l /\ hKey l = hash_key S K key /\ hVal l = hash S (value_message S K v))
  \/ broken S (candidates S K t proof).

Definition existence_rules : list rule := path_rules ++ [LeafKey; ValueLength; ValueHash].

(** 2. If absence is accepted against the root of an honest tree, no leaf has the hash of the key; or a break is found. *)
Definition absence_binds_with (on : rule -> bool) : Prop :=
  forall S K t key proof, scheme_ok S -> honest S t ->
  check_with on S K (root S t) key proof = Ok None ->
  (forall i l, get t i = Some l -> hKey l <> hash_key S K key)
  \/ broken S (candidates S K t proof).

Definition absence_rules : list rule := path_rules ++ [NextLink; AboveLeft; BelowRight].

Lemma includes_app : forall on a b, includes on (a ++ b) <-> includes on a /\ includes on b.
Proof. intros on a b. apply Forall_app. Qed.

Lemma includes_on : forall on rules r, includes on rules -> In r rules -> on r = true.
Proof. intros on rules r HI. unfold includes in HI. rewrite Forall_forall in HI. apply HI. Qed.

Ltac is_on := eapply includes_on; [eassumption | simpl; tauto].

Lemma flat_map_one : forall {A B} (f : A -> list B) (l : list A) x, In x l -> forall y, In y (f x) -> In y (flat_map f l).
Proof. intros. apply in_flat_map. eauto. Qed.

(** What an accepted proof of each form has passed. *)

Record accepted_existence (on : rule -> bool) (S : scheme) (K : kind) (root key served : bytes) (p : raw_proof)
  (d : decoded) : Prop := {
  ae_length : on KeyLength = true -> length served = key_length K;
  ae_decode : decode_proof on S K [value_length K] p = Ok d;
  ae_key : on KeyAsked = true -> served = key;
  ae_place : verify_sentinel_place on S K d = Ok tt;
  ae_path : verify_path on S K root d = Ok tt;
  ae_leaf_key : on LeafKey = true -> hKey (the_leaf d) = hash_key S K key;
  ae_value : on ValueHash = true -> hVal (the_leaf d) = hash S (preimage d);
  ae_storable : verify_storable on K (the_value d) = Ok tt;
}.

Lemma existence_accepted : forall on S K root key served p v,
  check_with on S K root key (Existence served p) = Ok v ->
  exists d, accepted_existence on S K root key served p d /\ v = Some (leaf_index d, the_value d).
Proof.
  intros on S K root key served p v H. cbn [check_with] in H.
  passes H. passes H. passes H. unfold verify_existing in H. do 5 passes H. inversion H; subst.
  repeat match goal with a : unit |- _ => destruct a end.
  exists a. split; [|reflexivity]. constructor; try assumption; intro Hon.
  - eapply passed in Heqb; [|assumption]. now apply Nat.eqb_eq.
  - eapply passed in Heqb0; [|assumption]. now apply equal_bytes_eq.
  - eapply passed in Heqb1; [|assumption]. now apply equal_bytes_eq.
  - eapply passed in Heqb2; [|assumption]. now apply equal_bytes_eq.
Qed.

Record accepted_neighbour (on : rule -> bool) (S : scheme) (K : kind) (root : bytes) (d : decoded) : Prop := {
  an_place : verify_sentinel_place on S K d = Ok tt;
  an_path : verify_path on S K root d = Ok tt;
  an_length : on NeighbourLength = true ->
    length (the_value d) = if (leaf_index d <? 2)%N then 32 else value_length K;
  an_zero : on SentinelValue = true -> (leaf_index d <? 2)%N = true -> is_zero (the_value d) = true;
  an_value : on NeighbourHash = true ->
    hVal (the_leaf d) = if (leaf_index d <? 2)%N then zero_digest else hash S (preimage d);
}.

Lemma neighbour_accepted : forall on S K root d u, verify_neighbour on S K root d = Ok u ->
  accepted_neighbour on S K root d.
Proof.
  intros on S K root d u H. unfold verify_neighbour in H. do 5 passes H.
  repeat match goal with a : unit |- _ => destruct a end.
  constructor; try assumption; intro Hon.
  - eapply passed in Heqb; [|assumption]. now apply Nat.eqb_eq.
  - intro HS. eapply passed in Heqb0; [|assumption]. rewrite HS in Heqb0. now destruct (is_zero (the_value d)).
  - eapply passed in Heqb1; [|assumption]. now apply equal_bytes_eq.
Qed.

Record accepted_absence (on : rule -> bool) (S : scheme) (K : kind) (root key served : bytes) (p q : raw_proof)
  (l r : decoded) : Prop := {
  aa_length : on KeyLength = true -> length served = key_length K;
  aa_left : decode_proof on S K [value_length K; 32] p = Ok l;
  aa_right : decode_proof on S K [value_length K; 32] q = Ok r;
  aa_key : on KeyAsked = true -> served = key;
  aa_left_ok : accepted_neighbour on S K root l;
  aa_right_ok : accepted_neighbour on S K root r;
  aa_next : on NextLink = true -> next (the_leaf l) = leaf_index r;
  aa_prev : on PrevLink = true -> prev (the_leaf r) = leaf_index l;
  aa_above : on AboveLeft = true -> below (hKey (the_leaf l)) (hash_key S K key);
  aa_below : on BelowRight = true -> below (hash_key S K key) (hKey (the_leaf r));
}.

Lemma absence_accepted : forall on S K root key served p q v,
  check_with on S K root key (NonExistence served p q) = Ok v ->
  v = None /\ exists l r, accepted_absence on S K root key served p q l r.
Proof.
  intros on S K root key served p q v H. cbn [check_with] in H.
  passes H. passes H. passes H. passes H. unfold verify_non_existing in H. do 6 passes H. inversion H; subst.
  split; [reflexivity|]. exists a, a0. constructor; try assumption; try (eapply neighbour_accepted; eassumption); intro Hon.
  - eapply passed in Heqb; [|assumption]. now apply Nat.eqb_eq.
  - eapply passed in Heqb0; [|assumption]. now apply equal_bytes_eq.
  - eapply passed in Heqb1; [|assumption]. now apply N.eqb_eq.
  - eapply passed in Heqb2; [|assumption]. now apply N.eqb_eq.
  - eapply passed in Heqb3; [|assumption]. now apply is_below_below.
  - eapply passed in Heqb4; [|assumption]. now apply is_below_below.
Qed.

Lemma candidates_existence : forall on S K lengths t served p d, decode_proof on S K lengths p = Ok d ->
  candidates S K t (Existence served p) = path_candidates S t d.
Proof.
  intros. unfold candidates. rewrite (decode_proof_free _ _ _ _ _ _ H). cbn [flat_map]. now rewrite app_nil_r.
Qed.

Lemma candidates_absence : forall on S K lengths t served p q l r,
  decode_proof on S K lengths p = Ok l -> decode_proof on S K lengths q = Ok r ->
  candidates S K t (NonExistence served p q) = path_candidates S t l ++ path_candidates S t r.
Proof.
  intros. unfold candidates. rewrite (decode_proof_free _ _ _ _ _ _ H), (decode_proof_free _ _ _ _ _ _ H0).
  cbn [flat_map app]. now rewrite app_nil_r.
Qed.

Lemma preimage_of_value : forall on S K lengths v m, decode_value on S K lengths v = Ok m ->
  length v = value_length K ->
  m = value_message S K v /\ (on ValueCanonical = true -> canonical S (value_message S K v) = true).
Proof.
  intros on S K lengths v m H HL. unfold decode_value in H. passes H. rewrite HL, Nat.eqb_refl in H. passes H.
  inversion H. split; [reflexivity|]. intro Hon. eapply passed; eassumption.
Qed.

Lemma value_of_existence : forall on S K root key served p d, accepted_existence on S K root key served p d ->
  on ValueLength = true -> length (the_value d) = value_length K.
Proof.
  intros on S K root key served p d HA Hon. pose proof (decode_proof_facts _ _ _ _ _ _ (ae_decode _ _ _ _ _ _ _ _ HA)) as F.
  pose proof (d_preimage _ _ _ _ _ _ F) as HP. unfold decode_value in HP. passes HP.
  apply passed in Heqb; [|assumption]. simpl in Heqb. rewrite orb_false_r in Heqb. apply Nat.eqb_eq in Heqb.
  now rewrite (d_value _ _ _ _ _ _ F).
Qed.

Theorem existence_binds_by : forall on, includes on existence_rules -> existence_binds_with on.
Proof.
  intros on HI S K t key proof i v OK HT H. apply includes_app in HI as [HPath HI].
  destruct proof as [served p | served p q]; [|now apply absence_accepted in H as [? _]].
  apply existence_accepted in H as (d & HA & HV). inversion HV; subst.
  rewrite (candidates_existence _ _ _ _ _ _ _ _ (ae_decode _ _ _ _ _ _ _ _ HA)).
  pose proof (decode_proof_facts _ _ _ _ _ _ (ae_decode _ _ _ _ _ _ _ _ HA)) as F.
  destruct (path_binds S OK t HT _ _ _ _ _ HPath (ae_decode _ _ _ _ _ _ _ _ HA) (ae_path _ _ _ _ _ _ _ _ HA))
    as [(HG & _)|HB]; [left|now right].
  exists (the_leaf d). split; [exact HG|].
  split; [apply (ae_leaf_key _ _ _ _ _ _ _ _ HA); is_on|].
  rewrite (ae_value _ _ _ _ _ _ _ _ HA) by is_on. f_equal. rewrite (d_value _ _ _ _ _ _ F).
  eapply preimage_of_value; [apply (d_preimage _ _ _ _ _ _ F)|].
  rewrite <- (d_value _ _ _ _ _ _ F). eapply value_of_existence; [exact HA|is_on].
Qed.

(** In the list, the leaf that follows a smaller one is not above any larger one. *)
Lemma chained_least : forall get rest i a, chained get i rest -> get i = Some a ->
  forall y c, In y rest -> get y = Some c -> below (hKey a) (hKey c).
Proof.
  intros get rest. induction rest as [|j rest IH]; intros i a HC HA y c HY HGY; [destruct HY|].
  destruct HC as ((a' & b & HA' & HB & _ & _ & HLt) & HC). rewrite HA in HA'. inversion HA'; subst a'.
  destruct HY as [<-|HY].
  - rewrite HGY in HB. inversion HB; now subst.
  - eapply below_trans; [exact HLt|]. eapply IH; eauto.
Qed.

Lemma chained_next : forall get rest i, chained get i rest ->
  forall x y a c, In x (i :: rest) -> In y (i :: rest) -> get x = Some a -> get y = Some c -> below (hKey a) (hKey c) ->
  exists b, get (next a) = Some b /\ (next a = y \/ below (hKey b) (hKey c)).
Proof.
  intros get rest. induction rest as [|j rest IH]; intros i HC x y a c HX HY HA HCy HLt.
  - destruct HX as [<-|[]], HY as [<-|[]]. rewrite HA in HCy. inversion HCy; subst. now apply below_irreflexive in HLt.
  - pose proof HC as HC0. destruct HC as ((a' & b & HA' & HB & HN & HP & HLt') & HC).
    destruct HX as [<-|HX].
    + rewrite HA in HA'. inversion HA'; subst a'. exists b. rewrite HN. split; [assumption|].
      destruct HY as [<-|[<-|HY]].
      * rewrite HA in HCy. inversion HCy; subst. now apply below_irreflexive in HLt.
      * now left.
      * right. eapply (chained_least _ _ _ _ HC HB); eauto.
    + destruct HY as [<-|HY].
      * exfalso. apply (below_irreflexive (hKey a)). eapply below_trans; [exact HLt|].
        eapply (chained_least _ _ _ _ HC0 HCy); eauto.
      * exact (IH _ HC x y a c HX HY HA HCy HLt).
Qed.

Lemma honest_gap : forall S t, honest S t -> forall x y a c, get t x = Some a -> get t y = Some c ->
  below (hKey a) (hKey c) -> exists b, get t (next a) = Some b /\ (next a = y \/ below (hKey b) (hKey c)).
Proof.
  intros S t HT x y a c HX HY HLt. destruct (honest_order S t HT) as (rest & HO & HC & _).
  assert (HIn : forall i l, get t i = Some l -> In i (0%N :: rest)).
  { intros i l HG. rewrite <- HO. apply (honest_all S t HT). congruence. }
  exact (chained_next _ _ _ HC x y a c (HIn _ _ HX) (HIn _ _ HY) HX HY HLt).
Qed.

Lemma neighbours_bind : forall S K t on key served p q l r, scheme_ok S -> honest S t -> includes on path_rules ->
  accepted_absence on S K (root S t) key served p q l r ->
  (get t (leaf_index l) = Some (the_leaf l) /\ get t (leaf_index r) = Some (the_leaf r))
  \/ broken S (candidates S K t (NonExistence served p q)).
Proof.
  intros S K t on key served p q l r OK HT HPath HA.
  rewrite (candidates_absence _ _ _ _ _ _ _ _ _ _ (aa_left _ _ _ _ _ _ _ _ _ _ HA) (aa_right _ _ _ _ _ _ _ _ _ _ HA)).
  destruct (path_binds S OK t HT _ _ _ _ _ HPath (aa_left _ _ _ _ _ _ _ _ _ _ HA)
    (an_path _ _ _ _ _ (aa_left_ok _ _ _ _ _ _ _ _ _ _ HA))) as [(HL & _)|HB];
    [|right; eapply broken_incl; [|exact HB]; intros; apply in_or_app; now left].
  destruct (path_binds S OK t HT _ _ _ _ _ HPath (aa_right _ _ _ _ _ _ _ _ _ _ HA)
    (an_path _ _ _ _ _ (aa_right_ok _ _ _ _ _ _ _ _ _ _ HA))) as [(HR & _)|HB];
    [|right; eapply broken_incl; [|exact HB]; intros; apply in_or_app; now right].
  left. now split.
Qed.

Theorem absence_binds_by : forall on, includes on absence_rules -> absence_binds_with on.
Proof.
  intros on HI S K t key proof OK HT H. apply includes_app in HI as [HPath HI].
  destruct proof as [served p | served p q]; [now apply existence_accepted in H as (? & _ & ?)|].
  apply absence_accepted in H as (_ & l & r & HA).
  destruct (neighbours_bind _ _ _ _ _ _ _ _ _ _ OK HT HPath HA) as [[HL HR]|HB]; [left|now right].
  intros i c HG HK. pose proof (aa_above _ _ _ _ _ _ _ _ _ _ HA ltac:(is_on)) as HAbove.
  pose proof (aa_below _ _ _ _ _ _ _ _ _ _ HA ltac:(is_on)) as HBelow.
  pose proof (aa_next _ _ _ _ _ _ _ _ _ _ HA ltac:(is_on)) as HNext. rewrite <- HK in *.
  destruct (honest_gap S t HT _ _ _ _ HL HG HAbove) as (b & HB & HE). rewrite HNext in HB, HE.
  rewrite HR in HB. inversion HB; subst b. apply (below_irreflexive (hKey c)). destruct HE as [HE|HE].
  - rewrite HE, HG in HR. inversion HR; subst c. assumption.
  - eapply below_trans; eassumption.
Qed.

(** 3. No key is both proven present and proven absent: two such proofs hold a break. *)
Definition never_both_with (on : rule -> bool) : Prop :=
  forall S K t key present absent i v, scheme_ok S -> honest S t ->
  check_with on S K (root S t) key present = Ok (Some (i, v)) ->
  check_with on S K (root S t) key absent = Ok None ->
  broken S (candidates S K t present ++ candidates S K t absent).

Definition both_rules : list rule := existence_rules ++ [NextLink; AboveLeft; BelowRight].

Theorem never_both_by : forall on, includes on both_rules -> never_both_with on.
Proof.
  intros on HI S K t key present absent i v OK HT HP HA.
  unfold both_rules in HI. apply includes_app in HI as [HE HI].
  assert (HIA : includes on absence_rules).
  { unfold absence_rules. apply includes_app. split; [|assumption]. now apply includes_app in HE. }
  destruct (existence_binds_by on HE S K t key present i v OK HT HP) as [(l & HG & HK & _)|HB].
  - destruct (absence_binds_by on HIA S K t key absent OK HT HA) as [HN|HB].
    + exfalso. exact (HN i l HG HK).
    + eapply broken_incl; [|exact HB]. intros. apply in_or_app. now right.
  - eapply broken_incl; [|exact HB]. intros. apply in_or_app. now left.
Qed.

Definition all_rules : rule -> bool := fun _ => true.

Lemma includes_all : forall rules, includes all_rules rules.
Proof. intro rules. apply Forall_forall. reflexivity. Qed.

(** The theorems, of [check] itself. *)

Theorem existence_binds : existence_binds_with all_rules.
Proof. apply existence_binds_by, includes_all. Qed.

Theorem absence_binds : absence_binds_with all_rules.
Proof. apply absence_binds_by, includes_all. Qed.

Theorem never_both : never_both_with all_rules.
Proof. apply never_both_by, includes_all. Qed.

