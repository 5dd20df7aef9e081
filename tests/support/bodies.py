"""The bodies of an image as text, for tests that must not find one anywhere."""

import base64
import json
from pathlib import Path

SHORTEST = 12
"""Shorter bodies occur by chance."""


def bodies_of(folder: Path) -> list[str]:
    """The bodies of a `recall.v1` folder that are text of some length, and their halves."""
    try:
        store = json.loads((folder / "cas.json").read_text("utf-8"))
        decoded = [base64.b64decode(text or "") for text in store.values()]
    except (OSError, ValueError, AttributeError):
        return []
    texts = [body.decode("utf-8", "replace") for body in decoded]
    halves = [text[len(text) // 2 :] for text in texts] + [text[: len(text) // 2] for text in texts]
    return [text for text in [*texts, *halves] if len(text) >= SHORTEST]
