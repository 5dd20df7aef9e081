"""The prompts of the server; the rule is the one that every agent is told."""

from syn.services.doors.teaching import RULE

PROMPTS: dict[str, tuple[str, str]] = {
    "memory": ("How to use this memory.", RULE),
}
"""Name to description and text."""
