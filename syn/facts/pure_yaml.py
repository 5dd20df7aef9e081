"""PyYAML's own scanner with libyaml's rules, for machines without libyaml (ADR 0003).

The two differ in four places: where a tab is white space (libyaml takes it wherever no
indentation is read, as YAML 1.2 does), a question mark inside brackets, what may follow the header
of a block scalar, and escapes that name no character. Everything else is PyYAML's.
"""

# PyYAML's stubs leave the scanner untyped, and typing.override is not in Python 3.11.
# mypy: disable-error-code="explicit-override, no-untyped-call"

from yaml.error import Mark
from yaml.parser import Parser
from yaml.reader import Reader
from yaml.scanner import Scanner, ScannerError
from yaml.tokens import ScalarToken

_BREAKS = "\r\n\x85\u2028\u2029"
_END = "\0" + _BREAKS
_IN_BLOCK = "while scanning a block scalar"


class PureParser(Reader, Scanner, Parser):
    """Events from a text, as libyaml's parser gives them."""

    def __init__(self, text: str) -> None:
        Reader.__init__(self, text)
        Scanner.__init__(self)
        Parser.__init__(self)

    def scan_to_next_token(self) -> None:
        """Skip blanks, comments and line breaks; a tab only where it indents nothing."""
        while True:
            tabs = " \t" if self.flow_level or not self.allow_simple_key else " "
            while self.peek() in tabs:
                self.forward()
            if self.peek() == "#":
                while self.peek() not in _END:
                    self.forward()
            if not self.scan_line_break():
                return
            if not self.flow_level:
                self.allow_simple_key = True

    def scan_plain(self) -> ScalarToken:
        """A plain scalar, over as many lines as are indented enough."""
        chunks: list[str] = []
        spaces: list[str] = []
        start = end = self.get_mark()
        indent = self.indent + 1
        while self.peek() != "#":
            length = 0
            while not self._ends_plain(length):
                length += 1
            if length == 0:
                break
            self.allow_simple_key = False
            chunks += [*spaces, self.prefix(length)]
            self.forward(length)
            end = self.get_mark()
            spaces = self.scan_plain_spaces(indent, start)
            if not spaces or (not self.flow_level and self.column < indent):
                break
        return ScalarToken("".join(chunks), True, start, end)

    def _ends_plain(self, ahead: int) -> bool:
        char = self.peek(ahead)
        if char == ":":
            following = self.peek(ahead + 1)
            if self.flow_level and following in ",?[]{}":
                problem = "found unexpected ':'"
                raise ScannerError("while scanning a plain scalar", None, problem, self.get_mark())
            return following in _END + " \t"
        return char in _END + " \t" or (self.flow_level > 0 and char in ",[]{}")

    def scan_plain_spaces(self, indent: int, start_mark: Mark) -> list[str]:
        """The white space inside a plain scalar: kept within a line, folded across lines."""
        blanks = self._take_blanks()
        if self.peek() not in _BREAKS:
            return [blanks] if blanks else []
        self.scan_line_break()
        self.allow_simple_key = True
        empty = 0
        while not self._at_document_marker():
            while self.peek() == " " or (self.peek() == "\t" and self.column >= indent):
                self.forward()
            if self.peek() == "\t":
                problem = "found a tab character that violates indentation"
                where = "while scanning a plain scalar"
                raise ScannerError(where, start_mark, problem, self.get_mark())
            if self.peek() not in _BREAKS:
                return ["\n" * empty if empty else " "]
            self.scan_line_break()
            empty += 1
        return []

    def scan_block_scalar_indicators(self, start_mark: Mark) -> tuple[bool | None, int | None]:
        """Chomping and indentation after `|` or `>`, in either order."""
        chomping, increment = None, None
        while True:
            if chomping is None and self.peek() in "+-":
                chomping = self.peek() == "+"
            elif increment is None and self.peek() in "123456789":
                increment = int(self.peek())
            else:
                return chomping, increment
            self.forward()

    def scan_block_scalar_ignored_line(self, start_mark: Mark) -> None:
        """What may follow the header of a block scalar: blanks and a comment."""
        self._take_blanks()
        if self.peek() == "#":
            while self.peek() not in _END:
                self.forward()
        if self.peek() not in _END:
            problem = "expected a comment or a line break"
            raise ScannerError(_IN_BLOCK, start_mark, problem, self.get_mark())
        self.scan_line_break()

    def scan_block_scalar_indentation(self) -> tuple[list[str], int, Mark]:
        """The indentation of a block scalar's first line, which no tab can give."""
        result: tuple[list[str], int, Mark] = super().scan_block_scalar_indentation()
        self._refuse_tab()
        return result

    def scan_block_scalar_breaks(self, indent: int) -> tuple[list[str], Mark]:
        """The blank lines inside a block scalar and the indentation after them."""
        result: tuple[list[str], Mark] = super().scan_block_scalar_breaks(indent)
        if self.column < indent:
            self._refuse_tab()
        return result

    def scan_flow_scalar_non_spaces(self, double: bool, start_mark: Mark) -> list[str]:
        """A run of characters in quotes; its escapes name characters."""
        where = "while scanning a quoted scalar"
        try:
            chunks: list[str] = super().scan_flow_scalar_non_spaces(double, start_mark)
        except (ValueError, OverflowError) as error:
            raise ScannerError(
                where, start_mark, "an escape beyond Unicode", self.get_mark()
            ) from error
        if any("\ud800" <= char <= "\udfff" for chunk in chunks for char in chunk):
            raise ScannerError(where, start_mark, "an escaped surrogate", self.get_mark())
        return chunks

    def _refuse_tab(self) -> None:
        if self.peek() == "\t":
            problem = "found a tab character where an indentation space is expected"
            raise ScannerError(_IN_BLOCK, None, problem, self.get_mark())

    def _take_blanks(self) -> str:
        length = 0
        while self.peek(length) in " \t":
            length += 1
        blanks = self.prefix(length)
        self.forward(length)
        return str(blanks)

    def _at_document_marker(self) -> bool:
        return self.prefix(3) in ("---", "...") and self.peek(3) in _END + " \t"
