"""Worked examples inside the normative documents: fenced blocks with a name above them.

<!-- example: note -->
```
the exact lines
```
"""

import re

from tests.support.shared import ROOT

_BLOCK = re.compile(r"<!-- example: (\S+) -->\n```[a-z]*\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def examples(name: str) -> dict[str, str]:
    """The named blocks of `docs/formats/<name>`, each with its final newline."""
    text = (ROOT / "docs" / "formats" / name).read_text(encoding="utf-8")
    return dict(_BLOCK.findall(text))
