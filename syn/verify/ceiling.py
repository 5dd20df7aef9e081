"""What the levels claim and where every proof here ends (`syn verify --explain`)."""

LEVELS = (
    ("L1", "audited", "a ledger exists, and every fact is the one that was decided on"),
    ("L2", "hash-chained", "a checkpoint that a publisher of the policy signed covers the state"),
    ("L3", "git-witnessed", "the state extends a witness that is kept outside the repository"),
    ("L4", "signed identity", "every commit and decision since a trust root is signed"),
)
"""Each level holds only with all below it; any failure claims L0."""

CEILING = (
    "Tamper-evident, not tamper-proof. A lone clone cannot convict its own owner: who holds the "
    "keys can rewrite everything and sign it again, and the result holds together. Only a witness "
    "that somebody else kept contradicts it. The trust root says which case a run is: local-only, "
    "checkpoint-witnessed or published-witness.",
    "A witness reaches back to its own date and no further, and a publisher may show two people "
    "two histories: they find out when they compare witnesses, or when one cosigns the other's.",
    "Replay proves that the ledger gives one state in every legal order (INV-4). It does not "
    "rebuild the facts: those are files, and rebuilding what is derived from them is INV-1.",
    "Everything rests on the manifest being complete and stable. That is tested, on every "
    "platform, and it is not proven.",
    "A signature proves which key signed. It does not prove who held it, that its owner read what "
    "was signed, or that what a fact says is true.",
    "Whoever can delete every copy deletes the memory: the proof is then that it is gone.",
)
"""The honest ceiling, sentence by sentence."""
