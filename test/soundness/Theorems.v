(** Every theorem of docs/soundness.md, and what it assumes: nothing but its premises. *)
From Soundness Require Import Binding Values Schemes Prover World.

(** 1. Existence binds. *)
Print Assumptions existence_binds.
Print Assumptions value_binds.
(** 2. Absence binds. *)
Print Assumptions absence_binds.
(** 3. Never both. *)
Print Assumptions never_both.
(** 4. Completeness. *)
Print Assumptions completeness.
(** 6. Encodings. *)
Print Assumptions mimc_ok.
Print Assumptions poseidon2_ok.
Print Assumptions index_word_injective.
Print Assumptions opening_injective.
Print Assumptions root_node_injective.
Print Assumptions value_message_injective.
Print Assumptions key_message_injective.
Print Assumptions turns_are_bits.
Print Assumptions turns_tell_indices_apart.
(** 7. An account and its slots. *)
Print Assumptions empty_tree_honest.
Print Assumptions slot_binds.
