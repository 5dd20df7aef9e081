"""Persisted images of agent sessions: recall.v1 and synapse.image/1."""
