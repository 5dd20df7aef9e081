"""A head record of what one pass over a snapshot found."""

from syn.canon import head
from syn.canon.head import HeadRecord, SegmentHead
from syn.index.manifest import manifest_digest
from syn.index.rows import FACT, PROJECTION
from syn.services.proving.collect import Pass
from syn.services.recall.reading import POLICY


def head_record(done: Pass, commit: str, tree: str) -> HeadRecord:
    """What was read, as a head record whose place in a log is open."""
    chains = done.reading.ledger.ledger.chains
    return HeadRecord(
        ws=done.reading.config.id,
        n=1,
        object_format="sha1",
        commit=commit,
        tree=tree,
        projection=PROJECTION,
        manifest=manifest_digest(done.projection),
        inputs=done.inputs_hash,
        facts=facts_root(done),
        entries=head.entries_root(hashed for chain in chains for hashed, _ in chain.entries),
        segments=tuple(
            SegmentHead(chain.writer, chain.tail.length, chain.tail.head)
            for chain in chains
            if chain.tail.length
        ),
        policy=dict(done.reading.control).get(POLICY, ""),
    )


def facts_root(done: Pass) -> str:
    """The `facts` root of a head record over these rows."""
    return head.facts_root(line[:-1] for line in done.projection.lines(FACT))
