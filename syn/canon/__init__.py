"""Bytes that are hashed or signed: canonical JSON, digests, Merkle trees, notes, envelopes."""
