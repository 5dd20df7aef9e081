"""Merkle trees: the definitions of RFC 6962, and the edge rules this project adds."""

import hashlib
import tracemalloc
from collections.abc import Callable, Sequence

import pytest

from syn.canon import merkle
from syn.canon.merkle import EmptyProofError, ProofError
from syn.errors import Cause

LEAVES = [b"leaf %d" % number for number in range(13)]
HASHES = [merkle.leaf_hash(leaf) for leaf in LEAVES]
ROOT = merkle.root(LEAVES)


def defined_root(leaves: Sequence[bytes]) -> bytes:
    """MTH of RFC 6962 section 2.1, as the text defines it."""
    if not leaves:
        return hashlib.sha256(b"").digest()
    if len(leaves) == 1:
        return hashlib.sha256(b"\x00" + leaves[0]).digest()
    split = 1
    while split * 2 < len(leaves):
        split *= 2
    left, right = defined_root(leaves[:split]), defined_root(leaves[split:])
    return hashlib.sha256(b"\x01" + left + right).digest()


@pytest.mark.parametrize("size", range(40))
def test_root_is_the_defined_one(size: int) -> None:
    leaves = [b"%d" % number for number in range(size)]
    assert merkle.root(iter(leaves)) == defined_root(leaves)


def test_a_frontier_has_the_root_of_every_prefix() -> None:
    frontier = merkle.Frontier()
    assert frontier.root() == merkle.EMPTY_ROOT
    for size, item in enumerate(HASHES, 1):
        frontier.append(item)
        assert frontier.size == size
        assert frontier.root() == merkle.root_of(HASHES[:size])


def test_a_root_takes_no_memory_for_its_leaves() -> None:
    tracemalloc.start()
    merkle.root(b"%d" % number for number in range(20_000))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20_000, "bytes: one root takes less than a byte for each leaf"


@pytest.mark.parametrize("size", range(1, 20))
def test_every_leaf_is_proven(size: int) -> None:
    hashes = [merkle.leaf_hash(b"%d" % number) for number in range(size)]
    root = merkle.root_of(hashes)
    for index, item in enumerate(hashes):
        proof = merkle.inclusion_proof(hashes, index)
        merkle.verify_inclusion(item, index, size, proof, root)
        for other in range(size):
            if other != index:
                with pytest.raises(ProofError):
                    merkle.verify_inclusion(item, other, size, proof, root)


@pytest.mark.parametrize("size", range(1, 20))
def test_every_prefix_is_proven(size: int) -> None:
    hashes = [merkle.leaf_hash(b"%d" % number) for number in range(size)]
    root = merkle.root_of(hashes)
    for old in range(1, size + 1):
        proof = merkle.consistency_proof(hashes, old)
        merkle.verify_consistency(old, size, proof, merkle.root_of(hashes[:old]), root)


@pytest.mark.parametrize("index", [-1, 13])
def test_no_proof_of_a_leaf_that_is_not_there(index: int) -> None:
    with pytest.raises(IndexError):
        merkle.inclusion_proof(HASHES, index)


@pytest.mark.parametrize("size", [0, 14])
def test_no_proof_from_a_size_that_is_not_there(size: int) -> None:
    with pytest.raises(IndexError):
        merkle.consistency_proof(HASHES, size)


@pytest.mark.parametrize(
    ("code", "index", "size", "change"),
    [
        ("proof-index", 13, 13, lambda proof: proof),
        ("proof-index", -1, 13, lambda proof: proof),
        ("proof-index", 0, 0, lambda proof: ()),
        ("proof-length", 5, 13, lambda proof: proof[:-1]),
        ("proof-length", 5, 13, lambda proof: (*proof, HASHES[0])),
        ("proof-length", 5, 13, lambda proof: ()),
        ("proof-hash-size", 5, 13, lambda proof: (proof[0][:31], *proof[1:])),
        ("proof-hash-size", 5, 13, lambda proof: (proof[0] + b"\0", *proof[1:])),
        ("proof-root", 5, 13, lambda proof: (HASHES[0], *proof[1:])),
        ("proof-root", 4, 13, lambda proof: proof),
        ("proof-limit", 5, 13, lambda proof: proof * 20),
    ],
)
def test_an_inclusion_proof_fails_with_its_reason(
    code: str, index: int, size: int, change: Callable[[tuple[bytes, ...]], tuple[bytes, ...]]
) -> None:
    proof = change(merkle.inclusion_proof(HASHES, 5))
    with pytest.raises(ProofError) as caught:
        merkle.verify_inclusion(HASHES[5], index, size, proof, ROOT)
    assert caught.value.code == code
    assert caught.value.cause is Cause.REFUSED


def test_a_proof_holds_63_hashes_and_no_more() -> None:
    """The leftmost leaf of the largest tree has 63 siblings."""
    size, leaf, path = 2**63 - 1, HASHES[0], [HASHES[1]] * 63
    root = leaf
    for sibling in path:
        root = merkle.node_hash(root, sibling)
    merkle.verify_inclusion(leaf, 0, size, path, root)
    with pytest.raises(ProofError) as caught:
        merkle.verify_inclusion(leaf, 0, 2 * size, [*path, HASHES[1]], root)
    assert caught.value.code == "proof-limit"


@pytest.mark.parametrize(("leaf", "root"), [(b"", b""), (b"", ROOT), (HASHES[0], b"")])
def test_short_hashes_prove_nothing(leaf: bytes, root: bytes) -> None:
    with pytest.raises(ProofError, match="32 bytes"):
        merkle.verify_inclusion(leaf, 0, 1, (), root)


@pytest.mark.parametrize(
    ("code", "old", "new", "change"),
    [
        ("proof-sizes", 8, 7, lambda proof: proof),
        ("proof-sizes", -1, 7, lambda proof: proof),
        ("proof-length", 13, 13, lambda proof: proof),
        ("proof-length", 7, 13, lambda proof: ()),
        ("proof-length", 8, 13, lambda proof: ()),
        ("proof-length", 7, 13, lambda proof: proof[:-1]),
        ("proof-length", 7, 13, lambda proof: (*proof, HASHES[0])),
        ("proof-hash-size", 7, 13, lambda proof: (b"", *proof[1:])),
        ("proof-root", 7, 13, lambda proof: (HASHES[0], *proof[1:])),
        ("proof-limit", 7, 13, lambda proof: proof * 20),
    ],
)
def test_a_consistency_proof_fails_with_its_reason(
    code: str, old: int, new: int, change: Callable[[tuple[bytes, ...]], tuple[bytes, ...]]
) -> None:
    proof = change(merkle.consistency_proof(HASHES, 7))
    with pytest.raises(ProofError) as caught:
        merkle.verify_consistency(old, new, proof, merkle.root_of(HASHES[:7]), ROOT)
    assert caught.value.code == code


def test_equal_sizes_need_equal_roots() -> None:
    merkle.verify_consistency(13, 13, (), ROOT, ROOT)
    with pytest.raises(ProofError) as caught:
        merkle.verify_consistency(13, 13, (), ROOT, HASHES[0])
    assert caught.value.code == "proof-root"


@pytest.mark.parametrize("proof", [(), (ROOT,)])
def test_the_empty_tree_proves_nothing(proof: tuple[bytes, ...]) -> None:
    with pytest.raises(EmptyProofError) as caught:
        merkle.verify_consistency(0, 13, proof, merkle.EMPTY_ROOT, ROOT)
    assert caught.value.code == "proof-empty"
    assert caught.value.cause is Cause.CANNOT
