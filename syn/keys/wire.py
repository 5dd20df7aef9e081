"""The SSH wire encoding (RFC 4251 section 5): length-prefixed strings, read strictly."""

import struct

_LENGTH = struct.Struct(">I")


class WireError(ValueError):
    """Bytes that end early or hold more than they should; callers give it a code of their own."""


def string(data: bytes) -> bytes:
    """A `string`: 32-bit big-endian length, then the bytes."""
    return _LENGTH.pack(len(data)) + data


def uint32(value: int) -> bytes:
    """A `uint32`."""
    return _LENGTH.pack(value)


class Reader:
    """Reads fields off the front of some bytes."""

    __slots__ = ("_data", "_position")

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._position = 0

    def take(self, count: int) -> bytes:
        """The next `count` bytes.

        Raises:
            WireError: there are fewer.
        """
        end = self._position + count
        if end > len(self._data):
            raise WireError(f"expected {count} more bytes, got {len(self._data) - self._position}")
        result = self._data[self._position : end]
        self._position = end
        return result

    def uint32(self) -> int:
        """The next `uint32`.

        Raises:
            WireError: there are fewer than four bytes.
        """
        number: int = _LENGTH.unpack(self.take(_LENGTH.size))[0]
        return number

    def string(self) -> bytes:
        """The next `string`.

        Raises:
            WireError: it is cut short.
        """
        return self.take(self.uint32())

    def end(self) -> None:
        """Nothing may be left.

        Raises:
            WireError: something is.
        """
        left = len(self._data) - self._position
        if left:
            raise WireError(f"{left} bytes after the end")
