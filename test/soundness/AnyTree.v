(** 9. What an accepted proof shows of any tree, honest or not. And five rules that change the code, never the verdict. *)
From Soundness Require Export Unique.

Section WellFormed.
Variable S : scheme.
Variable K : kind.

Definition is_index_word (limit : N) (word : bytes) : bool := is_word S word && (integer (read_word S word) <? limit)%N.

Definition are_links (opening : bytes) : bool :=
  is_index_word (max_leaves S) (firstn (word_length S) opening)
  && is_index_word (max_leaves S) (firstn (word_length S) (skipn (word_length S) opening)).

(** Indices are in range, words have no stray bytes, and HEAD and TAIL are in their places. *)
Definition is_well_formed (d : decoded) : bool :=
  is_index_word (max_leaves S + 1) (firstn (word_length S) (root_node d))
  && (leaf_index d <? next_free_node d)%N
  && are_links (leaf_node d)
  && match sibling_leaf d with None => true | Some o => are_links o end
  && Bool.eqb (is_zero (hKey (the_leaf d))) (leaf_index d =? 0)%N
  && Bool.eqb (equal_bytes (hKey (the_leaf d)) (tail_key S)) (leaf_index d =? 1)%N.

(** The value is one that the rollup stores; two neighbours point at each other. *)
Definition well_formed (proof : leaf_proof) : bool :=
  match proof with
  | Existence _ p => forallb is_well_formed (opened S K p) && storable K (value p)
  | NonExistence _ p q =>
      forallb is_well_formed (opened S K p ++ opened S K q)
      && match opened S K p, opened S K q with
         | [l], [r] => (next (the_leaf l) =? leaf_index r)%N && (prev (the_leaf r) =? leaf_index l)%N
         | _, _ => false
         end
  end.

End WellFormed.

Definition any_tree_with (on : rule -> bool) : Prop :=
  forall S K root key proof v, check_with on S K root key proof = Ok v -> well_formed S K proof = true.

Definition any_tree_rules : list rule :=
  [RootWord; RootRange; BelowNextFree; LeafWord; LeafRange; SiblingWord; SiblingRange; SentinelPlace;
   Nonce; CodeSize; ZeroValue; NextLink; PrevLink].

Lemma index_word_passed : forall on S K a b limit w n, decode_index_word on S K a b limit w = Ok n ->
  on a = true -> on b = true -> is_index_word S limit w = true.
Proof.
  intros on S K a b limit w n H HA HB. unfold decode_index_word in H. passes H. passes H. unfold is_index_word.
  apply passed in Heqb0; [|assumption]. apply passed in Heqb1; [|assumption]. now rewrite Heqb0, Heqb1.
Qed.

Lemma opening_passed : forall on S K a b o l, decode_opening on S K a b o = Ok l ->
  on a = true -> on b = true -> are_links S o = true.
Proof.
  intros on S K a b o l H HA HB. unfold decode_opening in H. passes H. passes H. unfold are_links.
  now rewrite (index_word_passed _ _ _ _ _ _ _ _ Heqr HA HB), (index_word_passed _ _ _ _ _ _ _ _ Heqr0 HA HB).
Qed.

Lemma sibling_passed : forall on S K s o, decode_sibling on S K s = Ok (Some o) ->
  on SiblingWord = true -> on SiblingRange = true -> are_links S o = true.
Proof.
  intros on S K s o H HA HB. unfold decode_sibling in H. do 4 passes H. destruct (is_zero s); [discriminate|].
  passes H. inversion H; subst. eapply opening_passed; eassumption.
Qed.

Lemma part_well_formed : forall on S K lengths p d, includes on any_tree_rules ->
  decode_proof on S K lengths p = Ok d -> verify_sentinel_place on S K d = Ok tt -> is_well_formed S d = true.
Proof.
  intros on S K lengths p d HI HD HP. pose proof (decode_proof_facts _ _ _ _ _ _ HD) as F. unfold is_well_formed.
  rewrite (index_word_passed _ _ _ _ _ _ _ _ (d_next_free _ _ _ _ _ _ F)) by is_on.
  rewrite (proj2 (N.ltb_lt _ _) (d_below _ _ _ _ _ _ F ltac:(is_on))).
  rewrite (opening_passed _ _ _ _ _ _ _ (d_leaf _ _ _ _ _ _ F)) by is_on.
  assert (E : match sibling_leaf d with None => true | Some o => are_links S o end = true).
  { pose proof (d_sibling _ _ _ _ _ _ F) as HS. destruct (sibling_leaf d) as [o|]; [|reflexivity].
    eapply sibling_passed; [exact HS| |]; is_on. }
  rewrite E. unfold verify_sentinel_place in HP. passes HP. apply passed in Heqb; [|is_on].
  apply andb_prop in Heqb as [-> ->]. reflexivity.
Qed.

Theorem any_tree_by : forall on, includes on any_tree_rules -> any_tree_with on.
Proof.
  intros on HI S K root key proof v H. destruct proof as [k p | k p q].
  - apply existence_accepted in H as (d & HA & _). pose proof (ae_decode _ _ _ _ _ _ _ _ HA) as HD.
    unfold well_formed. rewrite (decode_proof_free _ _ _ _ _ _ HD). cbn [forallb].
    rewrite (part_well_formed _ _ _ _ _ _ HI HD (ae_place _ _ _ _ _ _ _ _ HA)). cbn [andb].
    pose proof (ae_storable _ _ _ _ _ _ _ _ HA) as HS. rewrite (d_value _ _ _ _ _ _ (decode_proof_facts _ _ _ _ _ _ HD)) in HS.
    unfold verify_storable, storable in *. destruct K; repeat passes HS;
      repeat match goal with HR : on ?r && negb _ = false |- _ => apply passed in HR; [|is_on] end;
      rewrite ?Heqb, ?Heqb0; reflexivity.
  - apply absence_accepted in H as (_ & l & r & HA). unfold well_formed.
    pose proof (aa_left _ _ _ _ _ _ _ _ _ _ HA) as HL. pose proof (aa_right _ _ _ _ _ _ _ _ _ _ HA) as HR.
    rewrite (decode_proof_free _ _ _ _ _ _ HL), (decode_proof_free _ _ _ _ _ _ HR). cbn [app forallb].
    rewrite (part_well_formed _ _ _ _ _ _ HI HL (an_place _ _ _ _ _ (aa_left_ok _ _ _ _ _ _ _ _ _ _ HA))).
    rewrite (part_well_formed _ _ _ _ _ _ HI HR (an_place _ _ _ _ _ (aa_right_ok _ _ _ _ _ _ _ _ _ _ HA))).
    rewrite (aa_next _ _ _ _ _ _ _ _ _ _ HA) by is_on. rewrite (aa_prev _ _ _ _ _ _ _ _ _ _ HA) by is_on.
    now rewrite !N.eqb_refl.
Qed.

Theorem any_tree : any_tree_with all_rules.
Proof. apply any_tree_by, includes_all. Qed.

(** *** Five rules refuse early what another rule would refuse later *)

Definition early_rules : list rule := [KeyLength; OtherScheme; RootLength; RootCanonical; LeafLength].

Definition late (r : rule) : bool :=
  match r with KeyLength | OtherScheme | RootLength | RootCanonical | LeafLength => false | _ => true end.

Lemma decode_late : forall S K lengths p d, decode_proof late S K lengths p = Ok d ->
  is_of_other_scheme S (nodes p) = false -> length (root_node d) = root_length S -> canonical S (root_node d) = true ->
  length (leaf_node d) = opening_length S -> canonical S (leaf_node d) = true ->
  decode_proof all_rules S K lengths p = Ok d.
Proof.
  intros S K lengths p d H HO HR HC HL HLC. unfold decode_proof in *. do 13 passes H. inversion H; subst d. clear H.
  cbn [root_node leaf_node] in *.
  change (all_rules IndexRange) with (late IndexRange). rewrite Heqb.
  change (all_rules NodeCount) with (late NodeCount). rewrite Heqb0.
  rewrite HO. cbn [negb]. rewrite andb_false_r.
  rewrite HR, Nat.eqb_refl. cbn [negb]. rewrite andb_false_r. rewrite HC. cbn [negb]. rewrite andb_false_r.
  change (decode_index_word all_rules S K RootWord RootRange) with (decode_index_word late S K RootWord RootRange).
  rewrite Heqr. change (decode_inner all_rules S K) with (decode_inner late S K). rewrite Heqr0.
  change (decode_sibling all_rules S K) with (decode_sibling late S K). rewrite Heqr1.
  rewrite HL, Nat.eqb_refl, HLC. cbn [negb]. rewrite !andb_false_r.
  change (decode_opening all_rules S K LeafWord LeafRange) with (decode_opening late S K LeafWord LeafRange).
  rewrite Heqr2. change (decode_value all_rules S K) with (decode_value late S K). rewrite Heqr3.
  change (all_rules BelowNextFree) with (late BelowNextFree). now rewrite Heqb6.
Qed.

Lemma late_decode : forall S K lengths p d, decode_proof all_rules S K lengths p = Ok d ->
  decode_proof late S K lengths p = Ok d.
Proof.
  intros S K lengths p d H. unfold decode_proof in *. do 13 passes H.
  change (late IndexRange) with (all_rules IndexRange). rewrite Heqb.
  change (late NodeCount) with (all_rules NodeCount). rewrite Heqb0.
  change (late OtherScheme) with false. change (late RootLength) with false. change (late RootCanonical) with false.
  change (late LeafLength) with false. change (late LeafCanonical) with (all_rules LeafCanonical). cbn [andb].
  change (decode_index_word late S K RootWord RootRange) with (decode_index_word all_rules S K RootWord RootRange).
  rewrite Heqr. change (decode_inner late S K) with (decode_inner all_rules S K). rewrite Heqr0.
  change (decode_sibling late S K) with (decode_sibling all_rules S K). rewrite Heqr1, Heqb5.
  change (decode_opening late S K LeafWord LeafRange) with (decode_opening all_rules S K LeafWord LeafRange).
  rewrite Heqr2. change (decode_value late S K) with (decode_value all_rules S K). rewrite Heqr3.
  change (late BelowNextFree) with (all_rules BelowNextFree). rewrite Heqb6. exact H.
Qed.

Lemma fold_good : forall S, scheme_ok S -> forall siblings digest i, good S digest -> good S (fold_path S digest siblings i).
Proof.
  intros S OK siblings. induction siblings as [|s siblings IH]; intros digest i H; [exact H|]. cbn [fold_path].
  apply IH. now apply good_hash.
Qed.

Lemma part_late : forall S K root lengths p d, scheme_ok S -> decode_proof late S K lengths p = Ok d ->
  verify_path late S K root d = Ok tt -> length (hVal (the_leaf d)) = 32 ->
  decode_proof all_rules S K lengths p = Ok d.
Proof.
  intros S K root lengths p d OK HD HP HV. pose proof (decode_proof_facts _ _ _ _ _ _ HD) as F.
  unfold verify_path in HP. passes HP. apply passed in Heqb; [|reflexivity]. apply equal_bytes_eq in Heqb.
  destruct (fold_good S OK (siblings_of S d) (hash S (leaf_node d)) (leaf_index d) (good_hash S OK _)) as [GL GC].
  rewrite Heqb in GL, GC. unfold sub_root_of in GL, GC. rewrite skipn_length in GL.
  assert (HR : length (root_node d) = root_length S) by (unfold root_length; lia).
  assert (HO : is_of_other_scheme S (nodes p) = false).
  { unfold is_of_other_scheme. rewrite <- (d_root_node _ _ _ _ _ _ F), HR. unfold root_length.
    pose proof (ok_other S OK). destruct (Nat.eqb_spec (word_length S + 32) (other_word_length S + 32)); [lia|reflexivity]. }
  assert (HC : canonical S (root_node d) = true).
  { rewrite <- (firstn_skipn (word_length S) (root_node d)). destruct (ok_word_length S OK) as [k Hk].
    assert (HW : length (firstn (word_length S) (root_node d)) = word_length S)
      by (rewrite firstn_length; unfold root_length in HR; lia).
    rewrite (ok_canonical_app S OK k) by (rewrite HW; exact Hk). rewrite GC, andb_true_r.
    pose proof (index_word_passed _ _ _ _ _ _ _ _ (d_next_free _ _ _ _ _ _ F) eq_refl eq_refl) as HI.
    unfold is_index_word in HI. apply andb_prop in HI as [HIW HIR]. apply N.ltb_lt in HIR.
    destruct (ok_read S OK _ HW HIW) as [L32 E]. rewrite <- E.
    rewrite <- (big_endian_integer (read_word S (firstn (word_length S) (root_node d)))), L32.
    apply (ok_index_canonical S OK). unfold max_leaves in HIR. lia. }
  pose proof (d_leaf _ _ _ _ _ _ F) as HDL. unfold decode_opening in HDL. passes HDL. passes HDL. inversion HDL as [HE].
  assert (HL : length (leaf_node d) = opening_length S).
  { rewrite <- HE in HV. cbn [hVal] in HV. rewrite skipn_length in HV. unfold opening_length. lia. }
  exact (decode_late S K lengths p d HD HO HR HC HL (d_leaf_canonical _ _ _ _ _ _ F eq_refl)).
Qed.

Theorem early_rules_change_no_verdict : forall S K root key proof v, scheme_ok S -> length key = key_length K ->
  (check_with late S K root key proof = Ok v <-> check S K root key proof = Ok v).
Proof.
  intros S K root key proof v OK HKey. split; intro H.
  - destruct proof as [k p | k p q].
    + pose proof (existence_accepted _ _ _ _ _ _ _ _ H) as (d & HA & _). pose proof (ae_decode _ _ _ _ _ _ _ _ HA) as HD.
      assert (HAll : decode_proof all_rules S K [value_length K] p = Ok d).
      { eapply part_late; [exact OK|exact HD|apply (ae_path _ _ _ _ _ _ _ _ HA)|].
        rewrite (ae_value _ _ _ _ _ _ _ _ HA eq_refl). apply (ok_hash_length S OK). }
      unfold check. cbn [check_with] in *. fold all_rules. rewrite HAll. rewrite HD in H.
      rewrite (ae_key _ _ _ _ _ _ _ _ HA eq_refl) in *. rewrite HKey, Nat.eqb_refl. cbn [negb]. rewrite andb_false_r.
      passes H. exact H.
    + pose proof (absence_accepted _ _ _ _ _ _ _ _ _ H) as (_ & l & r & HA).
      pose proof (aa_left _ _ _ _ _ _ _ _ _ _ HA) as HL. pose proof (aa_right _ _ _ _ _ _ _ _ _ _ HA) as HR.
      assert (HVal : forall d, accepted_neighbour late S K root d -> length (hVal (the_leaf d)) = 32).
      { intros d HN. rewrite (an_value _ _ _ _ _ HN eq_refl). destruct (leaf_index d <? 2)%N; [reflexivity|].
        apply (ok_hash_length S OK). }
      pose proof (part_late S K root _ _ _ OK HL (an_path _ _ _ _ _ (aa_left_ok _ _ _ _ _ _ _ _ _ _ HA))
        (HVal _ (aa_left_ok _ _ _ _ _ _ _ _ _ _ HA))) as HL'.
      pose proof (part_late S K root _ _ _ OK HR (an_path _ _ _ _ _ (aa_right_ok _ _ _ _ _ _ _ _ _ _ HA))
        (HVal _ (aa_right_ok _ _ _ _ _ _ _ _ _ _ HA))) as HR'.
      unfold check. cbn [check_with] in *. fold all_rules. rewrite HL', HR'. rewrite HL, HR in H.
      rewrite (aa_key _ _ _ _ _ _ _ _ _ _ HA eq_refl) in *. rewrite HKey, Nat.eqb_refl. cbn [negb]. rewrite andb_false_r.
      passes H. exact H.
  - destruct proof as [k p | k p q]; unfold check in H; cbn [check_with] in *; fold all_rules in H.
    + passes H. passes H. apply late_decode in Heqr. rewrite Heqr. exact H.
    + passes H. passes H. passes H. apply late_decode in Heqr. apply late_decode in Heqr0. rewrite Heqr, Heqr0. exact H.
Qed.
