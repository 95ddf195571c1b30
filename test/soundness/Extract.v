(** The rules as an OCaml program: a third verifier. Bytes become characters; nothing else is replaced. *)
From Soundness Require Import Schemes Ordered Messages.
From Coq Require Import ExtrOcamlBasic ExtrOcamlChar Extraction.

Extraction Language OCaml.
Extraction "verifier.ml" check check_answer check_eth list_root check_message mimc poseidon2 widen integer.
