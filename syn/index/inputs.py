"""`inputs_hash` and `evidence_hash`: what `sha256sum -z` prints, hashed (design 4).

Anyone can recompute them with coreutils; docs/formats/manifest.md shows the line.
"""

import hashlib
from collections.abc import Iterable


def inputs_hash(records: Iterable[tuple[bytes, str]]) -> str:
    """`sha256:<hex>` over the records `<sha256 hex>  <path>` + NUL, sorted by path bytes.

    Takes (path, `sha256:<hex>` of the exact bytes) in any order. `evidence_hash` is the same
    function over heads, receipts and images.
    """
    state = hashlib.sha256()
    for path, digest in sorted(records):
        state.update(b"%s  %s\0" % (digest.removeprefix("sha256:").encode(), path))
    return f"sha256:{state.hexdigest()}"
