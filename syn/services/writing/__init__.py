"""Decisions: planned, judged by the gate, recorded all or nothing, taken back."""
