"""Tree differences by bytes equal those by entries, whatever the bytes are."""

from hypothesis import given, settings
from hypothesis import strategies as st

from syn.git.parse import split_tree
from syn.git.treediff import TreeText, compare, mark

# Names that look like the start of an entry, and ids that hold NUL, spaces and digits.
_names = st.one_of(
    st.binary(min_size=1, max_size=12).map(lambda b: b.replace(b"\0", b"1")),
    st.sampled_from([b"100644 a", b"40000 ", b"note.md", b"0" * 40]),
)
_ids = st.one_of(
    st.binary(min_size=20, max_size=20),
    st.sampled_from([b"\0" * 20, b"100644 x\x00100644 y\x00zz", b"40000 z\x00" + b"\0" * 12]),
)
_entries = st.builds(
    lambda mode, name, oid: mode + b" " + name + b"\0" + oid,
    st.sampled_from([b"100644", b"40000", b"120000"]),
    _names,
    _ids,
)


def difference(old: bytes, new: bytes) -> tuple[set[bytes], set[bytes]]:
    """By dividing both wholly."""
    one, other = set(split_tree("", old)), set(split_tree("", new))
    return one - other, other - one


def sound(text: TreeText) -> bool:
    """Whether every mark is a boundary."""
    ends = {0}
    for entry in split_tree("", text.data):
        ends.add(max(ends) + len(entry))
    return set(text.marks) <= ends and text.marks[0] == 0 and text.marks[-1] == len(text.data)


@settings(deadline=None, max_examples=60)
@given(st.data())
def test_a_chain_of_edits(data: st.DataObject) -> None:
    numbers = data.draw(st.integers(0, 400))
    entries = [b"100644 note-%04d.md\0" % n + n.to_bytes(20, "big") for n in range(numbers)]
    text = mark("", b"".join(entries))
    for _ in range(3):
        for _ in range(data.draw(st.integers(0, 4))):
            at = data.draw(st.integers(0, len(entries)))
            cut = data.draw(st.integers(0, 3))
            # A set of entries has no doubles, as a sound tree has none.
            fresh = [
                e
                for e in data.draw(st.lists(_entries, max_size=3, unique=True))
                if e not in entries
            ]
            entries[at : at + cut] = fresh
        after = b"".join(entries)
        found, only_old, only_new = compare(text, "", after)
        assert (only_old, only_new) == difference(text.data, after)
        assert sound(found)
        text = found


def test_an_insertion_over_the_window() -> None:
    before = [b"100644 b%05d\0" % n + b"\1" * 20 for n in range(3000)]
    more = [b"100644 a%05d\0" % n + b"\2" * 20 for n in range(3000)]
    text = mark("", b"".join(before))
    found, only_old, only_new = compare(text, "", b"".join(more + before))
    assert (only_old, only_new) == (set(), set(more))
    again, only_old, only_new = compare(found, "", text.data)
    assert (only_old, only_new) == (set(more), set())
    assert sound(found)
    assert sound(again)
