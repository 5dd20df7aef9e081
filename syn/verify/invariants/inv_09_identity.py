"""INV-9: every commit and entry since the trust root was signed by somebody who was allowed to."""

from typing import TYPE_CHECKING

from syn.verify.evidence import Evidence, IdentityEvidence
from syn.verify.invariant import Checked, Invariant, plural

if TYPE_CHECKING:
    from syn.model.finding import Json

_NO_ROOT = IdentityEvidence("", 0, 0, 0, 0, 0, ())


def _check(evidence: Evidence) -> Checked:
    identity = evidence.identity or _NO_ROOT
    return Checked(
        summary=(
            f"{plural(identity.commits, 'commit')} and {plural(identity.entries, 'entry')} since "
            f"{identity.root[:12]}, each signed by a key that policy allowed there"
        ),
        evidence=_members(identity),
        findings=identity.findings,
        skip=_skip(identity),
    )


def _members(identity: IdentityEvidence) -> dict[str, "Json"]:
    return {
        "root": identity.root,
        "pinned": identity.pinned,
        "commits": identity.commits,
        "entries": identity.entries,
        "signed": identity.signed,
        "unsigned": identity.unsigned,
        "foreign": identity.foreign,
        "forge": identity.forge,
        "first_unsigned": [*identity.first_unsigned],
        # Strict fails a skip that something stands behind: signatures missing, or the root.
        "capped": not identity.root or identity.unsigned + identity.foreign + identity.forge > 0,
    }


def _skip(identity: IdentityEvidence) -> str:
    """Why nothing is claimed though nothing is wrong, or ""."""
    if not identity.root:
        return "no trust root was given: a pinned commit or witness (--root, --since)"
    if not identity.commits and not identity.entries:
        return f"nothing to check: no commit and no entry since {identity.root[:12]}"
    counted = (
        (identity.unsigned, "unsigned"),
        (identity.foreign, "signed in a format that is not verified here (OpenPGP, X.509)"),
        (identity.forge, "signed by a server for others"),
    )
    parts = [f"{count:,} {what}" for count, what in counted if count]
    if not parts:
        return ""
    total = f"{plural(identity.commits, 'commit')} and {plural(identity.entries, 'entry')}"
    return f"of {total} since {identity.root[:12]}: {', '.join(parts)}"


INVARIANT = Invariant(
    number=9,
    title="identity",
    integrity="A",
    when="root",
    check=_check,
    explanation=(
        "Every commit and every entry since the trust root is signed by a key that the policy of "
        "each parent allowed, by position in history and never by a date. It proves which key "
        "signed, not who sat at the keyboard; what is before the trust root is taken on trust; and "
        "whoever holds an admin's key can let others in, visibly."
    ),
)
