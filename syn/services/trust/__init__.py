"""Keys, policy, checkpoints and witnesses: what lets somebody else hold us to it."""
