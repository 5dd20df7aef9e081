"""One file per invariant; `syn.verify.registry` discovers them."""
