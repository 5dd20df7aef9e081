"""The append-only record of decisions: entries, segments, heads, replay. Pure."""
