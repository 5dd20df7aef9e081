"""INV-2: every fact is the one that was decided on."""

from collections.abc import Iterator

from syn.model.fact import Unreadable
from syn.model.finding import Finding
from syn.model.recorded import Recorded
from syn.verify.evidence import ConfigEvidence, Evidence, FactView, Unread
from syn.verify.invariant import Checked, Invariant, plural


def _check(evidence: Evidence) -> Checked:
    facts = {fact.id: fact for fact in evidence.facts}
    recorded = evidence.ledger.recorded
    unreadable = {item.path for item in evidence.unreadable}
    unread = {item.what: item for item in evidence.unread}
    findings = [
        *_unreadable(evidence.unreadable),
        *_config(evidence),
        *_policy(evidence.policy),
        *(
            f
            for fact in evidence.facts
            if evidence.ledger.entries
            for f in _fact(fact, recorded.get(fact.id), recorded)
        ),
        *(
            _missing(state, evidence)
            for state in recorded.values()
            if not state.deleted and not state.forked and state.fact not in facts
            if state.path not in unreadable and state.path not in unread
        ),
        *(
            _unread(state, unread[state.path])
            for state in recorded.values()
            if not state.deleted and state.path in unread
        ),
        *(_forked(state) for state in recorded.values() if state.forked),
    ]
    live = sum(not state.deleted for state in recorded.values())
    unstarted = f"{plural(len(facts), 'fact')} and no decision on any: syn adopt records them"
    return Checked(
        summary=f"{plural(len(facts), 'fact')} against {plural(live, 'recorded fact')}",
        evidence={"facts": len(facts), "recorded": live, "unreadable": len(unreadable)},
        findings=tuple(findings),
        # Without any decision there is nothing to compare with; no level is claimed either.
        skip="" if evidence.ledger.entries or findings else unstarted,
    )


def _fact(
    fact: FactView, state: Recorded | None, recorded: dict[str, Recorded]
) -> Iterator[Finding]:
    if state is None or state.deleted:
        yield _unrecorded(fact, state, recorded)
    elif not state.forked:
        if fact.path != state.path:
            yield Finding(
                code="path-changed",
                subject=fact.id,
                path=fact.path,
                line=1,
                expected=state.path,
                actual=fact.path,
                remedy=f"syn adopt {fact.path} records the move",
            )
        if fact.payload != state.payload:
            yield Finding(
                code="payload-changed",
                subject=fact.id,
                path=fact.path,
                line=1,
                expected=state.payload,
                actual=fact.payload,
                remedy=f"syn diff shows the change; syn adopt {fact.path} records it, "
                f"syn restore {fact.id} takes it back",
            )
        elif fact.source != state.source:
            yield Finding(
                code="reformatted",
                subject=fact.id,
                path=fact.path,
                line=1,
                expected=state.source,
                actual=fact.source,
                remedy=f"the meaning is the same; syn adopt {fact.path} records the new bytes",
                severity="warning",
            )


def _unrecorded(fact: FactView, state: Recorded | None, recorded: dict[str, Recorded]) -> Finding:
    elsewhere = next(
        (s.fact for s in recorded.values() if s.path == fact.path and not s.deleted), ""
    )
    if elsewhere:
        return Finding(
            code="id-changed",
            subject=elsewhere,
            path=fact.path,
            line=fact.line_of("id"),
            expected=elsewhere,
            actual=fact.id,
            remedy=f"give the file its id back, or syn adopt {fact.path} records the change",
        )
    if state is not None:
        return Finding(
            code="deleted-fact-present",
            subject=fact.id,
            path=fact.path,
            line=1,
            expected="no such fact: a decision deleted it",
            actual=fact.payload,
            remedy=f"remove the file, or syn adopt {fact.path} records it again",
        )
    return Finding(
        code="unrecorded-fact",
        subject=fact.id,
        path=fact.path,
        line=1,
        expected="a decision that records it",
        actual="none",
        remedy=f"syn adopt {fact.path}",
    )


def _missing(state: Recorded, evidence: Evidence) -> Finding:
    path, line = evidence.ledger.lines.get(state.heads[0], ("", 0))
    return Finding(
        code="fact-missing",
        subject=state.fact,
        path=state.path,
        expected=state.payload,
        actual=f"no such file (recorded at {path}:{line})" if path else "no such file",
        remedy=f"syn restore {state.fact} brings it back, syn rm {state.fact} records that it "
        "is gone",
    )


def _unread(state: Recorded, gap: Unread) -> Finding:
    return Finding(
        code=gap.code,
        subject=state.fact,
        path=state.path,
        expected=state.payload,
        actual=gap.message,
        remedy=gap.remedy,
        severity="failure" if gap.wrong else "unknown",
    )


def _forked(state: Recorded) -> Finding:
    return Finding(
        code="forked",
        subject=state.fact,
        path=state.path,
        expected="one decision head",
        actual=", ".join(head[:23] for head in state.heads),
        remedy=f"decide which holds: syn adopt {state.path or state.fact} names all heads",
    )


def _unreadable(items: tuple[Unreadable, ...]) -> Iterator[Finding]:
    for item in items:
        for problem in item.problems:
            yield Finding(
                code=problem.code,
                subject=item.path,
                path=problem.path,
                line=problem.line,
                expected="a readable fact",
                actual=problem.message,
                remedy=problem.remedy,
            )


def _config(evidence: Evidence) -> Iterator[Finding]:
    config = evidence.config
    if not config.recorded and not evidence.ledger.entries:
        return
    if config.digest not in config.recorded or len(config.recorded) != 1:
        yield Finding(
            code="config-changed" if config.recorded else "config-unrecorded",
            subject="synapse.toml",
            path="synapse.toml",
            line=1,
            expected=", ".join(config.recorded) or "a decision that records it",
            actual=config.digest,
            remedy="syn adopt synapse.toml records it as it is, syn restore synapse.toml takes it "
            "back",
        )


def _policy(policy: ConfigEvidence) -> Iterator[Finding]:
    # Several heads are a merge of two changes, whose text is neither: INV-3 judges who made them.
    if len(policy.recorded) == 1 and policy.digest not in policy.recorded:
        yield Finding(
            code="policy-changed",
            subject=".synapse/policy",
            path=".synapse/policy",
            line=1,
            expected=policy.recorded[0],
            actual=policy.digest or "no file",
            remedy="syn restore .synapse/policy takes it back; an admin changes it with syn policy",
        )


INVARIANT = Invariant(
    number=2,
    title="content",
    integrity="A",
    when="default",
    check=_check,
    explanation=(
        "Every fact's payload and path are those at its decision head; every decision has its "
        "fact; configuration and policy are the recorded ones. It does not say that what was "
        "decided is true, nor who really decided it: that is INV-9."
    ),
)
