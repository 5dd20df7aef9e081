"""Verifier keys, trust files, and the keys they give for notes and envelopes."""

import pytest

from syn.canon import note
from syn.canon.dsse import Envelope, EnvelopeSignature
from syn.canon.note import NoteError, UnknownKeyError
from syn.errors import Cause
from syn.keys import signing, trust, vkey
from syn.keys.policy import KeyState, Policy, PolicyKey, Role
from syn.keys.signing import EnvelopeSignatureError, UnknownEnvelopeKeyError
from syn.keys.trust import TrustError
from syn.keys.vkey import VerifierKey, VerifierKeyError
from tests.support.proofs import private_key

SPEC = "example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k"
KEY = private_key(1)
LINE = KEY.public.line()
TEXT = "text\n"


def test_the_key_of_the_specification() -> None:
    key = vkey.parse(SPEC)
    assert (key.name, key.type, key.key_id.hex()) == ("example.com/foo", 1, "530d903a")
    assert vkey.render(key) == SPEC


@pytest.mark.parametrize("kind", vkey.TYPES)
def test_render_and_parse_are_inverse(kind: int) -> None:
    key = VerifierKey("example.org/ws/alice", kind, KEY.public)
    assert vkey.parse(vkey.render(key)) == key


def test_type_is_part_of_the_key_id() -> None:
    assert vkey.key_id("n", 1, KEY.public) != vkey.key_id("n", 4, KEY.public)


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("vkey-form", ""),
        ("vkey-form", "example.com/foo"),
        ("vkey-form", SPEC.replace("example.com/foo", "")),
        ("vkey-form", SPEC.replace("example.com/foo", "a b")),
        ("vkey-form", SPEC.replace("530d903a", "530D903A")),
        ("vkey-form", SPEC.replace("530d903a", "530d903")),
        ("vkey-form", SPEC[:-1]),
        ("vkey-form", f"{SPEC}\n"),
        ("vkey-form", "example.com/foo+530d903a+"),
        ("vkey-form", "example.com/foo+530d903a+AQ=="),
        ("vkey-type", "example.com/foo+530d903a+Aukyeg=="),
        ("vkey-id", SPEC.replace("530d903a", "530d903b")),
        ("vkey-id", SPEC.replace("foo", "bar")),
    ],
)
def test_verifier_keys_are_read_strictly(code: str, text: str) -> None:
    with pytest.raises(VerifierKeyError) as caught:
        vkey.parse(text)
    assert caught.value.code == code


def test_a_trust_file_holds_all_three_forms() -> None:
    data = f"# auditors\n\n{LINE} alice laptop\r\n  {SPEC}  \nbob@example.org {LINE}\n".encode()
    found = trust.parse(data)
    assert [(item.line, item.name) for item in found.keys] == [
        (3, "alice laptop"),
        (4, "example.com/foo"),
        (5, "bob@example.org"),
    ]
    assert found.for_namespace("git") == (KEY.public, vkey.parse(SPEC).key)


def test_namespaces_restrict_a_key() -> None:
    found = trust.parse(f'a namespaces="git,synapse-report" {LINE}\n'.encode())
    assert found.for_namespace("git") == found.for_namespace("synapse-report") == (KEY.public,)
    assert found.for_namespace("file") == ()
    signed = note.sign(TEXT, [signing.note_signer(KEY, "n")])
    assert found.note_verifiers(signed) == ()
    wider = trust.parse(f'a namespaces="synapse-checkpoint" {LINE}\n'.encode())
    assert len(wider.note_verifiers(signed)) == 1


@pytest.mark.parametrize(
    ("code", "line"),
    [
        ("trust-empty", ""),
        ("trust-empty", "# nothing\n\n"),
        ("trust-form", "alice"),
        ("trust-form", "garbage garbage"),
        ("trust-form", f'"open {LINE}'),
        ("trust-form", f'a namespaces="git {LINE}'),
        ("trust-form", f'a x="1",x="2" {LINE}'),
        ("trust-form", f"a x, {LINE}"),
        ("trust-form", f"a b c {LINE}"),
        ("trust-form", f'a {LINE}"x'),
        ("trust-form", f'"" {LINE}'),
        ("trust-option", f"a cert-authority {LINE}"),
        ("trust-option", f'a valid-before="20200101" {LINE}'),
        ("trust-option", f'a namespaces="git",valid-after="20200101" {LINE}'),
        ("trust-option", f"a namespaces {LINE}"),
        ("trust-option", f'a namespaces="" {LINE}'),
        ("trust-option", f'a namespaces="*" {LINE}'),
        ("trust-option", f'a namespaces="!git,*" {LINE}'),
        ("trust-key", "ssh-rsa AAAAB3NzaC1yc2EAAAAA"),
        ("trust-key", "a ssh-rsa AAAAB3NzaC1yc2EAAAAA"),
        ("trust-key", "ssh-ed25519 AAAA"),
        ("trust-key", SPEC[:-1]),
        ("trust-key", SPEC.replace("530d903a", "00000000")),
    ],
)
def test_a_line_that_cannot_be_honoured_stops_the_file(code: str, line: str) -> None:
    with pytest.raises(TrustError) as caught:
        trust.parse(line.encode())
    assert caught.value.code == code
    assert caught.value.cause is Cause.CANNOT
    if code != "trust-empty":
        with pytest.raises(TrustError, match="line 2"):
            trust.parse(f"{LINE}\n{line}\n".encode())


def test_no_line_hides_behind_other_line_ends() -> None:
    for separator in ("\r", "\x0b", "\x0c", "\u2028", "\x85"):
        found = trust.parse(f"{LINE}\n# a{separator}{private_key(2).public.line()}\n".encode())
        assert len(found.keys) == 1


def test_a_trust_file_has_a_form_and_a_limit() -> None:
    for code, data in (("trust-form", b"\xff"), ("trust-limit", b"#" * (trust.MAX_BYTES + 1))):
        with pytest.raises(TrustError) as caught:
            trust.parse(data)
        assert caught.value.code == code


def test_a_bare_key_counts_under_the_names_the_note_claims() -> None:
    found = trust.parse(f"{LINE}\n".encode())
    signed = note.sign(
        TEXT,
        [
            signing.note_signer(private_key(2), "other"),
            signing.note_signer(KEY, "one"),
            signing.cosigner(KEY, "two", 5),
        ],
    )
    verified = note.verify(signed, found.note_verifiers(signed))
    assert [item.signature.name for item in verified] == ["one", "two"]


def test_a_verifier_key_counts_under_its_own_name_only() -> None:
    named = vkey.render(VerifierKey("one", 1, KEY.public))
    found = trust.parse(f"{named}\n".encode())
    good = note.sign(TEXT, [signing.note_signer(KEY, "one")])
    assert len(note.verify(good, found.note_verifiers(good))) == 1
    other = note.sign(TEXT, [signing.note_signer(KEY, "two"), signing.cosigner(KEY, "one", 5)])
    with pytest.raises(UnknownKeyError):
        note.verify(other, found.note_verifiers(other))


def test_a_cosigners_verifier_key_counts_for_cosignatures_alone() -> None:
    named = vkey.render(VerifierKey("one", 4, KEY.public))
    found = trust.parse(f"{named}\n".encode())
    assert found.for_namespace("git") == found.for_namespace("synapse-report") == ()
    signed = note.sign(TEXT, [signing.cosigner(KEY, "one", 5)])
    assert len(note.verify(signed, found.note_verifiers(signed))) == 1


def test_publishers_of_a_log_are_those_of_its_name() -> None:
    def item(number: int, name: str, role: Role, state: KeyState = "active") -> PolicyKey:
        return PolicyKey(name, (role,), state, private_key(number).public)

    rules = Policy(
        (
            item(1, "alice", "publisher", "retired"),
            item(2, "alice", "publisher"),
            item(3, "alice", "writer"),
            item(4, "bob", "publisher"),
        )
    )
    found = signing.publisher_verifiers(rules, "example.org/ws/alice")
    assert [each.public for each in found] == [private_key(number).public.raw for number in (1, 2)]
    signed = note.sign(TEXT, [signing.note_signer(private_key(2), "example.org/ws/alice")])
    assert len(note.verify(signed, found)) == 1


def test_a_key_given_twice_in_two_forms_is_one_key() -> None:
    named = vkey.render(VerifierKey("one", 1, KEY.public))
    found = trust.parse(f"{named}\n{LINE}\n".encode())
    signed = note.sign(TEXT, [signing.note_signer(KEY, "one")])
    assert len(note.verify(signed, found.note_verifiers(signed))) == 1


def test_a_cosignature_that_is_cut_is_bad() -> None:
    signer = signing.cosigner(KEY, "one", 5)
    cut = note.Signer(signer.name, signer.key_id, lambda text: signer.sign(text)[:-1])
    signed = note.sign(TEXT, [cut])
    with pytest.raises(NoteError):
        note.verify(signed, signing.verifiers_for(signed, [KEY.public]))


def test_an_envelope_is_verified_by_key_whatever_the_keyid() -> None:
    envelope = signing.sign_envelope("t", b"payload", [KEY, private_key(2)])
    both = (private_key(2).public, KEY.public)
    assert signing.verify_envelope(envelope, both) == (KEY.public, private_key(2).public)
    hidden = Envelope("t", b"payload", (EnvelopeSignature("", envelope.signatures[0].sig),))
    assert signing.verify_envelope(hidden, both) == (KEY.public,)


def test_a_signature_that_names_another_trusted_key_is_bad() -> None:
    keys = (KEY.public, private_key(2).public)
    sig = signing.sign_envelope("t", b"payload", [KEY]).signatures[0].sig
    misnamed = Envelope("t", b"payload", (EnvelopeSignature(keys[1].fingerprint, sig),))
    with pytest.raises(EnvelopeSignatureError):
        signing.verify_envelope(misnamed, keys)


def test_an_envelope_under_no_trusted_key_has_no_verdict() -> None:
    envelope = signing.sign_envelope("t", b"payload", [KEY])
    for keys in ((), (private_key(2).public,)):
        with pytest.raises(UnknownEnvelopeKeyError) as caught:
            signing.verify_envelope(envelope, keys)
        assert caught.value.code == "envelope-unknown-key"


@pytest.mark.parametrize(("kind", "payload"), [("t", b"other"), ("u", b"payload")])
def test_an_envelope_whose_content_was_swapped_is_bad(kind: str, payload: bytes) -> None:
    signatures = signing.sign_envelope("t", b"payload", [KEY]).signatures
    with pytest.raises(EnvelopeSignatureError) as caught:
        signing.verify_envelope(Envelope(kind, payload, signatures), (KEY.public,))
    assert caught.value.code == "envelope-bad"
