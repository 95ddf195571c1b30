(** 13. Ordered lists: a list whose root is that of the trie over its indices is the list. src/verify/blocks/ordered-trie.ts. *)
From Soundness Require Export EthState.

(** *** Building the trie: [nodeOf] *)

Definition entry := (list nibble * bytes)%type.

(** How many digits of [path] all the others share. *)
Fixpoint common (path : list nibble) (others : list (list nibble)) : nat :=
  match path with
  | [] => 0
  | x :: path =>
      if forallb (fun other => match other with y :: _ => equal_nibble y x | [] => false end) others
      then S (common path (map (@tl nibble) others))
      else 0
  end.

(** Where the first path leaves the others; 0 if it never does. *)
Definition end_of (path : list nibble) (others : list (list nibble)) : nat :=
  let shared := common path others in if shared =? length path then 0 else shared.

Definition below_entries (depth : nat) (entries : list entry) : list entry :=
  map (fun e => (skipn depth (fst e), snd e)) entries.

Definition under (n : nibble) (entries : list entry) : list entry := filter (fun e => starts_with (fst e) [n]) entries.

Fixpoint build (turns : nat) (entries : list entry) : trie :=
  match turns with
  | O => Empty
  | S turns =>
      match entries with
      | [] => Empty
      | [(path, value)] => Leaf path value
      | (path, _) :: others =>
          let shared := end_of path (map fst others) in
          if 0 <? shared
          then Extension (firstn shared path) (build turns (below_entries shared entries))
          else Branch (fun n => build turns (below_entries 1 (under n entries))) []
      end
  end.

(** The key of an index: the RLP of its integer. *)
Definition index_key (i : nat) : list nibble := to_nibbles (encode (Str (minimal (N.of_nat i)))).

Fixpoint entries_from (i : nat) (values : list bytes) : list entry :=
  match values with [] => [] | value :: values => (index_key i, value) :: entries_from (S i) values end.

Definition longest (entries : list entry) : nat := fold_right (fun e most => Nat.max (length (fst e)) most) 0 entries.

Definition list_trie (values : list bytes) : trie :=
  let entries := entries_from 0 values in build (S (longest entries)) entries.

(** [orderedTrieRoot]. *)
Definition list_root (hash : bytes -> bytes) (values : list bytes) : bytes := trie_root hash (list_trie values).

(** *** What is built holds the entries, and nothing else *)

(** No key begins with another. *)
Definition apart (a b : entry) : Prop := starts_with (fst a) (fst b) = false /\ starts_with (fst b) (fst a) = false.

Lemma starts_with_skipn : forall q a b, starts_with a q = true -> starts_with b q = true ->
  starts_with (skipn (length q) a) (skipn (length q) b) = starts_with a b.
Proof.
  induction q as [|x q IH]; intros a b HA HB; [reflexivity|]. destruct a as [|y a], b as [|z b]; try discriminate.
  cbn [starts_with] in HA, HB. apply andb_prop in HA as [EA HA]. apply andb_prop in HB as [EB HB].
  apply equal_nibble_eq in EA, EB. subst. cbn [length skipn starts_with]. rewrite IH by assumption.
  now rewrite (proj2 (equal_nibble_eq x x) eq_refl).
Qed.

Lemma starts_with_app : forall q a, starts_with a q = true <-> a = q ++ skipn (length q) a.
Proof.
  induction q as [|x q IH]; intros [|y a]; cbn [starts_with length skipn app]; try (split; [reflexivity|]; now intros).
  - split; discriminate.
  - rewrite andb_true_iff, equal_nibble_eq, IH. split.
    + intros [-> E]. f_equal. exact E.
    + intro E. injection E as E1 E2. now split.
Qed.

Lemma starts_with_length : forall q a, starts_with a q = true -> length q <= length a.
Proof.
  intros q a H. apply starts_with_app in H. rewrite H, app_length. lia.
Qed.

Lemma common_shared : forall path others o, In o others -> starts_with o (firstn (common path others) path) = true.
Proof.
  induction path as [|x path IH]; intros others o HI; cbn [common]; [now destruct o|].
  destruct (forallb _ others) eqn:E; [|now destruct o]. pose proof (proj1 (forallb_forall _ _) E o HI) as HO.
  destruct o as [|y o]; [discriminate|]. apply equal_nibble_eq in HO. subst y. cbn [firstn starts_with].
  rewrite (proj2 (equal_nibble_eq x x) eq_refl). apply (IH (map (@tl nibble) others) o). apply in_map_iff. now exists (x :: o).
Qed.

Lemma common_length : forall path others, common path others <= length path.
Proof.
  induction path as [|x path IH]; intros others; cbn [common length]; [lia|]. destruct (forallb _ others); [|lia].
  specialize (IH (map (@tl nibble) others)). lia.
Qed.

Lemma starts_with_firstn : forall n path, starts_with path (firstn n path) = true.
Proof.
  induction n as [|n IH]; intros [|x path]; try reflexivity. cbn [firstn starts_with].
  rewrite (proj2 (equal_nibble_eq x x) eq_refl). apply IH.
Qed.

Lemma apart_map : forall (f : entry -> entry) entries, ForallOrdPairs apart entries ->
  (forall a b, In a entries -> In b entries -> apart a b -> apart (f a) (f b)) -> ForallOrdPairs apart (map f entries).
Proof.
  intros f entries H. induction H as [|a entries HA H IH]; intro HF; cbn [map]; constructor.
  - apply Forall_forall. intros b Hb. apply in_map_iff in Hb as (c & <- & HI). rewrite Forall_forall in HA.
    apply HF; [now left|now right|now apply HA].
  - apply IH. intros x y Hx Hy. apply HF; now right.
Qed.

Lemma apart_filter : forall (f : entry -> bool) entries, ForallOrdPairs apart entries -> ForallOrdPairs apart (filter f entries).
Proof.
  intros f entries H. induction H as [|a entries HA H IH]; cbn [filter]; [constructor|]. destruct (f a); [|assumption].
  constructor; [|assumption]. apply Forall_forall. intros b Hb. apply filter_In in Hb as [Hb _].
  rewrite Forall_forall in HA. now apply HA.
Qed.

(** Entries that all begin with [q], without it. *)
Lemma below_apart : forall q entries, (forall e, In e entries -> starts_with (fst e) q = true) ->
  ForallOrdPairs apart entries -> ForallOrdPairs apart (below_entries (length q) entries).
Proof.
  intros q entries HQ H. apply apart_map; [assumption|]. intros a b HA HB [H1 H2]. unfold apart. cbn [fst].
  rewrite !starts_with_skipn by auto. now split.
Qed.

Lemma below_in : forall q entries d v, (forall e, In e entries -> starts_with (fst e) q = true) ->
  starts_with d q = true -> (In (skipn (length q) d, v) (below_entries (length q) entries) <-> In (d, v) entries).
Proof.
  intros q entries d v HQ HD. unfold below_entries. rewrite in_map_iff. split.
  - intros ([p w] & E & HI). cbn [fst snd] in E. inversion E; subst. pose proof (HQ _ HI) as HP. cbn [fst] in HP.
    apply starts_with_app in HP, HD. rewrite HD, <- H0, <- HP. exact HI.
  - intro HI. exists (d, v). auto.
Qed.

Lemma longest_in : forall entries e, In e entries -> length (fst e) <= longest entries.
Proof.
  induction entries as [|x entries IH]; intros e H; [destruct H|]. destruct H as [<-|H]; cbn [longest fold_right]; [lia|].
  specialize (IH e H). unfold longest in IH. lia.
Qed.

Lemma build_holds : forall turns entries, (forall e, In e entries -> length (fst e) < turns) ->
  ForallOrdPairs apart entries -> forall d v, lookup (build turns entries) d = Some v <-> In (d, v) entries.
Proof.
  induction turns as [|turns IH]; intros entries HT HA d v.
  { destruct entries as [|e entries]; [cbn; split; [discriminate|tauto]|]. specialize (HT e (or_introl eq_refl)). lia. }
  destruct entries as [|[path value] [|second others]]; [cbn; split; [discriminate|tauto]| |].
  { cbn [build lookup]. destruct (list_eq_dec nibble_eq_dec path d) as [->|HN]; split.
    - intro E. inversion E. now left.
    - intros [E|[]]. now inversion E.
    - discriminate.
    - intros [E|[]]. inversion E. congruence. }
  set (entries := (path, value) :: second :: others) in *.
  (** No path is at its end. *)
  assert (HNil : forall w, ~ In ([], w) entries).
  { intros w HI. inversion HA as [|x l HF HP E]. subst x l. rewrite Forall_forall in HF. destruct HI as [E|HI].
    - inversion E; subst path. destruct (HF second (or_introl eq_refl)) as [_ H]. cbn [fst] in H.
      now destruct (fst second).
    - destruct (HF _ HI) as [H _]. cbn [fst] in H. now destruct path. }
  change (build (S turns) entries) with (
    if 0 <? end_of path (map fst (second :: others))
    then Extension (firstn (end_of path (map fst (second :: others))) path)
           (build turns (below_entries (end_of path (map fst (second :: others))) entries))
    else Branch (fun n => build turns (below_entries 1 (under n entries))) []).
  destruct (0 <? end_of path (map fst (second :: others))) eqn:E.
  - apply Nat.ltb_lt in E.
    assert (HS : end_of path (map fst (second :: others)) = common path (map fst (second :: others))).
    { unfold end_of in E |- *. cbv zeta in E |- *. revert E.
      destruct (common path (map fst (second :: others)) =? length path); [lia|auto]. }
    set (shared := end_of path (map fst (second :: others))) in *.
    set (q := firstn shared path).
    assert (HL : length q = shared).
    { unfold q. rewrite firstn_length, HS. pose proof (common_length path (map fst (second :: others))). lia. }
    assert (HQ : forall e, In e entries -> starts_with (fst e) q = true).
    { intros e [<-|HI]; [apply starts_with_firstn|]. unfold q. rewrite HS. apply common_shared. now apply in_map. }
    cbn [lookup]. destruct (starts_with d q) eqn:ED.
    + rewrite <- (below_in q entries d v HQ ED). rewrite HL at 2. rewrite <- HL at 2. rewrite <- HL at 1. apply IH.
      * intros e He. apply in_map_iff in He as (x & <- & Hx). cbn [fst]. rewrite skipn_length.
        pose proof (HT x Hx). pose proof (starts_with_length _ _ (HQ x Hx)). lia.
      * now apply below_apart.
    + split; [discriminate|]. intro HI. pose proof (HQ _ HI) as H. cbn [fst] in H. congruence.
  - cbn [lookup]. destruct d as [|n d]; [split; [discriminate|intro HI; now apply HNil in HI]|].
    assert (HQ : forall e, In e (under n entries) -> starts_with (fst e) [n] = true)
      by (intros e He; now apply filter_In in He as [_ He]).
    assert (HD : starts_with (n :: d) [n] = true)
      by (cbn [starts_with]; rewrite (proj2 (equal_nibble_eq n n) eq_refl); now destruct d).
    rewrite (IH (below_entries 1 (under n entries))).
    + change d with (skipn (length [n]) (n :: d)) at 1. change 1 with (length [n]). rewrite (below_in [n] _ _ _ HQ HD).
      unfold under. rewrite filter_In. cbn [fst]. rewrite HD. tauto.
    + intros e He. apply in_map_iff in He as (x & <- & Hx). cbn [fst]. rewrite skipn_length.
      apply filter_In in Hx as [Hx HX]. pose proof (HT x Hx). destruct (fst x); [discriminate HX|cbn [length] in *; lia].
    + change 1 with (length [n]). apply below_apart; [exact HQ|]. now apply apart_filter.
Qed.

(** *** The keys of a list *)

Lemma starts_with_bytes : forall a b, starts_with (to_nibbles a) (to_nibbles b) = true -> exists c, a = b ++ c.
Proof.
  induction a as [|x a IH]; intros [|y b] H; try discriminate; [now exists []|now exists (x :: a)|].
  unfold to_nibbles in H. cbn [flat_map app starts_with] in H. apply andb_prop in H as [H1 H]. apply andb_prop in H as [H2 H].
  apply equal_nibble_eq in H1, H2. destruct (IH b H) as [c ->]. exists c.
  rewrite <- (join_high_low x), H1, H2, join_high_low. reflexivity.
Qed.

Lemma index_small : forall i, length (encode (Str (minimal (N.of_nat i)))) > 0.
Proof. intro i. apply encode_not_empty. Qed.

(** RLP is prefix-free. *)
Lemma encode_prefix : forall a b c, (N.of_nat (length (encode (Str a))) < 2 ^ 64)%N ->
  (N.of_nat (length (encode (Str b))) < 2 ^ 64)%N -> encode (Str a) = encode (Str b) ++ c -> a = b.
Proof.
  intros a b c HA HB E. destruct (header_encode (Str a) [] HA) as (x & r & p & l & E1 & F1 & G1 & ->).
  destruct (header_encode (Str b) c HB) as (x' & r' & p' & l' & E2 & F2 & G2 & ->). rewrite app_nil_r in E1.
  rewrite E1, E2 in E. inversion E; subst. rewrite F1 in F2. injection F2 as HL HP.
  now apply app_injective in HP as [HP _]; [|lia].
Qed.

(** No list has 2^256 values. *)
Definition within (i : nat) : Prop := (N.of_nat i < 2 ^ 256)%N.

Lemma index_key_prefix : forall i j, within i -> within j -> starts_with (index_key i) (index_key j) = true -> i = j.
Proof.
  intros i j HI HJ H. apply starts_with_bytes in H as [c E].
  assert (B : forall k, within k -> (N.of_nat (length (encode (Str (minimal (N.of_nat k))))) < 2 ^ 64)%N).
  { intros k HK. pose proof (length_encode_str (minimal (N.of_nat k)) (length_minimal _ 32 HK)). lia. }
  apply encode_prefix in E; [|now apply B|now apply B]. apply (f_equal integer) in E. rewrite !integer_minimal in E. lia.
Qed.

Lemma entries_index : forall values i e, In e (entries_from i values) -> exists j v,
  e = (index_key j, v) /\ i <= j < i + length values /\ nth_error values (j - i) = Some v.
Proof.
  induction values as [|value values IH]; intros i e H; [destruct H|]. destruct H as [<-|H].
  - exists i, value. split; [reflexivity|]. cbn [length]. rewrite Nat.sub_diag. split; [lia|reflexivity].
  - destruct (IH _ _ H) as (j & v & -> & HB & HN). exists j, v. split; [reflexivity|]. cbn [length]. split; [lia|].
    replace (j - i) with (S (j - S i)) by lia. exact HN.
Qed.

Lemma entries_in : forall values i j v, nth_error values j = Some v -> In (index_key (i + j), v) (entries_from i values).
Proof.
  induction values as [|value values IH]; intros i [|j] v H; try discriminate; cbn [entries_from].
  - rewrite Nat.add_0_r. inversion H. now left.
  - right. replace (i + S j) with (S i + j) by lia. now apply IH.
Qed.

Lemma entries_apart : forall values i, within (i + length values) -> ForallOrdPairs apart (entries_from i values).
Proof.
  induction values as [|value values IH]; intros i H; cbn [entries_from length] in *; constructor.
  - apply Forall_forall. intros e He. apply entries_index in He as (j & v & -> & HB & _). unfold apart. cbn [fst].
    assert (HI : within i /\ within j) by (unfold within in *; lia).
    split; apply not_true_is_false; intro HS; apply index_key_prefix in HS; (apply HI || lia).
  - apply IH. unfold within in *. lia.
Qed.

Lemma list_holds : forall values d v, within (length values) ->
  (lookup (list_trie values) d = Some v <-> exists i, d = index_key i /\ nth_error values i = Some v).
Proof.
  intros values d v H. unfold list_trie. cbv zeta. rewrite build_holds.
  - split.
    + intro HI. apply entries_index in HI as (j & w & E & _ & HN). inversion E; subst. rewrite Nat.sub_0_r in HN. eauto.
    + intros (i & -> & HN). exact (entries_in values 0 i v HN).
  - intros e He. apply longest_in in He. lia.
  - now apply entries_apart.
Qed.

(** *** Two tries with one root *)

Fixpoint pairs (hash : bytes -> bytes) (t u : trie) : list (bytes * bytes) :=
  (node_of hash t, node_of hash u) ::
  match t, u with
  | Extension _ t, Extension _ u => pairs hash t u
  | Branch f _, Branch g _ => flat_map (fun n => pairs hash (f n) (g n)) all_nibbles
  | _, _ => []
  end.

Lemma in_all_nibbles : forall n, In n all_nibbles.
Proof. intros []; cbn; tauto. Qed.

Lemma all_or_one : forall {A} (P Q : A -> Prop) (l : list A), (forall x, P x \/ Q x) ->
  (forall x, In x l -> P x) \/ (exists x, In x l /\ Q x).
Proof.
  intros A P Q l H. induction l as [|x l [IH|(y & HI & HQ)]]; [left; intros ? []| |right; exists y; split; [now right|assumption]].
  destruct (H x) as [HP|HQ]; [left; intros y [<-|HY]; auto|right; exists x; split; [now left|assumption]].
Qed.

Section Same.

Variable hash : bytes -> bytes.
Hypothesis hash_length : forall m, length (hash m) = 32.

Lemma length_encode_digest : forall m, length (encode (Str (hash m))) = 33.
Proof.
  intro m. cbn [encode]. assert (E : is_small (hash m) = false).
  { pose proof (hash_length m). destruct (hash m) as [|x [|y s]]; [reflexivity|discriminate|reflexivity]. }
  rewrite E, app_length, hash_length. reflexivity.
Qed.

Lemma refer_same : forall i j, refer hash i = refer hash j -> i = j \/ hash (encode i) = hash (encode j).
Proof.
  intros i j H. unfold refer in H. destruct (length (encode i) <? 32) eqn:EI, (length (encode j) <? 32) eqn:EJ.
  - now left.
  - apply Nat.ltb_lt in EI. rewrite H, length_encode_digest in EI. lia.
  - apply Nat.ltb_lt in EJ. rewrite <- H, length_encode_digest in EJ. lia.
  - right. now inversion H.
Qed.

Lemma same_item : forall t u, sized hash t -> item_of hash t = item_of hash u ->
  (forall d, lookup t d = lookup u d) \/ collision hash (pairs hash t u).
Proof.
  assert (Step : forall t, (forall u, sized hash t -> item_of hash t = item_of hash u ->
      (forall d, lookup t d = lookup u d) \/ collision hash (pairs hash t u)) ->
    forall u, sized hash t -> refer hash (item_of hash t) = refer hash (item_of hash u) ->
    (forall d, lookup t d = lookup u d) \/ collision hash (pairs hash t u)).
  { intros t IH u HS H. apply refer_same in H as [H|H]; [now apply IH|].
    destruct (collision_in hash (node_of hash t) (node_of hash u) (pairs hash t u)) as [E|HC];
      [destruct t, u; now left|exact H| |now right].
    apply IH; [assumption|]. apply rlp_encode_injective in E; [assumption|]. apply sized_node. assumption. }
  induction t as [|path value|path t IH|f IH value]; intros u HS H; destruct u as [|path' value'|path' u|g value'];
    try discriminate H.
  - now left.
  - cbn [item_of] in H. inversion H as [[HP HV]]. apply path_encode_injective in HP as [_ ->]. now left.
  - cbn [item_of] in H. inversion H as [[HP HV]]. now apply path_encode_injective in HP as [? _].
  - cbn [item_of] in H. inversion H as [[HP HV]]. now apply path_encode_injective in HP as [? _].
  - cbn [item_of] in H. injection H as HP HR. apply path_encode_injective in HP as [_ ->].
    destruct (Step t IH u (proj2 HS) HR) as [HL|HC].
    + left. intro d. cbn [lookup]. destruct (starts_with d path'); [apply HL|reflexivity].
    + right. eapply collision_incl; [|exact HC]. intros x Hx. now right.
  - assert (E : map (fun n => refer hash (item_of hash (f n))) all_nibbles ++ [Str value]
      = map (fun n => refer hash (item_of hash (g n))) all_nibbles ++ [Str value'])
      by (change (List (map (fun n => refer hash (item_of hash (f n))) all_nibbles ++ [Str value])
        = List (map (fun n => refer hash (item_of hash (g n))) all_nibbles ++ [Str value'])) in H; congruence).
    clear H. apply app_inj_tail in E as [HM HV]. inversion HV; subst value'.
    assert (HN : forall n, (forall d, lookup (f n) d = lookup (g n) d) \/ collision hash (pairs hash (f n) (g n))).
    { intro n. apply (Step (f n) (IH n)); [apply HS|]. exact (ext_in_map HM n (in_all_nibbles n)). }
    destruct (all_or_one _ _ all_nibbles HN) as [HAll|(n & HI & HC)].
    + left. intros [|n d]; cbn [lookup]; [reflexivity|]. apply HAll. apply in_all_nibbles.
    + right. eapply collision_incl; [|exact HC]. intros x Hx. right. apply in_flat_map. now exists n.
Qed.

(** Two tries with one root hold the same, or a collision is found. *)
Theorem trie_root_binds : forall t u, sized hash t -> trie_root hash t = trie_root hash u ->
  (forall d, lookup t d = lookup u d) \/ collision hash (pairs hash t u).
Proof.
  intros t u HS H. destruct (collision_in hash (node_of hash t) (node_of hash u) (pairs hash t u)) as [E|HC];
    [destruct t, u; now left|exact H| |now right].
  apply same_item; [assumption|]. apply rlp_encode_injective in E; [assumption|]. now apply sized_node.
Qed.

Lemma same_list : forall {A} (a b : list A), (forall i, nth_error a i = nth_error b i) -> a = b.
Proof.
  intros A. induction a as [|x a IH]; intros [|y b] H; [reflexivity|specialize (H 0); discriminate|specialize (H 0); discriminate|].
  pose proof (H 0) as H0. inversion H0; subst. f_equal. apply IH. intro i. exact (H (S i)).
Qed.

(** A list whose root is that of an honest list is that list: no value is missing, added or moved. *)
Theorem list_binds : forall honest given, within (length honest) -> within (length given) ->
  sized hash (list_trie honest) -> list_root hash given = list_root hash honest ->
  given = honest \/ collision hash (pairs hash (list_trie honest) (list_trie given)).
Proof.
  intros honest given HH HG HS H.
  destruct (trie_root_binds (list_trie honest) (list_trie given) HS (eq_sym H)) as [HL|HC]; [left|now right].
  apply same_list. intro i.
  assert (Half : forall a b, within (length a) -> within (length b) -> (forall d, lookup (list_trie a) d = lookup (list_trie b) d) ->
    forall v, nth_error a i = Some v -> nth_error b i = Some v).
  { intros a b HA HB HE v HN. assert (HI : lookup (list_trie a) (index_key i) = Some v) by (apply list_holds; eauto).
    rewrite HE in HI. apply list_holds in HI as (j & HK & HJ); [|assumption].
    assert (i = j); [|now subst].
    assert (Bound : forall (l : list bytes) k w, within (length l) -> nth_error l k = Some w -> within k).
    { intros l k w HW HX. assert (k < length l) by (apply nth_error_Some; congruence). unfold within in *. lia. }
    apply index_key_prefix; [exact (Bound a i v HA HN)|exact (Bound b j v HB HJ)|]. rewrite HK. apply starts_with_refl. }
  destruct (nth_error given i) as [v|] eqn:E1.
  - symmetry. apply (Half given honest HG HH); [|exact E1]. intro d. symmetry. apply HL.
  - destruct (nth_error honest i) as [v|] eqn:E2; [|reflexivity].
    rewrite (Half honest given HH HG HL v E2) in E1. discriminate.
Qed.

End Same.
