"""The patrol scrub of a workspace: what there is to check, how, in which order, and twice."""
