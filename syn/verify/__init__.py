"""Invariants over frozen evidence, the level, the verdict. Pure."""
