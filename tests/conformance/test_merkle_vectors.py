"""The public proof vectors of transparency-dev/merkle, where they are at hand."""

import base64
import json

from syn.canon import merkle
from syn.canon.merkle import EmptyProofError, ProofError
from tests.support.shared import shared_path


def vectors() -> list[dict[str, object]]:
    text = (shared_path("vectors") / "merkle-proofs.jsonl").read_text()
    return [json.loads(line) for line in text.splitlines()]


def accepted(vector: dict[str, object]) -> bool:
    def data(key: str) -> bytes:
        return base64.b64decode(str(vector[key]))

    proof = [base64.b64decode(item) for item in vector["proof"] or []]  # type: ignore[attr-defined]
    try:
        if vector["kind"] == "inclusion":
            index, size = int(str(vector["leafIdx"])), int(str(vector["treeSize"]))
            merkle.verify_inclusion(data("leafHash"), index, size, proof, data("root"))
        else:
            old, new = int(str(vector["size1"])), int(str(vector["size2"]))
            merkle.verify_consistency(old, new, proof, data("root1"), data("root2"))
    except (ProofError, EmptyProofError):
        return False
    return True


def test_all_vectors_have_their_verdict() -> None:
    found = vectors()
    wrong = [vector["name"] for vector in found if accepted(vector) == vector["wantErr"]]
    assert len(found) == 196
    assert sum(bool(vector["wantErr"]) for vector in found) == 184
    assert not wrong
