(** Every theorem of docs/soundness.md, and what it assumes: nothing but its premises. *)
From Soundness Require Import Binding Values Schemes Prover World Unique AnyTree Needed TrieNeeded Ordered Messages TransitionNeeded.
(** 1. Existence binds. *)
Print Assumptions existence_binds.
Print Assumptions existence_binds_by.
Print Assumptions value_binds.
Print Assumptions value_binds_by.
(** 2. Absence binds. *)
Print Assumptions absence_binds.
Print Assumptions absence_binds_by.
(** 3. Never both. *)
Print Assumptions never_both.
Print Assumptions never_both_by.
(** 4. Completeness. *)
Print Assumptions completeness.
Print Assumptions completeness_by.
(** 5. Every rule is needed. *)
Print Assumptions node_count_needed.
Print Assumptions value_length_needed.
Print Assumptions value_hash_needed.
Print Assumptions leaf_key_needed.
Print Assumptions sub_root_needed.
Print Assumptions trusted_root_needed.
Print Assumptions value_canonical_needed.
Print Assumptions leaf_canonical_needed.
Print Assumptions above_left_needed.
Print Assumptions below_right_needed.
Print Assumptions one_link_needed.
Print Assumptions index_range_needed.
Print Assumptions inner_length_needed.
Print Assumptions inner_canonical_needed.
Print Assumptions sibling_length_needed.
Print Assumptions sibling_canonical_needed.
Print Assumptions sibling_digest_needed.
Print Assumptions zero_opening_needed.
Print Assumptions key_asked_needed.
Print Assumptions neighbour_length_needed.
Print Assumptions sentinel_value_needed.
Print Assumptions neighbour_hash_needed.
Print Assumptions root_word_needed.
Print Assumptions root_range_needed.
Print Assumptions below_next_free_needed.
Print Assumptions leaf_word_needed.
Print Assumptions leaf_range_needed.
Print Assumptions sibling_word_needed.
Print Assumptions sibling_range_needed.
Print Assumptions zero_value_needed.
Print Assumptions nonce_needed.
Print Assumptions code_size_needed.
Print Assumptions next_link_needed.
Print Assumptions prev_link_needed.
Print Assumptions sentinel_place_needed.
Print Assumptions honest_tree_needed.
Print Assumptions every_rule_is_needed.
Print Assumptions early_rules_change_no_verdict.
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
Print Assumptions answer_binds.
(** 8. One proof. *)
Print Assumptions one_proof.
Print Assumptions one_proof_by.
(** 9. Any tree. *)
Print Assumptions any_tree.
Print Assumptions any_tree_by.
(** 10. RLP. *)
Print Assumptions rlp_complete.
Print Assumptions rlp_canonical.
Print Assumptions rlp_injective.
Print Assumptions rlp_encode_injective.
Print Assumptions rlp_canonical_needed.
(** 11. The trie binds. *)
Print Assumptions path_read.
Print Assumptions path_encode_injective.
Print Assumptions trie_binds.
Print Assumptions trie_binds_by.
Print Assumptions never_both_trie.
Print Assumptions never_both_trie_by.
Print Assumptions one_trie_proof.
Print Assumptions one_trie_proof_by.
Print Assumptions trie_complete.
Print Assumptions node_hash_needed.
Print Assumptions leaf_path_needed.
Print Assumptions one_branch_rule_needed.
Print Assumptions nodes_unused_needed.
Print Assumptions no_trie_rule_follows.
(** 12. An account of Ethereum and its slots. *)
Print Assumptions account_read.
Print Assumptions slot_read.
Print Assumptions secured_binds.
Print Assumptions eth_binds.
(** 13. Ordered lists. *)
Print Assumptions trie_root_binds.
Print Assumptions list_binds.
(** 14. Trees of messages. *)
Print Assumptions message_binds.
Print Assumptions message_binds_by.
Print Assumptions message_complete.
Print Assumptions index_in_tree_needed.
Print Assumptions path_to_root_needed.
Print Assumptions depth_of_root_needed.
(** 15. Traces of one tree. *)
Print Assumptions apply_binds.
Print Assumptions trace_binds.
Print Assumptions follow_binds.
Print Assumptions chain_binds.
Print Assumptions nothing_else.
Print Assumptions trace_binds_by.
Print Assumptions trace_key_needed.
Print Assumptions trace_value_needed.
Print Assumptions one_trace_link_needed.
Print Assumptions trace_between_needed.
Print Assumptions path_opens_needed.
Print Assumptions opens_root_needed.
Print Assumptions continuous_needed.
Print Assumptions trace_zero_needed.
Print Assumptions trace_nonce_needed.
Print Assumptions trace_code_size_needed.
Print Assumptions trace_value_canonical_needed.
Print Assumptions trace_value_length_needed.
Print Assumptions sibling_count_needed.
Print Assumptions place_range_needed.
Print Assumptions link_range_needed.
Print Assumptions start_range_needed.
Print Assumptions trace_digest_canonical_needed.
Print Assumptions trace_digest_length_needed.
(** 16. Transitions. *)
Print Assumptions transition_binds.
Print Assumptions no_other_account.
