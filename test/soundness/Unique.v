(** 8. One proof: what is accepted is what the honest prover says, byte for byte; or a break is found. *)
From Soundness Require Export Prover.

Section Unique.
Variable S : scheme.
Variable K : kind.
Hypothesis OK : scheme_ok S.
Variable t : tree.
Hypothesis HT : honest S t.
Variable served : N -> bytes.
Hypothesis HS : stores S K t served.

Fixpoint pairs (a b : list bytes) : list break :=
  match a, b with
  | x :: a, y :: b => Collision x y :: pairs a b
  | _, _ => []
  end.

Definition honest_inner (i : N) : list bytes := rev (inner_up S t (pred (depth S)) 1 (i / 2)).

Definition sibling_candidates (d : decoded) : list break :=
  match sibling_leaf d, sibling_opening S t (leaf_index d) with
  | Some o, Some o' => [Collision o o']
  | Some o, None => [Zero o]
  | None, Some o' => [Zero o']
  | None, None => []
  end.

Definition all_candidates (d : decoded) : list break :=
  path_candidates S t d ++ sibling_candidates d ++ pairs (inner d) (honest_inner (leaf_index d))
  ++ [Zero (preimage d); Collision (preimage d) (value_message S K (served (leaf_index d)))].

Lemma climb_siblings : forall siblings level digest i, good S digest -> Forall (good S) siblings ->
  fold_path S digest siblings i = node S t (level + length siblings) (i / 2 ^ N.of_nat (length siblings)) ->
  siblings = siblings_up S t (length siblings) level i \/ broken S (climb S t level digest siblings i).
Proof.
  induction siblings as [|s siblings IH]; intros level digest i HD HSib H; [now left|].
  inversion HSib as [|? ? Hs HS']; subst. cbn [fold_path] in H. cbn [climb].
  set (message := if N.odd i then s ++ digest else digest ++ s) in *.
  assert (HUp : fold_path S (hash S message) siblings (i / 2)
    = node S t (Datatypes.S level + length siblings) (i / 2 / 2 ^ N.of_nat (length siblings))).
  { etransitivity; [exact H|]. cbn [length]. rewrite Nat.add_succ_r. f_equal.
    rewrite N.div_div by (try apply N.pow_nonzero; lia). now rewrite Nat2N.inj_succ, N.pow_succ_r'. }
  destruct (IH (Datatypes.S level) (hash S message) (i / 2)%N (good_hash S OK _) HS' HUp) as [HRest|HB];
    [|right; eapply broken_incl; [|exact HB]; intros x Hx; now right].
  destruct (climb_binds S OK t siblings (Datatypes.S level) (hash S message) (i / 2)%N (good_hash S OK _) HS' HUp)
    as [HNode|HB]; [|right; eapply broken_incl; [|exact HB]; intros x Hx; now right].
  cbn [node] in HNode. destruct HD as [HD1 HD2], Hs as [Hs1 Hs2].
  assert (HG : length message = 64 /\ canonical S message = true).
  { unfold message. destruct (N.odd i); (split; [rewrite app_length; lia | now apply canonical_two]). }
  match goal with |- _ \/ broken S ?c => destruct (broken_collision S message
    (node S t level (2 * (i / 2)) ++ node S t level (2 * (i / 2) + 1)) c) as [HE|HB] end;
    [now left | | apply HG | | exact HNode | | now right].
  - rewrite app_length, !length_node by assumption. apply HG.
  - apply canonical_two; [assumption | now apply length_node | now apply canonical_node | now apply canonical_node].
  - left. cbn [length siblings_up]. f_equal; [|exact HRest]. unfold message in HE.
    pose proof (other_child_pair S t i) as HP. destruct (N.odd i); destruct HP as (_ & E & F).
    + apply app_injective in HE as [HE _]; [rewrite E; exact HE|]. now rewrite Hs1, length_node.
    + apply app_injective in HE as [_ HE]; [rewrite E; exact HE|]. now rewrite HD1, length_node.
Qed.

Lemma pairs_bind : forall a b, length a = length b ->
  (forall m, In m a -> length m = 64 /\ canonical S m = true) -> (forall m, In m b -> length m = 64 /\ canonical S m = true) ->
  map (hash S) a = map (hash S) b -> a = b \/ broken S (pairs a b).
Proof.
  induction a as [|x a IH]; destruct b as [|y b]; intros HL HA HB H; try discriminate; [now left|].
  cbn [map] in H. injection H as HX H. injection HL as HL. cbn [pairs].
  destruct (HA x (or_introl eq_refl)) as [LX CX]. destruct (HB y (or_introl eq_refl)) as [LY CY].
  destruct (broken_collision S x y (Collision x y :: pairs a b)) as [E|E]; [now left|congruence|assumption|assumption
    |exact HX| |now right].
  destruct (IH b HL) as [E'|E']; [intros; apply HA; now right|intros; apply HB; now right|exact H| |].
  - left. congruence.
  - right. eapply broken_incl; [|exact E']. intros; now right.
Qed.

Lemma inner_passed : forall on nodes, decode_inner on S K nodes = Ok tt -> on InnerLength = true ->
  on InnerCanonical = true -> forall m, In m nodes -> length m = 64 /\ canonical S m = true.
Proof.
  intros on nodes. induction nodes as [|x nodes IH]; intros H HL HC m HM; [destruct HM|].
  cbn [decode_inner] in H. passes H. passes H. apply passed in Heqb; [|assumption]. apply passed in Heqb0; [|assumption].
  destruct HM as [<-|HM]; [split; [now apply Nat.eqb_eq|assumption]|]. now apply IH.
Qed.

Definition node_rules : list rule :=
  path_rules ++ [InnerLength; InnerCanonical; SiblingLength; SiblingCanonical; SiblingDigest; ZeroOpening].

(** All nodes of an accepted path are the honest ones. *)
Lemma nodes_bind : forall on lengths p d, includes on node_rules ->
  decode_proof on S K lengths p = Ok d -> verify_path on S K (root S t) d = Ok tt ->
  (get t (leaf_index d) = Some (the_leaf d) /\ index p = Z.of_N (leaf_index d)
   /\ nodes p = nodes (prove_leaf S t served (leaf_index d) (the_leaf d)))
  \/ broken S (all_candidates d).
Proof.
  intros on lengths p d HI HD HP. unfold node_rules in HI. apply includes_app in HI as [HPath HI].
  pose proof (decode_proof_facts _ _ _ _ _ _ HD) as F. pose proof (ok_depth S OK) as HDepth.
  destruct (path_binds S OK t HT _ _ _ _ _ HPath HD HP) as [(HG & HLeaf & HRoot & HDigest & HFold & HLen)|HB];
    [|right; eapply broken_incl; [|exact HB]; intros; apply in_or_app; now left].
  destruct (d_range _ _ _ _ _ _ F ltac:(eapply includes_on; [exact HPath|simpl; tauto])) as [HIndex HRange].
  assert (HSib : siblings_of S d = siblings_up S t (depth S) 0 (leaf_index d) \/ broken S (all_candidates d)).
  { rewrite <- HLen. destruct (climb_siblings (siblings_of S d) 0 (hash S (leaf_node d)) (leaf_index d)) as [E|HB];
      [apply good_hash, OK | apply good_siblings, OK | | now left |].
    - rewrite HFold, HLen. cbn [Nat.add]. unfold sub_root. f_equal. symmetry. apply N.div_small. exact HRange.
    - right. eapply broken_incl; [|exact HB]. intros x Hx. apply in_or_app. left. do 2 right. exact Hx. }
  destruct HSib as [HSib|HB]; [|now right].
  destruct (depth S) as [|n] eqn:HN; [lia|]. cbn [siblings_up] in HSib. unfold siblings_of in HSib.
  injection HSib as HLow HUp.
  assert (HInner : inner d = honest_inner (leaf_index d) \/ broken S (all_candidates d)).
  { unfold honest_inner. rewrite HN. cbn [pred]. rewrite <- (hash_inner_up S t) in HUp.
    assert (HM : map (hash S) (inner d) = map (hash S) (rev (inner_up S t n 1 (leaf_index d / 2)))).
    { rewrite map_rev. rewrite <- HUp. now rewrite rev_involutive. }
    destruct (pairs_bind (inner d) (rev (inner_up S t n 1 (leaf_index d / 2)))) as [E|HB]; [| | |exact HM|now left|].
    - rewrite <- (map_length (hash S)), HM. now rewrite map_length.
    - eapply inner_passed; [apply (d_inner_rules _ _ _ _ _ _ F)| |]; is_on.
    - intros m Hm. apply in_rev in Hm. eapply inner_up_good; [exact OK|exact Hm].
    - right. eapply broken_incl; [|exact HB]. intros x Hx. apply in_or_app. right. apply in_or_app. right.
      apply in_or_app. left. unfold honest_inner. now rewrite HN. }
  destruct HInner as [HInner|HB]; [|now right].
  set (s := last (removelast (tl (nodes p))) []).
  assert (HSibling : s = match sibling_opening S t (leaf_index d) with Some o => o | None => zero_digest end
    \/ broken S (all_candidates d)).
  { pose proof (d_sibling _ _ _ _ _ _ F) as HDS. fold s in HDS. unfold decode_sibling in HDS. do 4 passes HDS.
    assert (HCan : canonical S s = true) by (eapply passed; [exact Heqb0|is_on]).
    apply passed in Heqb; [|is_on]. apply passed in Heqb1; [|is_on]. apply passed in Heqb2; [|is_on].
    assert (HIn : forall x, In x (sibling_candidates d) -> In x (all_candidates d)).
    { intros x Hx. apply in_or_app. right. apply in_or_app. now left. }
    unfold sibling_candidates in HIn.
    destruct (is_zero s) eqn:HZ.
    - inversion HDS as [HNone]. rewrite <- HNone in HLow, HIn. cbn [sibling_digest node leaf_digest] in HLow.
      destruct (Nat.eqb_spec (length s) 32) as [H32|H32]; [|discriminate].
      apply (is_zero_digest _ H32) in HZ. unfold sibling_opening in *.
      destruct (get t (other_child (leaf_index d))) as [l'|] eqn:HO; cbn [option_map leaf_digest] in *; [|left; exact HZ].
      right. eapply broken_in; [apply HIn; now left|]. destruct (honest_leaf S t HT _ _ HO) as (H1 & H2 & H3 & H4 & H5 & H6).
      cbn [is_break]. rewrite length_opening by assumption. rewrite canonical_opening by assumption. rewrite <- HLow.
      destruct (Nat.eqb_spec (opening_length S) 0) as [E|E]; [unfold opening_length in E; lia|]. apply equal_bytes_refl.
    - destruct (Nat.eqb_spec (length s) 32) as [H32|H32]; [discriminate|]. rewrite orb_false_r in Heqb.
      apply Nat.eqb_eq in Heqb. passes HDS. inversion HDS as [HSome]. rewrite <- HSome in HLow, HIn.
      cbn [sibling_digest node] in HLow. unfold sibling_opening in *.
      destruct (get t (other_child (leaf_index d))) as [l'|] eqn:HO; cbn [option_map leaf_digest] in *.
      + destruct (honest_leaf S t HT _ _ HO) as (H1 & H2 & H3 & H4 & H5 & H6).
        destruct (broken_collision S s (encode_opening S l') (all_candidates d)) as [E|E];
          [apply HIn; now left | now rewrite length_opening | assumption | now apply canonical_opening | exact HLow
          | now left | now right].
      + right. eapply broken_in; [apply HIn; now left|]. cbn [is_break]. rewrite HCan, HLow.
        destruct (Nat.eqb_spec (length s) 0) as [E|E]; [unfold opening_length in Heqb; lia|]. apply equal_bytes_refl. }
  destruct HSibling as [HSibling|HB]; [left|now right].
  split; [exact HG|]. split; [exact HIndex|]. cbn [prove_leaf nodes].
  pose proof (d_count _ _ _ _ _ _ F ltac:(eapply includes_on; [exact HPath|simpl; tauto])) as HCount.
  unfold node_count in HCount. destruct (nodes p) as [|r below] eqn:HNodes; [cbn in HCount; lia|]. cbn [length] in HCount.
  rewrite <- HRoot, (d_root_node _ _ _ _ _ _ F), HNodes. cbn [hd]. f_equal.
  pose proof (d_leaf_node _ _ _ _ _ _ F) as HLN. pose proof (d_inner _ _ _ _ _ _ F) as HIN. unfold s in HSibling.
  rewrite HNodes in HLN, HIN. cbn [tl] in *. rewrite <- HSibling. rewrite <- HLeaf, HLN.
  fold (honest_inner (leaf_index d)). rewrite <- HInner, HIN.
  rewrite <- (@app_removelast_last _ (removelast below) [])
    by (intro E; apply (f_equal (@length _)) in E; rewrite length_removelast in E; cbn in E; lia).
  apply app_removelast_last. intros ->. cbn in HCount. lia.
Qed.

(** A value that hashes to the hash in an honest leaf is the one that the leaf holds. *)
Lemma value_bind : forall on lengths p d, decoding on S K lengths p d -> get t (leaf_index d) = Some (the_leaf d) ->
  length (the_value d) = value_length K -> on ValueCanonical = true -> hVal (the_leaf d) = hash S (preimage d) ->
  (2 <= leaf_index d)%N /\ the_value d = served (leaf_index d) \/ broken S (all_candidates d).
Proof.
  intros on lengths p d F HG HL Hon HV. pose proof (d_preimage _ _ _ _ _ _ F) as HP.
  rewrite <- (d_value _ _ _ _ _ _ F) in HP. destruct (preimage_of_value _ _ _ _ _ _ HP HL) as [HPre HC].
  specialize (HC Hon). rewrite <- HPre in HC.
  assert (HLen : length (preimage d) = match K with Account => 3 * word_length S + 128 | Storage => 64 end)
    by (rewrite HPre; now apply length_value_message).
  assert (HIn : forall x, In x [Zero (preimage d); Collision (preimage d) (value_message S K (served (leaf_index d)))] ->
    In x (all_candidates d)) by (intros; unfold all_candidates; rewrite !in_app_iff; tauto).
  pose proof (HS _ _ HG) as H. destruct (N.ltb_spec (leaf_index d) 2) as [HI|HI].
  - right. apply broken_in with (Zero (preimage d)); [apply HIn; now left|].
    assert (HZ : hVal (the_leaf d) = zero_digest).
    { destruct (honest_head S t HT) as (h & HH & _ & HHV & _). destruct (honest_tail S t HT) as (e & HE & _ & HEV & _).
      assert (leaf_index d = 0%N \/ leaf_index d = 1%N) as [E|E] by lia; rewrite E in HG; congruence. }
    cbn [is_break]. rewrite HLen, HC, <- HV, HZ. rewrite equal_bytes_refl. destruct K; [|reflexivity].
    destruct (Nat.eqb_spec (3 * word_length S + 128) 0); [lia|reflexivity].
  - destruct H as (HL' & HC' & HV' & _).
    destruct (broken_collision S (preimage d) (value_message S K (served (leaf_index d))) (all_candidates d)) as [E|E];
      [apply HIn; right; now left | rewrite HLen; symmetry; now apply length_value_message | assumption | assumption
      | congruence | | now right].
    left. split; [exact HI|]. rewrite HPre in E. eapply (value_message_injective S OK K); eassumption.
Qed.

Definition unique_rules : list rule := node_rules
  ++ [ValueLength; ValueCanonical; KeyAsked; LeafKey; ValueHash; NeighbourLength; SentinelValue; NeighbourHash; NextLink;
      AboveLeft; BelowRight].

Lemma neighbour_bind : forall on p d, includes on unique_rules ->
  decode_proof on S K [value_length K; 32] p = Ok d -> accepted_neighbour on S K (root S t) d ->
  (get t (leaf_index d) = Some (the_leaf d) /\ p = prove_leaf S t served (leaf_index d) (the_leaf d))
  \/ broken S (all_candidates d).
Proof.
  intros on p d HI HD HA. unfold unique_rules in HI. apply includes_app in HI as [HNode HI].
  pose proof (decode_proof_facts _ _ _ _ _ _ HD) as F.
  destruct (nodes_bind _ _ _ _ HNode HD (an_path _ _ _ _ _ HA)) as [(HG & HIndex & HNodes)|HB]; [|now right].
  assert (HV : the_value d = served (leaf_index d) \/ broken S (all_candidates d)).
  { pose proof (an_length _ _ _ _ _ HA ltac:(is_on)) as HL. pose proof (an_zero _ _ _ _ _ HA ltac:(is_on)) as HZ.
    pose proof (an_value _ _ _ _ _ HA ltac:(is_on)) as HH. pose proof (HS _ _ HG) as H.
    destruct (leaf_index d <? 2)%N eqn:E.
    - left. rewrite H. apply (is_zero_digest _ HL). now apply HZ.
    - destruct (value_bind _ _ _ _ F HG HL ltac:(is_on) HH) as [[_ HB]|HB]; [now left|now right]. }
  destruct HV as [HV|HB]; [left|now right]. split; [exact HG|].
  destruct p as [i ns v]. cbn [index nodes] in *. unfold prove_leaf in *. cbn [nodes] in HNodes.
  rewrite <- HV, (d_value _ _ _ _ _ _ F). cbn [value]. congruence.
Qed.

Definition proof_candidates (proof : leaf_proof) : list break :=
  match proof with
  | Existence _ p => flat_map all_candidates (opened S K p)
  | NonExistence _ p q => flat_map all_candidates (opened S K p ++ opened S K q)
  end.

Theorem one_proof_by : forall on key proof v, includes on unique_rules ->
  check_with on S K (root S t) key proof = Ok v ->
  proof = prove S K t served key \/ broken S (proof_candidates proof).
Proof.
  intros on key proof v HI H. pose proof HI as HAll. unfold unique_rules in HI. apply includes_app in HI as [HNode HI].
  destruct proof as [k p | k p q].
  - apply existence_accepted in H as (d & HA & _). pose proof (ae_decode _ _ _ _ _ _ _ _ HA) as HD.
    pose proof (decode_proof_facts _ _ _ _ _ _ HD) as F.
    cbn [proof_candidates]. rewrite (decode_proof_free _ _ _ _ _ _ HD). cbn [flat_map]. rewrite app_nil_r.
    destruct (nodes_bind _ _ _ _ HNode HD (ae_path _ _ _ _ _ _ _ _ HA)) as [(HG & HIndex & HNodes)|HB]; [|now right].
    pose proof (value_of_existence _ _ _ _ _ _ _ _ HA ltac:(is_on)) as HL.
    destruct (value_bind _ _ _ _ F HG HL ltac:(is_on) (ae_value _ _ _ _ _ _ _ _ HA ltac:(is_on))) as [[_ HV]|HB];
      [left|now right].
    assert (HLoc : locate t (hash_key S K key) = Some (leaf_index d)).
    { pose proof (ae_leaf_key _ _ _ _ _ _ _ _ HA ltac:(is_on)) as HK. unfold locate.
      destruct (find _ (order t)) as [j|] eqn:E.
      - apply find_some in E as [HJ HE]. apply equal_bytes_eq in HE. unfold key_of in HE.
        destruct (get t j) as [c|] eqn:HC; [|apply (honest_all S t HT) in HJ; congruence].
        f_equal. eapply (keys_differ S t HT); [exact HC|exact HG|congruence].
      - pose proof (find_none _ _ E _ (in_order S t HT _ _ HG)) as HE. cbn in HE. unfold key_of in HE.
        rewrite HG, HK, equal_bytes_refl in HE. discriminate. }
    unfold prove. rewrite HLoc. unfold leaf_at. rewrite HG. rewrite (ae_key _ _ _ _ _ _ _ _ HA ltac:(is_on)). f_equal.
    destruct p as [i ns w]. cbn [index nodes] in *. unfold prove_leaf in *. cbn [nodes] in HNodes.
    rewrite <- HV, (d_value _ _ _ _ _ _ F). cbn [value]. congruence.
  - apply absence_accepted in H as (_ & l & r & HA).
    pose proof (aa_left _ _ _ _ _ _ _ _ _ _ HA) as HDL. pose proof (aa_right _ _ _ _ _ _ _ _ _ _ HA) as HDR.
    cbn [proof_candidates]. rewrite (decode_proof_free _ _ _ _ _ _ HDL), (decode_proof_free _ _ _ _ _ _ HDR).
    cbn [flat_map app]. rewrite app_nil_r.
    destruct (neighbour_bind on p l HAll HDL (aa_left_ok _ _ _ _ _ _ _ _ _ _ HA)) as [[HL HP]|HB];
      [|right; eapply broken_incl; [|exact HB]; intros; apply in_or_app; now left].
    destruct (neighbour_bind on q r HAll HDR (aa_right_ok _ _ _ _ _ _ _ _ _ _ HA)) as [[HR HQ]|HB];
      [|right; eapply broken_incl; [|exact HB]; intros; apply in_or_app; now right].
    left. pose proof (aa_above _ _ _ _ _ _ _ _ _ _ HA ltac:(is_on)) as H1.
    pose proof (aa_below _ _ _ _ _ _ _ _ _ _ HA ltac:(is_on)) as H2.
    pose proof (aa_next _ _ _ _ _ _ _ _ _ _ HA ltac:(is_on)) as HNext.
    assert (HNo : forall i c, get t i = Some c -> hKey c <> hash_key S K key).
    { intros i c HC HK. rewrite <- HK in H1, H2. destruct (honest_gap S t HT _ _ _ _ HL HC H1) as (b & HB & HE).
      rewrite HNext, HR in HB. inversion HB; subst b. rewrite HNext in HE. apply (below_irreflexive (hKey c)).
      destruct HE as [HE|HE]; [rewrite HE, HC in HR; inversion HR; now subst|eapply below_trans; eassumption]. }
    unfold prove. destruct (locate t (hash_key S K key)) as [j|] eqn:E; unfold locate in E.
    { exfalso. apply find_some in E as [HJ HE]. apply equal_bytes_eq in HE. unfold key_of in HE.
      destruct (get t j) as [c|] eqn:HC; [exact (HNo j c HC HE)|apply (honest_all S t HT) in HJ; congruence]. }
    destruct (honest_order S t HT) as (rest & HO & HC & HLast). rewrite HO in *. cbn [hd tl].
    destruct (honest_head S t HT) as (h & HH & HHK & _). destruct (honest_leaf S t HT _ _ HL) as (_ & _ & LL & _).
    assert (Hhk : length (hash_key S K key) = 32) by apply (ok_hash_length S OK).
    assert (HLow : below (hKey h) (hash_key S K key)).
    { rewrite HHK. destruct (below_total zero_digest (hash_key S K key)) as [X|[X|X]]; [exact X| |].
      - exfalso. apply (HNo 0%N h HH). congruence.
      - exfalso. exact (not_below_zeros 32 _ Hhk X). }
    assert (HHigh : below (hash_key S K key) (tail_key S)).
    { destruct (honest_leaf S t HT _ _ HR) as (_ & _ & LR & CR & _).
      destruct (ok_tail_largest S OK _ LR CR) as [<-|X]; [exact H2|eapply below_trans; eassumption]. }
    destruct (gap_found S t HT (hash_key S K key) rest 0%N h HC HH HLow HLast HHigh)
      as (x & y & b & c & HGap & HB & HCc & HN & HPr & HX & HY).
    { intros j e _ HG. eapply HNo; exact HG. }
    rewrite HGap. unfold leaf_at. rewrite HB, HCc.
    assert (HEq : hKey (the_leaf l) = hKey b).
    { destruct (below_total (hKey (the_leaf l)) (hKey b)) as [X|[X|X]]; [exfalso|exact X|exfalso].
      - destruct (honest_gap S t HT _ _ _ _ HL HB X) as (e & HE & HW). rewrite HNext, HR in HE. inversion HE; subst e.
        rewrite HNext in HW. apply (below_irreflexive (hash_key S K key)). destruct HW as [HW|HW].
        + rewrite HW, HB in HR. inversion HR. subst b. eapply below_trans; [exact H2|exact HX].
        + eapply below_trans; [exact H2|]. eapply below_trans; [exact HW|exact HX].
      - destruct (honest_gap S t HT _ _ _ _ HB HL X) as (e & HE & HW). rewrite HN, HCc in HE. inversion HE; subst e.
        rewrite HN in HW. apply (below_irreflexive (hash_key S K key)). destruct HW as [HW|HW].
        + rewrite HW, HL in HCc. inversion HCc. subst c. eapply below_trans; [exact HY|exact H1].
        + eapply below_trans; [exact HY|]. eapply below_trans; [exact HW|exact H1]. }
    pose proof (keys_differ S t HT _ _ _ _ HL HB HEq) as HI1. rewrite HI1 in *. rewrite HL in HB. inversion HB; subst b.
    rewrite <- HNext in HR. rewrite HN in HR. rewrite HCc in HR. inversion HR; subst c.
    rewrite (aa_key _ _ _ _ _ _ _ _ _ _ HA ltac:(is_on)). rewrite HP, HQ. rewrite <- HNext, HN. reflexivity.
Qed.

End Unique.

Definition one_proof_with (on : rule -> bool) : Prop :=
  forall S K t served key proof v, scheme_ok S -> honest S t -> stores S K t served ->
  check_with on S K (root S t) key proof = Ok v ->
  proof = prove S K t served key \/ broken S (proof_candidates S K t served proof).

Theorem one_proof : one_proof_with all_rules.
Proof. intros S K t served key proof v OK HT HS H. eapply one_proof_by; try eassumption. apply includes_all. Qed.
