"""PyYAML's own scanner with libyaml's rules for tabs, for machines without libyaml (ADR 0003).

PyYAML's scanner refuses every tab outside quotes; libyaml takes a tab as white space where no
indentation is read, as YAML 1.2 does. Everything else is PyYAML's.
"""

# PyYAML's stubs leave the scanner untyped, and typing.override is not in Python 3.11.
# mypy: disable-error-code="explicit-override, no-untyped-call"

from yaml.error import Mark
from yaml.parser import Parser
from yaml.reader import Reader
from yaml.scanner import Scanner, ScannerError

_BREAKS = "\r\n\x85\u2028\u2029"
_END = "\0" + _BREAKS


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

    def _take_blanks(self) -> str:
        length = 0
        while self.peek(length) in " \t":
            length += 1
        blanks = self.prefix(length)
        self.forward(length)
        return str(blanks)

    def _at_document_marker(self) -> bool:
        return self.prefix(3) in ("---", "...") and self.peek(3) in _END + " \t"
