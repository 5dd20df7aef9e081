"""The append-only record of decisions: entries, segments, heads, replay. Pure.

`entry` reads and writes one line, `segments` whole chains, `heads` derives what is recorded of each
fact, `build` makes the next entry, `growth` compares two states of a segment, `legality` and
`transitions` are the core of INV-10, `replay` of INV-4, `known_at` answers what was known when.
"""
