"""Laws of Merkle trees: what is proven is so, and no damaged proof proves anything."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from syn.canon import merkle
from syn.canon.merkle import ProofError
from tests.support import c2sp

HASHES = [merkle.leaf_hash(b"%d" % number) for number in range(200)]


@st.composite
def places(draw: st.DrawFn) -> tuple[int, int]:
    """An index and a size above it."""
    size = draw(st.integers(1, len(HASHES)))
    return draw(st.integers(0, size - 1)), size


@settings(max_examples=100, deadline=None)
@given(places())
def test_inclusion_agrees_with_recursion_from_the_root(place: tuple[int, int]) -> None:
    index, size = place
    root = merkle.root_of(HASHES[:size])
    proof = merkle.inclusion_proof(HASHES[:size], index)
    merkle.verify_inclusion(HASHES[index], index, size, proof, root)
    assert c2sp.fold(HASHES[index], index, size, list(proof)) == root


@settings(max_examples=100, deadline=None)
@given(places())
def test_consistency_holds_for_every_prefix(place: tuple[int, int]) -> None:
    index, size = place
    old, new = merkle.root_of(HASHES[: index + 1]), merkle.root_of(HASHES[:size])
    proof = merkle.consistency_proof(HASHES[:size], index + 1)
    merkle.verify_consistency(index + 1, size, proof, old, new)


@st.composite
def damage(draw: st.DrawFn, proof: tuple[bytes, ...]) -> tuple[bytes, ...]:
    """The proof with one hash flipped, dropped, doubled, inserted or exchanged."""
    items = list(proof)
    at = draw(st.integers(0, len(items)))
    kind = draw(st.sampled_from(["insert", "flip", "drop", "double", "exchange"]))
    if kind == "insert" or at == len(items):
        items.insert(at, draw(st.sampled_from(HASHES)))
    elif kind == "flip":
        bit = draw(st.integers(0, 255))
        items[at] = (int.from_bytes(items[at], "big") ^ 1 << bit).to_bytes(32, "big")
    elif kind == "drop":
        del items[at]
    elif kind == "double":
        items.insert(at, items[at])
    else:
        other = (at + 1) % len(items)
        items[at], items[other] = items[other], items[at]
    return tuple(items)


@settings(max_examples=150, deadline=None)
@given(places(), st.data())
def test_a_damaged_inclusion_proof_fails(place: tuple[int, int], data: st.DataObject) -> None:
    index, size = place
    proof = merkle.inclusion_proof(HASHES[:size], index)
    changed = data.draw(damage(proof))
    if changed != proof:
        with pytest.raises(ProofError):
            merkle.verify_inclusion(
                HASHES[index], index, size, changed, merkle.root_of(HASHES[:size])
            )


@settings(max_examples=150, deadline=None)
@given(places(), st.data())
def test_a_damaged_consistency_proof_fails(place: tuple[int, int], data: st.DataObject) -> None:
    index, size = place
    old, new = merkle.root_of(HASHES[: index + 1]), merkle.root_of(HASHES[:size])
    proof = merkle.consistency_proof(HASHES[:size], index + 1)
    changed = data.draw(damage(proof))
    if changed != proof:
        with pytest.raises(ProofError):
            merkle.verify_consistency(index + 1, size, changed, old, new)


@settings(max_examples=100, deadline=None)
@given(places(), places())
def test_a_rewritten_log_is_never_consistent(
    place: tuple[int, int], change: tuple[int, int]
) -> None:
    """Change any leaf of the old tree: no proof of the new tree fits the old root."""
    index, size = place
    old_size = index + 1
    rewritten = list(HASHES[:size])
    rewritten[change[0] % old_size] = merkle.leaf_hash(b"rewritten")
    proof = merkle.consistency_proof(rewritten, old_size)
    with pytest.raises(ProofError):
        merkle.verify_consistency(
            old_size, size, proof, merkle.root_of(HASHES[:old_size]), merkle.root_of(rewritten)
        )
