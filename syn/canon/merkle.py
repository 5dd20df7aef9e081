"""Merkle trees of RFC 6962 section 2.1 (RFC 9162 section 2.1): roots, proofs, verification.

Leaf hash `SHA-256(0x00 || data)`, node hash `SHA-256(0x01 || left || right)`, the empty tree is
`SHA-256("")`, a tree splits at the largest power of two below its size. Verification is strict
where the RFCs are silent (docs/formats/checkpoint.md): every hash is 32 bytes, a proof holds at
most 63 of them and never one too many, and nothing is ever consistent with the empty tree.
"""

import hashlib
from collections.abc import Iterable, Iterator, Sequence

from syn.errors import CannotError, RefusedError

HASH_SIZE = 32
MAX_PROOF = 63
"""Hashes in a proof: a tree has at most 2^63 - 1 leaves."""
EMPTY_ROOT = hashlib.sha256(b"").digest()


class ProofError(RefusedError):
    """A Merkle proof that does not prove what it claims.

    Codes: `proof-limit`, `proof-hash-size`, `proof-index`, `proof-sizes`, `proof-length`,
    `proof-root`.
    """


class EmptyProofError(CannotError):
    """A consistency proof from the empty tree: everything is consistent with it (`proof-empty`)."""


def leaf_hash(data: bytes) -> bytes:
    """The 32-byte hash of one leaf's data."""
    return hashlib.sha256(b"\x00" + data).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """The 32-byte hash of an inner node."""
    return hashlib.sha256(b"\x01" + left + right).digest()


class Frontier:
    """A growing tree in O(log n) memory: the roots of its complete subtrees, largest first."""

    __slots__ = ("_peaks", "size")

    def __init__(self) -> None:
        self.size = 0
        self._peaks: list[bytes] = []

    def append(self, leaf: bytes) -> None:
        """Add one leaf by its leaf hash."""
        peaks, bits = self._peaks, self.size
        while bits & 1:
            leaf = node_hash(peaks.pop(), leaf)
            bits >>= 1
        peaks.append(leaf)
        self.size += 1

    def root(self) -> bytes:
        """The root at the current size."""
        if not self._peaks:
            return EMPTY_ROOT
        result = self._peaks[-1]
        for peak in reversed(self._peaks[:-1]):
            result = node_hash(peak, result)
        return result


def root_of(hashes: Iterable[bytes]) -> bytes:
    """The root over leaf hashes, in one pass and O(log n) memory."""
    frontier = Frontier()
    for item in hashes:
        frontier.append(item)
    return frontier.root()


def root(leaves: Iterable[bytes]) -> bytes:
    """The root over leaf data, in one pass and O(log n) memory."""
    return root_of(map(leaf_hash, leaves))


def inclusion_proof(hashes: Sequence[bytes], index: int) -> tuple[bytes, ...]:
    """The audit path of leaf `index` (from 0) in the tree over these leaf hashes, leaf side first.

    Raises:
        IndexError: the tree has no such leaf.
    """
    if not 0 <= index < len(hashes):
        raise IndexError(index)
    return tuple(_path(hashes, 0, len(hashes), index))[::-1]


def consistency_proof(hashes: Sequence[bytes], size: int) -> tuple[bytes, ...]:
    """The proof that the tree over the first `size` leaf hashes is a prefix of the whole tree.

    Raises:
        IndexError: `size` is 0 or more than the tree has.
    """
    if not 0 < size <= len(hashes):
        raise IndexError(size)
    return tuple(_subproof(hashes, size))[::-1]


def verify_inclusion(
    leaf: bytes, index: int, size: int, proof: Sequence[bytes], root_hash: bytes
) -> None:
    """Check that the leaf with this leaf hash is number `index` of the tree (RFC 9162 2.1.3.2).

    Raises:
        ProofError: it is not shown to be.
    """
    _check_hashes((leaf, root_hash, *_bounded(proof)))
    if not 0 <= index < size:
        raise ProofError("proof-index", f"expected an index below the size {size}, got {index}")
    node, last, result = index, size - 1, leaf
    for sibling in proof:
        if last == 0:
            raise ProofError("proof-length", "the inclusion proof has hashes left over")
        if node & 1 or node == last:
            result = node_hash(sibling, result)
            node, last = _skip_right_edge(node, last)
        else:
            result = node_hash(result, sibling)
        node, last = node >> 1, last >> 1
    if last != 0:
        raise ProofError("proof-length", "the inclusion proof is too short")
    _check_root(result, root_hash)


def verify_consistency(
    old_size: int, new_size: int, proof: Sequence[bytes], old_root: bytes, new_root: bytes
) -> None:
    """Check that the tree `new` is an append-only extension of `old` (RFC 9162 2.1.4.2).

    Raises:
        ProofError: it is not shown to be.
        EmptyProofError: `old_size` is 0, which proves nothing.
    """
    _bounded(proof)
    if not 0 <= old_size <= new_size:
        raise ProofError("proof-sizes", f"expected sizes that grow, got {old_size} to {new_size}")
    if old_size == 0:
        raise EmptyProofError("proof-empty", "a proof from the empty tree proves nothing")
    if old_size == new_size:
        # Equal sizes compare and hash nothing; that roots are 32 bytes is the parser's rule.
        if proof:
            raise ProofError("proof-length", "expected an empty proof between equal sizes")
        _check_root(new_root, old_root)
        return
    _check_hashes((old_root, new_root, *proof))
    path = list(proof)
    if old_size & (old_size - 1) == 0:
        path.insert(0, old_root)
    if not path:
        raise ProofError("proof-length", "the consistency proof is too short")
    old, new = _climb(old_size - 1, new_size - 1, path)
    _check_root(old, old_root)
    _check_root(new, new_root)


def _climb(node: int, last: int, path: Sequence[bytes]) -> tuple[bytes, bytes]:
    """Both roots that a consistency path computes, from the last leaf of the old tree upwards."""
    while node & 1:
        node, last = node >> 1, last >> 1
    old = new = path[0]
    for sibling in path[1:]:
        if last == 0:
            raise ProofError("proof-length", "the consistency proof has hashes left over")
        if node & 1 or node == last:
            old, new = node_hash(sibling, old), node_hash(sibling, new)
            node, last = _skip_right_edge(node, last)
        else:
            new = node_hash(new, sibling)
        node, last = node >> 1, last >> 1
    if last != 0:
        raise ProofError("proof-length", "the consistency proof is too short")
    return old, new


def _skip_right_edge(node: int, last: int) -> tuple[int, int]:
    """Climb past the levels on which a node at the right edge has no sibling."""
    while not node & 1 and node:
        node, last = node >> 1, last >> 1
    return node, last


def _bounded(proof: Sequence[bytes]) -> Sequence[bytes]:
    if len(proof) > MAX_PROOF:
        raise ProofError("proof-limit", f"expected at most {MAX_PROOF} hashes, got {len(proof)}")
    return proof


def _check_hashes(hashes: Iterable[bytes]) -> None:
    for item in hashes:
        if len(item) != HASH_SIZE:
            raise ProofError("proof-hash-size", f"expected hashes of 32 bytes, got {len(item)}")


def _check_root(computed: bytes, expected: bytes) -> None:
    if computed != expected:
        raise ProofError("proof-root", f"expected the root {expected.hex()}, got {computed.hex()}")


def _split(size: int) -> int:
    """The largest power of two below `size`, for a size of at least 2."""
    return 1 << ((size - 1).bit_length() - 1)


def _range_root(hashes: Sequence[bytes], start: int, end: int) -> bytes:
    return root_of(hashes[position] for position in range(start, end))


def _path(hashes: Sequence[bytes], start: int, end: int, index: int) -> Iterator[bytes]:
    """The siblings of leaf `index` from the root's child down to the leaf's."""
    while end - start > 1:
        middle = start + _split(end - start)
        if index < middle:
            yield _range_root(hashes, middle, end)
            end = middle
        else:
            yield _range_root(hashes, start, middle)
            start = middle


def _subproof(hashes: Sequence[bytes], size: int) -> Iterator[bytes]:
    """SUBPROOF of RFC 6962 2.1.2, from the root's side down."""
    start, end, whole = 0, len(hashes), True
    while size != end:
        middle = start + _split(end - start)
        if size <= middle:
            yield _range_root(hashes, middle, end)
            end = middle
        else:
            yield _range_root(hashes, start, middle)
            start, whole = middle, False
    if not whole:
        yield _range_root(hashes, start, end)
