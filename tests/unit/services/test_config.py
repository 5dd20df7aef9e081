"""`synapse.toml`: every key, and an error that names whatever is wrong."""

import re
from pathlib import Path

import pytest

from syn.model.config import Config
from syn.services.config import ConfigError, add_excludes, parse_config, render_config

ROOT = Path(__file__).resolve().parents[3]
ID = "8a3c1f2e-5b6d-4c7e-8f90-a1b2c3d4e5f6"
HEAD = f'format = 1\nid = "{ID}"\nname = "n"\n'


def test_what_is_written_is_read_back() -> None:
    config = Config(id=ID, name="n", include=("a/**/*.md",), commit=False, multi=("tag",))
    assert parse_config(render_config(config)) == config


def test_the_documented_example_is_what_init_writes() -> None:
    text = (ROOT / "docs/formats/config.md").read_text()
    found = re.search(r"```toml\n(.*?)```", text, re.DOTALL)
    assert found is not None
    assert found[1].encode() == render_config(Config(id=ID, name="acme"))


@pytest.mark.parametrize(
    ("text", "named"),
    [
        (HEAD + "surprise = 1\n", "unknown key surprise"),
        (HEAD + "[facts]\nincluding = []\n", "unknown key facts.including"),
        (HEAD + "[facts.keys]\nowner = 'x'\n", "facts.keys.owner"),
        (HEAD + "[git]\ncommit = 'yes'\n", "git.commit: expected true or false"),
        (HEAD + "[verify]\nprofile = 'lax'\n", "verify.profile"),
        (HEAD + "[facts]\ninclude = []\n", "facts.include is empty"),
        (HEAD + "[facts]\ninclude = [1]\n", "facts.include: expected a list of texts"),
        ("format = 2\n" + HEAD[11:], "format 2"),
        ('format = 1\nid = "x"\n', "id: expected a UUID"),
        ("format = true\n", "format: expected a whole number"),
        ("format = \n", "not TOML"),
    ],
)
def test_an_error_names_the_key(text: str, named: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_config(text.encode())
    assert named in caught.value.message
    assert caught.value.code == "config"


def test_bytes_that_are_not_utf8_are_named_by_offset() -> None:
    with pytest.raises(ConfigError, match="byte 3"):
        parse_config(b"abc\xff")


def test_excludes_are_added_and_everything_else_stays() -> None:
    before = HEAD.encode() + b"# mine\n[facts]\nexclude = ['x.md'] # kept\n"
    after = add_excludes(before, ["y.md", "x.md"])
    assert b"# mine" in after
    assert b"# kept" in after
    assert parse_config(after).exclude == ("x.md", "y.md")
