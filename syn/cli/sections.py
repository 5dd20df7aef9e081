"""The commands by what they are for: in `syn --help`, and in the reference."""

from collections.abc import Iterable

SECTIONS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("Look", ("overview", "status", "health", "doctor", "search", "list", "show", "get", "graph",
              "counts", "log", "blame", "diff", "at")),
    ("Write", ("init", "add", "edit", "supersede", "close", "move", "rm", "adopt", "restore",
               "undo", "acknowledge", "expunge")),
    ("Decide on proposals", ("propose", "pending")),
    ("Prove", ("verify", "audit", "manifest", "reindex", "report", "fleet")),
    ("Sign and witness", ("key", "policy", "checkpoint", "witness", "receipt")),
    ("Watch over cells", ("scrub", "repair", "parity", "quarantine", "clear", "image")),
    ("Connect", ("mcp", "skill", "ci", "hooks", "import", "export", "watch", "serve",
                 "completions")),
)  # fmt: skip
"""Title to names, in the order in which they are shown; a name may be that of no command."""
OTHER = "Other"


def by_section(names: Iterable[str]) -> list[tuple[str, list[str]]]:
    """These names under their titles; what stands in no section comes last."""
    left = dict.fromkeys(names)
    found = []
    for title, wanted in SECTIONS:
        here = [name for name in wanted if name in left]
        for name in here:
            del left[name]
        found.append((title, here))
    found.append((OTHER, sorted(left)))
    return [(title, here) for title, here in found if here]
