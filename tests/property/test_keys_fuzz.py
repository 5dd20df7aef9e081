"""Key files, signatures, trust files and policies: any bytes give a value or a typed error."""

from collections.abc import Callable
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from syn.errors import SynError
from syn.keys import openssh, policy, public, sshsig, trust, vkey
from syn.keys.policy import ROLES, STATES, BrokenPolicy, Policy, PolicyKey
from syn.keys.public import PublicKey
from syn.keys.vkey import VerifierKey
from tests.support.proofs import private_key

ARMORED = sshsig.sign(private_key(1), b"message", "git").encode()
PRIVATE = openssh.render(private_key(1))
LINE = f'alice namespaces="git" {private_key(1).public.line("comment")}'
VKEY = vkey.render(VerifierKey("example.org/a", 1, private_key(1).public))
PUBLIC = [private_key(number).public for number in range(6)]


def code_of(call: Callable[[], object]) -> str:
    """The code of the typed error that the call raises, or ""; anything else passes through."""
    try:
        call()
    except SynError as error:
        return error.code
    return ""


@st.composite
def damaged(draw: st.DrawFn, good: bytes) -> bytes:
    start = draw(st.integers(0, len(good)))
    end = min(len(good), start + draw(st.integers(0, 12)))
    return good[:start] + draw(st.binary(max_size=8)) + good[end:]


@settings(max_examples=100, deadline=None)
@given(damaged(ARMORED) | st.binary(max_size=100))
def test_signatures(data: bytes) -> None:
    found = code_of(lambda: sshsig.verify(data, b"message", "git"))
    assert found.startswith("sshsig-") or sshsig.parse(data).key == private_key(1).public


@settings(max_examples=100, deadline=None)
@given(damaged(PRIVATE) | st.binary(max_size=100))
def test_private_key_files(data: bytes) -> None:
    assert code_of(lambda: openssh.parse(data))[:4] in {"", "key-"}


@settings(max_examples=150, deadline=None)
@given(damaged(f"{LINE}\n{VKEY}\n".encode()) | st.binary(max_size=100))
def test_trust_files(data: bytes) -> None:
    found = code_of(lambda: trust.parse(data))
    assert found.startswith("trust-") or trust.parse(data).keys


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=60) | damaged(VKEY.encode()).map(lambda data: data.decode("latin-1")))
def test_verifier_keys(text: str) -> None:
    found = code_of(lambda: vkey.parse(text))
    assert found.startswith("vkey-") or vkey.render(vkey.parse(text)) == text


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=60))
def test_public_lines(text: str) -> None:
    assert code_of(lambda: public.parse_line(text)).startswith("key-")


KEYS = st.builds(
    PolicyKey,
    name=st.sampled_from(["alice", "bob-2", "_", "c.d"]),
    roles=st.lists(st.sampled_from(ROLES), min_size=1, unique=True).map(
        lambda chosen: tuple(role for role in ROLES if role in chosen)
    ),
    state=st.sampled_from(STATES),
    key=st.sampled_from(PUBLIC),
    comment=st.sampled_from(["", "laptop", "é # 2", '"quoted" a="b"']),
)
SMALL = Policy((PolicyKey("a", ("admin",), "active", PUBLIC[1]),))
POLICIES = st.lists(KEYS, max_size=4, unique_by=lambda item: item.key).map(
    lambda items: Policy(tuple(items))
)


@settings(max_examples=100, deadline=None)
@given(POLICIES)
def test_policies_read_back(value: Policy) -> None:
    assert policy.parse(policy.render(value)) == value


@st.composite
def changes(draw: st.DrawFn) -> tuple[Policy, Policy]:
    """A policy and a later one: some states moved, some keys dropped, some added."""
    old = draw(POLICIES)
    kept = [item for item in old.keys if draw(st.integers(0, 5))]
    moved = [replace(item, state=draw(st.sampled_from((item.state, *STATES)))) for item in kept]
    known = {item.key for item in old.keys}
    added = [item for item in draw(POLICIES).keys if item.key not in known]
    return old, Policy((*moved, *added))


@settings(max_examples=150, deadline=None)
@given(changes(), st.sampled_from(PUBLIC[:4]))
def test_an_allowed_change_keeps_every_key_and_every_verdict(
    change: tuple[Policy, Policy], signer: PublicKey
) -> None:
    old, new = change
    if policy.change_allowed(old, new, signer):
        assert policy.allowed(old, signer, "admin")
        assert any(policy.allowed(new, item.key, "admin") for item in new.keys)
        for item in old.keys:
            after = new.find(item.key)
            assert after is not None
            assert item.state != "compromised" or after.state == "compromised"


@settings(max_examples=150, deadline=None)
@given(damaged(policy.render(SMALL)))
def test_policy_files(data: bytes) -> None:
    found = policy.parse(data)
    if isinstance(found, BrokenPolicy):
        assert found.problems
        assert all("\n" not in item.message for item in found.problems)
    else:
        assert policy.parse(policy.render(found)) == found
