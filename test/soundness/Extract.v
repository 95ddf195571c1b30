(** The rules as an OCaml program: a third verifier. Bytes become characters; nothing else is replaced. *)
From Soundness Require Import Schemes Receipts Messages Transition.
From Coq Require Import ExtrOcamlBasic ExtrOcamlChar Extraction.

Extraction Language OCaml.
Extraction "verifier.ml" check check_answer verify_trie check_eth list_root check_receipts open_message check_transition mimc poseidon2 widen integer minimal.
