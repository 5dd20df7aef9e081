"""What a strict reader refuses: the bytes are there, and they are not an image."""

from syn.errors import RefusedError


class MalformedError(RefusedError):
    """An image that a strict reader refuses as a whole.

    The message names the file, and line or row where there is one; it never quotes a value, which
    could be a piece of a body.
    """

    def __init__(self, code: str, message: str, path: str = "", line: int = 0) -> None:
        super().__init__(code, message, REMEDY)
        self.path = path
        self.line = line


REMEDY = "take the image from a copy; nothing in this one is served"
