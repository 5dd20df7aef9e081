"""The story of issue 6: an agent proposes, is held, a person decides, the agent sees what holds."""

from pathlib import Path

import pytest

from tests.support.agent import agent
from tests.support.cli import syn
from tests.support.workspaces import Place, make_workspace

OWNER = {"subject": "payments", "field": "owner", "value": "ledger"}


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return make_workspace(tmp_path)


def test_from_a_contradiction_to_a_verified_session(place: Place) -> None:
    with agent(place, "--record", "story") as asked:
        # 1. The agent searches, and finds who owns payments.
        found = asked.read("search", words="payments checkout")["items"]
        assert [item["id"] for item in found] == ["owner-2"]
        # 2. It proposes a value that contradicts the one that holds; the gate holds it.
        proposed = asked.read(
            "propose", title="Ledger owns payments again", valid_from="2026-11-01", **OWNER
        )
        assert proposed["class"] == "conflict"
        assert any("owner-2" in reason["message"] for reason in proposed["reasons"])
        assert asked.read("show", id="owner-2").get("valid_to") is None
        # 3. A person looks, and accepts it in the place of the other.
        plain = syn(place, "pending", "accept", proposed["id"], "--yes")
        assert plain.status == 1
        person = syn(place, "pending", "accept", proposed["id"], "--supersede", "--yes", "--json")
        assert person.status == 0, person.err
        new = proposed["facts"][0]
        # 4. The same session sees the new value as of today, the old one as of then.
        for day, identity, value in (
            ("2026-11-30", new, "ledger"),
            ("2026-10-31", "owner-2", "checkout"),
            ("2026-04-14", "owner-1", "ledger"),
        ):
            items = asked.read("list", subject="payments", field="owner", as_of=day)["items"]
            assert [(item["id"], item["value"]) for item in items] == [(identity, value)], day
        assert asked.read("pending_list")["total"] == 0
        assert asked.leave() == 0
    # 5. The memory verifies, and so does what the agent was handed.
    done = syn(place, "verify", "--deep", "--json")
    assert done.status == 0, done.out
    image = syn(place, "image", "verify", "images/story", "--json")
    assert image.status == 0, image.out
    stale = syn(place, "image", "verify", "images/story", "--facts")
    assert "stale" in stale.out + stale.err
