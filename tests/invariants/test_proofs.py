"""Mutations of what is signed: each fails INV-3, INV-8, INV-9 or INV-12, and only that one."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.e2e.attacks.scene import ACTIONS, Base, Scene
from tests.support.inside import done, inside

Mutation = Callable[[Scene], None]


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Base:
    return Base(tmp_path_factory.mktemp("published"))


def _strange_receipt(scene: Scene) -> None:
    """A receipt that no decision recorded, under a name that is not its own."""
    done(scene.owner, "receipt", "issue", "owner-2")
    (path,) = (scene.root / ".synapse/receipts").glob("*.json")
    (path.parent / "copy.json").write_bytes(path.read_bytes())


def _flip_note(scene: Scene) -> None:
    path = scene.root / ".synapse/heads/owner.checkpoint"
    text = path.read_text("utf-8")
    at = len(text) - 12
    path.write_text(text[:at] + ("A" if text[at] != "A" else "B") + text[at + 1 :], "utf-8")


MUTATIONS: dict[str, tuple[Mutation, dict[str, str]]] = {
    "a flipped checkpoint signature": (_flip_note, {"INV-3": "checkpoint-signature"}),
    "a receipt that nobody recorded": (_strange_receipt, {"INV-8": "receipt-name"}),
    "a commit by an unknown key": (
        ACTIONS["commit-by-stranger"],
        {"INV-9": "commit-key-unknown"},
    ),
    "a policy change that admits its own signer": (
        ACTIONS["self-admit"],
        # What no admin decided on is told without any trust root as well.
        {
            "INV-2": "policy-changed",
            "INV-3": "policy-signer",
            "INV-9": "commit-key-unknown",
        },
    ),
    "a witness that the log does not continue": (
        ACTIONS["fork-witness"],
        {"INV-12": "witness-forked"},
    ),
    "a witness that was changed": (ACTIONS["other-extra"], {"INV-12": "proof-root"}),
}


@pytest.mark.parametrize("name", MUTATIONS)
def test_a_mutation_fails_only_its_own_invariant(name: str, base: Base, tmp_path: Path) -> None:
    mutate, expected = MUTATIONS[name]
    scene = Scene(base, tmp_path)
    mutate(scene)
    asked = scene.asked(["--since", "{witness}", "--trust", "{key}", "--root", "{root}"])
    ran = inside(scene.owner, "verify", "--json", "--deep", *asked)
    assert ran.status == 1, ran.out
    failing = {
        item["id"]: [f["code"] for f in item["findings"] if f["severity"] == "failure"]
        for item in ran.json["predicate"]["invariants"]
        if item["status"] == "fail"
    }
    assert failing.keys() == expected.keys(), failing
    for number, code in expected.items():
        assert code in failing[number]


def test_a_healthy_workspace_passes_them_all(base: Base, tmp_path: Path) -> None:
    scene = Scene(base, tmp_path)
    asked = scene.asked(["--since", "{witness}", "--trust", "{key}", "--root", "{root}"])
    done(scene.owner, "receipt", "issue", "owner-2")
    ran = inside(scene.owner, "verify", "--json", "--deep", *asked)
    statuses = {i["id"]: i["status"] for i in ran.json["predicate"]["invariants"]}
    assert {statuses[f"INV-{n}"] for n in (1, 2, 3, 5, 8, 9, 12, 13)} == {"pass"}, ran.out
    assert ran.json["predicate"]["level"] == "L4"
