(** Traces of the state manager, from one state root to another: src/verify/transition, one line per rule, in its order and with its
    codes. A trace is given after JSON: its kind, integers and byte strings. *)
From Soundness Require Export Tree.

(** Every rule has a name, as in Rules.v. *)
Inductive trace_rule :=
  | TraceDigestLength | TraceDigestCanonical | StartRange | PlaceRange | LinkRange | SiblingCount
  | TraceValueLength | TraceValueCanonical | TraceNonce | TraceCodeSize | TraceZero
  | Continuous | OpensRoot | TraceKey | TraceValue | TraceNext | TracePrev | TraceBetween | PathOpens | IndexNext
  | ResultStated
  | SegmentOrder | OnlyInsertion | AllowedBefore | NoOrphan | StorageAfter | EndRoot.

Definition trace_code_of (K : kind) (r : trace_rule) : code :=
  match r with
  | TraceDigestLength | TraceValueLength => WRONG_LENGTH
  | TraceDigestCanonical | TraceValueCanonical => NON_CANONICAL
  | StartRange | PlaceRange | LinkRange => INDEX_OUT_OF_RANGE
  | SiblingCount => TRACE_SIBLING_COUNT
  | TraceNonce | TraceCodeSize => VALUE_OUT_OF_RANGE
  | TraceZero => ZERO_VALUE
  | Continuous => TRACE_NOT_CONTINUOUS
  | OpensRoot => match K with Account => TRANSITION_PARENT_NOT_OPENED | Storage => SEGMENT_STORAGE_BEFORE end
  | TraceKey => TRACE_KEY_MISMATCH
  | TraceValue => TRACE_VALUE_MISMATCH
  | TraceNext | TracePrev => TRACE_NOT_NEIGHBOURS
  | TraceBetween => TRACE_KEY_NOT_BETWEEN
  | PathOpens => TRACE_PATH_MISMATCH
  | IndexNext => TRACE_INDEX_NOT_NEXT
  | ResultStated => TRACE_RESULT_MISMATCH
  | SegmentOrder => SEGMENT_ORDER
  | OnlyInsertion | AllowedBefore => TRACE_NOT_ALLOWED
  | NoOrphan => SEGMENT_INCOMPLETE
  | StorageAfter => SEGMENT_STORAGE_AFTER
  | EndRoot => TRANSITION_END_MISMATCH
  end.

Record raw_place := { raw_index : Z; raw_siblings : list bytes }.
Record raw_leaf := { raw_prev : Z; raw_next : Z; raw_key : bytes; raw_value : bytes }.

(** The sub-root before it and [nextFreeNode] as the trace states them; at the end of those that change the tree, the sub-root
    after it. *)
Inductive trace :=
  | Read (sub_root : bytes) (free : Z) (leaf : raw_leaf) (place : raw_place) (value : bytes)
  | ReadAbsent (sub_root : bytes) (free : Z) (left right : raw_leaf) (left_place right_place : raw_place)
  | Insert (sub_root : bytes) (free : Z) (left right : raw_leaf) (left_place right_place new_place : raw_place) (value : bytes)
      (result : bytes)
  | Update (sub_root : bytes) (free : Z) (leaf : raw_leaf) (place : raw_place) (old_value new_value : bytes) (result : bytes)
  | Delete (sub_root : bytes) (free : Z) (left held right : raw_leaf) (left_place held_place right_place : raw_place)
      (value : bytes) (result : bytes).

Inductive trace_kind := KRead | KReadAbsent | KInsert | KUpdate | KDelete.
Definition kind_of (tr : trace) : trace_kind :=
  match tr with
  | Read _ _ _ _ _ => KRead | ReadAbsent _ _ _ _ _ _ => KReadAbsent | Insert _ _ _ _ _ _ _ _ _ => KInsert
  | Update _ _ _ _ _ _ _ => KUpdate | Delete _ _ _ _ _ _ _ _ _ _ => KDelete
  end.

(** How far a tree has come: [TreeState]. *)
Record tree_state := { at_sub_root : bytes; at_free : N }.

(** A leaf, or an empty place, as a trace states it: [Opened]. *)
Record opened_leaf := { place_index : N; place_siblings : list bytes; stated : leaf }.

(** What a trace proves: [Change]. *)
Record change := { before : option bytes; after : option bytes; reached : tree_state }.

Section Trace.

Variable on : trace_rule -> bool.
Variable S : scheme.
Variable K : kind.

Notation "'demand' r 'that' b ; k" := (if on r && negb b then Error (trace_code_of K r) else k)
  (at level 200, r at level 0, b at level 99, k at level 200).

(** *** Decoding: src/verify/transition/trace.ts *)

Definition decode_digest (d : bytes) : result bytes :=
  demand TraceDigestLength that (length d =? 32);
  demand TraceDigestCanonical that canonical S d;
  Ok d.

Fixpoint decode_digests (ds : list bytes) : result (list bytes) :=
  match ds with
  | [] => Ok []
  | d :: ds => take d from decode_digest d; take ds from decode_digests ds; Ok (d :: ds)
  end.

Definition decode_between (r : trace_rule) (least most : N) (z : Z) : result N :=
  demand r that ((Z.of_N least <=? z)%Z && (z <=? Z.of_N most)%Z);
  Ok (Z.to_N z).

(** An insertion states the number after it. *)
Definition decode_start (tr : trace) : result tree_state :=
  let start sub_root free taken :=
    take sub_root from decode_digest sub_root;
    take free from decode_between StartRange (2 + taken) (max_leaves S) free;
    Ok {| at_sub_root := sub_root; at_free := (free - taken)%N |} in
  match tr with
  | Insert s f _ _ _ _ _ _ _ => start s f 1%N
  | Read s f _ _ _ | ReadAbsent s f _ _ _ _ | Update s f _ _ _ _ _ | Delete s f _ _ _ _ _ _ _ _ => start s f 0%N
  end.

Definition decode_place (start : tree_state) (p : raw_place) : result (N * list bytes) :=
  take i from decode_between PlaceRange 0 (N.min (at_free start) (max_leaves S - 1)) (raw_index p);
  demand SiblingCount that (length (raw_siblings p) =? depth S);
  take siblings from decode_digests (raw_siblings p);
  Ok (i, siblings).

Definition decode_leaf (l : raw_leaf) : result leaf :=
  take p from decode_between LinkRange 0 (max_leaves S - 1) (raw_prev l);
  take n from decode_between LinkRange 0 (max_leaves S - 1) (raw_next l);
  take k from decode_digest (raw_key l);
  take v from decode_digest (raw_value l);
  Ok {| prev := p; next := n; hKey := k; hVal := v |}.

(** A value that a leaf may hold, with its hash. *)
Definition decode_held (value : bytes) : result (bytes * bytes) :=
  demand TraceValueLength that (length value =? value_length K);
  demand TraceValueCanonical that canonical S (value_message S K value);
  match K with
  | Account =>
      demand TraceNonce that is_uint64 (account_word value 0);
      demand TraceCodeSize that is_uint64 (account_word value 5);
      Ok (value, hash S (value_message S K value))
  | Storage =>
      demand TraceZero that negb (is_zero value);
      Ok (value, hash S (value_message S K value))
  end.

(** *** One trace: src/verify/transition/trace.ts *)

Definition open_leaf (start : tree_state) (p : raw_place) (l : raw_leaf) : result opened_leaf :=
  take (i, siblings) from decode_place start p;
  take l from decode_leaf l;
  Ok {| place_index := i; place_siblings := siblings; stated := l |}.

(** The leaf of the key, and its value. *)
Definition open_held (start : tree_state) (hk : bytes) (p : raw_place) (l : raw_leaf) (value : bytes)
  : result (opened_leaf * bytes) :=
  take held from open_leaf start p l;
  demand TraceKey that equal_bytes (hKey (stated held)) hk;
  take (value, hval) from decode_held value;
  demand TraceValue that equal_bytes (hVal (stated held)) hval;
  Ok (held, value).

(** Two leaves that point at each other. *)
Definition verify_linked (left right : opened_leaf) : result unit :=
  demand TraceNext that (next (stated left) =? place_index right)%N;
  demand TracePrev that (prev (stated right) =? place_index left)%N;
  Ok tt.

(** The two neighbours of a key that has no leaf. *)
Definition open_gap (start : tree_state) (hk : bytes) (pl : raw_place) (l : raw_leaf) (pr : raw_place) (r : raw_leaf)
  : result (opened_leaf * opened_leaf) :=
  take lhs from open_leaf start pl l;
  take rhs from open_leaf start pr r;
  take _ from verify_linked lhs rhs;
  demand TraceBetween that (is_below (hKey (stated lhs)) hk && is_below hk (hKey (stated rhs)));
  Ok (lhs, rhs).

Definition fold_to (o : option leaf) (siblings : list bytes) (i : N) : bytes := fold_path S (leaf_digest S o) siblings i.

(** Opens a leaf, or an empty place, and puts another there: the sub-root that this leads to. *)
Definition replace (sub_root : bytes) (i : N) (siblings : list bytes) (o successor : option leaf) : result bytes :=
  demand PathOpens that equal_bytes (fold_to o siblings i) sub_root;
  Ok (fold_to successor siblings i).

Definition replace_leaf (sub_root : bytes) (opened : opened_leaf) (successor : option leaf) : result bytes :=
  replace sub_root (place_index opened) (place_siblings opened) (Some (stated opened)) successor.

Definition relink_next (l : leaf) (n : N) : leaf := {| prev := prev l; next := n; hKey := hKey l; hVal := hVal l |}.
Definition relink_prev (l : leaf) (p : N) : leaf := {| prev := p; next := next l; hKey := hKey l; hVal := hVal l |}.

Definition verify_result (result : bytes) (c : change) : Rules.result change :=
  take stated from decode_digest result;
  demand ResultStated that equal_bytes (at_sub_root (reached c)) stated;
  Ok c.

Definition apply_trace (hk : bytes) (start : tree_state) (tr : trace) : result change :=
  let free := at_free start in
  match tr with
  | Read _ _ l p value =>
      take (held, value) from open_held start hk p l value;
      take _ from replace_leaf (at_sub_root start) held (Some (stated held));
      Ok {| before := Some value; after := Some value; reached := start |}
  | ReadAbsent _ _ l r pl pr =>
      take (lhs, rhs) from open_gap start hk pl l pr r;
      take _ from replace_leaf (at_sub_root start) lhs (Some (stated lhs));
      take _ from replace_leaf (at_sub_root start) rhs (Some (stated rhs));
      Ok {| before := None; after := None; reached := start |}
  | Insert _ _ l r pl pr pn value result =>
      take (lhs, rhs) from open_gap start hk pl l pr r;
      take (i, siblings) from decode_place start pn;
      demand IndexNext that (i =? free)%N;
      take (value, hval) from decode_held value;
      let fresh := {| prev := place_index lhs; next := place_index rhs; hKey := hk; hVal := hval |} in
      take s from replace_leaf (at_sub_root start) lhs (Some (relink_next (stated lhs) free));
      take s from replace s i siblings None (Some fresh);
      take s from replace_leaf s rhs (Some (relink_prev (stated rhs) free));
      verify_result result
        {| before := None; after := Some value; reached := {| at_sub_root := s; at_free := (free + 1)%N |} |}
  | Update _ _ l p old_value new_value result =>
      take (held, old_value) from open_held start hk p l old_value;
      take (new_value, hval) from decode_held new_value;
      let l := stated held in
      take s from replace_leaf (at_sub_root start) held
        (Some {| prev := prev l; next := next l; hKey := hKey l; hVal := hval |});
      verify_result result
        {| before := Some old_value; after := Some new_value; reached := {| at_sub_root := s; at_free := free |} |}
  | Delete _ _ l h r pl ph pr value result =>
      take lhs from open_leaf start pl l;
      take (held, value) from open_held start hk ph h value;
      take rhs from open_leaf start pr r;
      take _ from verify_linked lhs held;
      take _ from verify_linked held rhs;
      take s from replace_leaf (at_sub_root start) lhs (Some (relink_next (stated lhs) (next (stated held))));
      take s from replace_leaf s held None;
      take s from replace_leaf s rhs (Some (relink_prev (stated rhs) (prev (stated held))));
      verify_result result
        {| before := Some value; after := None; reached := {| at_sub_root := s; at_free := free |} |}
  end.

Definition state_root (s : tree_state) : bytes := hash S (word S (at_free s) ++ at_sub_root s).

(** [step]: a trace where its tree has come to. The first trace of a tree opens its root. *)
Definition step (came : option tree_state) (root hk : bytes) (tr : trace) : result change :=
  take start from decode_start tr;
  demand Continuous that
    match came with
    | None => true
    | Some s => equal_bytes (at_sub_root start) (at_sub_root s) && (at_free start =? at_free s)%N
    end;
  demand OpensRoot that match came with None => equal_bytes (state_root start) root | Some _ => true end;
  apply_trace hk start tr.

Definition root_of_state (came : option tree_state) (root : bytes) : bytes :=
  match came with None => root | Some s => state_root s end.

(** Traces of one tree: the value of each key before and after, and how far the tree has come. *)
Fixpoint follow (came : option tree_state) (root : bytes) (traces : list (bytes * trace))
  : result (list (bytes * option bytes * option bytes) * option tree_state) :=
  match traces with
  | [] => Ok ([], came)
  | (key, tr) :: traces =>
      take c from step came root (hash_key S K key) tr;
      take (changes, came) from follow (Some (reached c)) root traces;
      Ok ((key, before c, after c) :: changes, came)
  end.

End Trace.

(** *** Segments: src/verify/transition/segment.ts *)

(** A trace of an account, or of one of its slots. *)
Record entry := { e_address : bytes; e_slot : option bytes; e_trace : trace }.

(** A slot that was read or written, with its values; zero stands for a slot that does not exist. *)
Definition slot_diff := (bytes * bytes * bytes)%type.
(** An account that was read or written, before and after. *)
Record account_diff := { d_address : bytes; d_before : option bytes; d_after : option bytes; d_slots : list slot_diff }.

Definition allowed_before (account slot : trace_kind) : bool :=
  match account, slot with
  | KRead, (KRead | KReadAbsent) => true
  | KInsert, (KReadAbsent | KInsert) => true
  | KUpdate, _ => true
  | KDelete, (KRead | KReadAbsent) => true
  | _, _ => false
  end.

Definition spell (value : option bytes) : bytes := match value with None => zero_digest | Some v => v end.

(** Each slot once, where it was first: [verifyStorage]. *)
Fixpoint note_slot (key was is : bytes) (slots : list slot_diff) : list slot_diff :=
  match slots with
  | [] => [(key, was, is)]
  | (k, w, i) :: slots => if equal_bytes k key then (k, w, is) :: slots else (k, w, i) :: note_slot key was is slots
  end.

Definition note_slots (changes : list (bytes * option bytes * option bytes)) : list slot_diff :=
  fold_left (fun slots c => let '(key, was, is) := c in note_slot key (spell was) (spell is) slots) changes [].

Section Segments.

Variable on : trace_rule -> bool.
Variable S : scheme.
Variable empty_root : bytes.

Notation "'demand' r 'that' b ; k" := (if on r && negb b then Error (trace_code_of Account r) else k)
  (at level 200, r at level 0, b at level 99, k at level 200).

(** A trace of an account, and those of its slots before it: [verifyAccount]. *)
Definition verify_account (came : option tree_state) (parent_root address : bytes) (tr : trace) (slots : list (bytes * trace))
  : result (account_diff * tree_state) :=
  demand AllowedBefore that forallb (fun s => allowed_before (kind_of tr) (kind_of (snd s))) slots;
  take c from step on S Account came parent_root (hash_key S Account address) tr;
  let root_before := match before c with None => empty_root | Some v => storage_root_of v end in
  let root_after := match after c with None => root_before | Some v => storage_root_of v end in
  take (changes, storage) from follow on S Storage None root_before slots;
  demand StorageAfter that equal_bytes (root_of_state S storage root_before) root_after;
  let noted := note_slots changes in
  let shown := match after c with None => map (fun s => (fst s, zero_digest)) noted | Some _ => noted end in
  Ok ({| d_address := address; d_before := before c; d_after := after c; d_slots := shown |}, reached c).

(** [verifySegment], of the traces in order; [slots] are those of storage that wait for their account. *)
Fixpoint verify_entries (came : option tree_state) (parent_root address : bytes) (last : option trace_kind)
  (slots : list (bytes * trace)) (entries : list entry) : result (list account_diff * option tree_state) :=
  match entries with
  | [] =>
      demand NoOrphan that (length slots =? 0);
      Ok ([], came)
  | e :: entries =>
      match e_slot e with
      | Some slot => verify_entries came parent_root address last (slots ++ [(slot, e_trace e)]) entries
      | None =>
          let k := kind_of (e_trace e) in
          demand OnlyInsertion that
            match last, k with None, _ => true | Some KDelete, KInsert => true | Some _, _ => false end;
          take (diff, state) from verify_account came parent_root address (e_trace e) slots;
          take (diffs, came) from verify_entries (Some state) parent_root address (Some k) [] entries;
          Ok (diff :: diffs, came)
      end
  end.

(** Servers write the trace of an account that was only read in front of those of its storage. *)
Definition read_last (entries : list entry) : list entry :=
  match entries with
  | e :: rest => match e_slot e, e_trace e with None, Read _ _ _ _ _ => rest ++ [e] | _, _ => entries end
  | [] => []
  end.

(** [segmentsOf]: the traces of a block are split where the account changes. *)
Fixpoint segments_of (entries : list entry) : list (bytes * list entry) :=
  match entries with
  | [] => []
  | e :: entries =>
      match segments_of entries with
      | (address, own) :: segments =>
          if equal_bytes address (e_address e) then (address, e :: own) :: segments
          else (e_address e, [e]) :: (address, own) :: segments
      | [] => [(e_address e, [e])]
      end
  end.

Fixpoint verify_segments (came : option tree_state) (parent_root : bytes) (last : option bytes)
  (segments : list (bytes * list entry)) : result (list account_diff * option tree_state) :=
  match segments with
  | [] => Ok ([], came)
  | (address, entries) :: segments =>
      let hk := hash_key S Account address in
      demand SegmentOrder that match last with None => true | Some l => is_below l hk end;
      take (diffs, came) from verify_entries came parent_root address None [] (read_last entries);
      take (more, came) from verify_segments came parent_root (Some hk) segments;
      Ok (diffs ++ more, came)
  end.

(** Blocks: the state root after each, and its differences. *)
Fixpoint verify_blocks (came : option tree_state) (parent_root : bytes) (blocks : list (list entry))
  : result (list (bytes * list account_diff) * option tree_state) :=
  match blocks with
  | [] => Ok ([], came)
  | block :: blocks =>
      take (diffs, came) from verify_segments came parent_root None (segments_of block);
      take (more, last) from verify_blocks came parent_root blocks;
      Ok ((root_of_state S came parent_root, diffs) :: more, last)
  end.

(** [verifyTransition]. *)
Definition check_transition_with (parent_root : bytes) (end_root : option bytes) (blocks : list (list entry))
  : result (bytes * list (bytes * list account_diff)) :=
  take (diffs, came) from verify_blocks None parent_root blocks;
  let root := root_of_state S came parent_root in
  demand EndRoot that match end_root with None => true | Some r => equal_bytes r root end;
  Ok (root, diffs).

End Segments.

Definition check_transition := check_transition_with (fun _ => true).
