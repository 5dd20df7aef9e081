"""Facts whose bytes on disk are not theirs, names that are refused, bytes that are not here."""

from pathlib import Path

from tests.support.inside import done, inside
from tests.support.workspaces import Place, git, make_place, make_workspace

NOTE = "---\nid: {0}\ntitle: {0}\n---\nBody\n"


def vault(folder: Path, files: dict[str, str]) -> Place:
    place = make_place(folder)
    git(place, "init", "-q", "-b", "main", ".")
    for name, text in files.items():
        path = place.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    git(place, "add", "-A")
    git(place, "commit", "-q", "-m", "notes")
    return place


def test_a_fact_outside_the_sparse_checkout_is_recorded(tmp_path: Path) -> None:
    files = {"facts/in/a.md": NOTE.format("a"), "facts/out/b.md": NOTE.format("b")}
    place = vault(tmp_path, files)
    git(place, "sparse-checkout", "set", "facts/in")
    done(place, "init", "--commit")
    done(place, "adopt", "--yes")
    assert inside(place, "verify").status == 0
    assert not (place.root / "facts/out").exists()
    assert git(place, "show", "HEAD:facts/out/b.md") == files["facts/out/b.md"].rstrip("\n")
    assert [item["id"] for item in done(place, "list", "--json").json["items"]] == ["a", "b"]


def test_a_name_with_a_tab_is_recorded(tmp_path: Path) -> None:
    place = make_workspace(tmp_path, {"facts/a\tb\x01.md": NOTE.format("a")})
    assert inside(place, "verify", "--deep").status == 0
    done(place, "edit", "a", "--title", "New")
    done(place, "move", "a", "facts/c.md")
    assert inside(place, "verify", "--deep").status == 0


def test_a_refused_name_that_goes_leaves_the_index(tmp_path: Path) -> None:
    place = make_workspace(tmp_path, {"facts/a.md": NOTE.format("a")})
    odd = place.root / "facts/x\\y.md"
    odd.write_text("odd\n")
    git(place, "add", "-A")
    assert [p["code"] for p in done(place, "status", "--json").json["problems"]] == [
        "name-backslash"
    ]
    odd.unlink()
    git(place, "rm", "-q", "--cached", "facts/x\\y.md")
    # The inputs are the same; the index is only out of date, not wrong.
    assert inside(place, "verify").status == 0
    assert done(place, "status", "--json").json["problems"] == []
    assert done(place, "doctor", "--json").json["items"] == []


def test_no_manifest_of_facts_that_are_not_here(tmp_path: Path) -> None:
    place = vault(tmp_path, {"facts/a.md": NOTE.format("a")})
    git(place, "config", "uploadpack.allowFilter", "true")
    source = place.root.absolute().as_uri()
    git(place, "clone", "-q", "--no-checkout", "--filter=blob:none", source, "../partial")
    partial = Place(tmp_path / "partial", place.env)
    done(partial, "init")
    ran = inside(partial, "manifest", "--ref", "HEAD", "--digest")
    assert (ran.status, ran.out) == (3, "")
    assert "partial clone" in ran.err
