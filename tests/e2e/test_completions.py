"""Completions in real shells; a shell that is not here is skipped, saying so."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.cli import syn
from tests.support.workspaces import Place, make_place

BIN = Path(sys.executable).parent
BASH = """
source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
_syn_completion syn
printf '%s\\n' "${COMPREPLY[@]}"
"""


@pytest.fixture
def place(tmp_path: Path) -> Place:
    made = make_place(tmp_path)
    return Place(made.root, {**made.env, "PATH": f"{BIN}:{made.env['PATH']}"})


def _bash(place: Place, tmp_path: Path, *words: str) -> list[str]:
    script = tmp_path / "syn.bash"
    script.write_text(syn(place, "completions", "bash").out)
    done = subprocess.run(
        ["bash", "--norc", "-euc", BASH, "bash", str(script), *words],
        cwd=place.root,
        env=place.env,
        capture_output=True,
        check=True,
    )
    assert done.stderr == b""
    return done.stdout.decode().split()


@pytest.mark.skipif(not (BIN / "syn").exists(), reason="needs syn installed beside the interpreter")
@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["syn", "veri"], ["verify"]),
        (["syn", "witness", "pu"], ["publish"]),
        (["syn", "verify", "--req"], ["--require"]),
        (["syn", "nothing-has-this-name"], []),
    ],
)
def test_bash_completes(
    place: Place, tmp_path: Path, words: list[str], expected: list[str]
) -> None:
    assert _bash(place, tmp_path, *words) == expected


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_the_script_is_one_that_the_shell_reads(place: Place, tmp_path: Path, shell: str) -> None:
    ran = syn(place, "completions", shell)
    assert ran.status == 0
    assert f"_SYN_COMPLETE=complete_{shell}" in ran.out
    if shutil.which(shell) is None:
        pytest.skip(f"needs {shell} to read its script")
    (tmp_path / "script").write_text(ran.out)
    subprocess.run([shell, "-n", str(tmp_path / "script")], check=True)


def test_zsh_and_fish_are_answered_in_their_form(place: Place) -> None:
    env = {"_SYN_COMPLETE": "complete_zsh", "_TYPER_COMPLETE_ARGS": "syn witn"}
    assert '"witness"' in syn(place, env=env).out
    env = {**env, "_SYN_COMPLETE": "complete_fish", "_TYPER_COMPLETE_FISH_ACTION": "get-args"}
    assert syn(place, env=env).out.startswith("witness\t")
    env["_TYPER_COMPLETE_FISH_ACTION"] = "is-args"
    assert syn(place, env=env).status == 0
    assert syn(place, env={**env, "_TYPER_COMPLETE_ARGS": "syn xyz"}).status == 1


def test_another_shell_is_refused_and_the_known_are_named(place: Place) -> None:
    ran = syn(place, "completions", "install", "tcsh")
    assert ran.status == 2
    assert "bash, zsh, fish" in ran.err
    assert syn(place, "completions", "install", env={"SHELL": "/bin/tcsh"}).status == 2
    assert "which shell?" in syn(place, "completions", "install", env={"SHELL": ""}).err
    assert syn(place, "completions", "tcsh").status == 2


WHERE = {
    "bash": ".local/share/bash-completion/completions/syn",
    "fish": ".config/fish/completions/syn.fish",
    "zsh": ".zfunc/_syn",
}


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    names = ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "ZDOTDIR", "BASH_COMPLETION_USER_DIR")
    return {"HOME": str(tmp_path / "home"), **dict.fromkeys(names, "")}


@pytest.mark.parametrize("shell", WHERE)
def test_installed_where_the_shell_looks(
    place: Place, tmp_path: Path, home: dict[str, str], shell: str
) -> None:
    path = tmp_path / "home" / WHERE[shell]
    words = ("completions", "install", shell)
    ran = syn(place, *words, "--dry-run", env=home)
    assert (ran.status, ran.out) == (0, f"{path}: would be written\n")
    assert not path.exists()
    ran = syn(place, *words, env=home)
    assert (ran.status, ran.out) == (0, f"{path}: written\n")
    assert "has them" in ran.err
    assert f"_SYN_COMPLETE=complete_{shell}" in path.read_text()
    assert path.read_text().startswith("#compdef syn\n") == (shell == "zsh")
    assert syn(place, *words, env={**home, "SHELL": f"/bin/{shell}"}).out.endswith("unchanged\n")
    items = syn(place, "completions", "status", "--json", env=home).json["items"]
    assert [item["id"] for item in items if item["state"] == "installed"] == [shell]
    ran = syn(place, "completions", "uninstall", shell, "--dry-run", env=home)
    assert ran.out == f"{path}: would be removed\n"
    assert path.exists()
    assert syn(place, "completions", "uninstall", shell, env=home).out == f"{path}: removed\n"
    assert not path.exists()
    assert syn(place, "completions", "uninstall", shell, env=home).out == f"{path}: absent\n"


@pytest.mark.parametrize("shell", WHERE)
def test_a_file_of_somebody_else_is_kept(
    place: Place, tmp_path: Path, home: dict[str, str], shell: str
) -> None:
    path = tmp_path / "home" / WHERE[shell]
    path.parent.mkdir(parents=True)
    path.write_text("complete -W mine syn\n")
    for word in ("install", "uninstall"):
        ran = syn(place, "completions", word, shell, env=home)
        assert (ran.status, ran.out) == (1, "")
        assert f"{path} is not ours and stays as it is" in ran.err
        assert f"syn completions {shell}" in ran.err
    assert path.read_text() == "complete -W mine syn\n"


def test_variables_of_the_shells_are_followed(
    place: Place, tmp_path: Path, home: dict[str, str]
) -> None:
    named = str(tmp_path / "named")
    ran = syn(place, "completions", "install", "zsh", env={**home, "ZDOTDIR": named})
    assert ran.out.startswith(f"{named}/.zfunc/_syn: written")
    env = {**home, "BASH_COMPLETION_USER_DIR": named, "XDG_DATA_HOME": "/elsewhere"}
    ran = syn(place, "completions", "install", "bash", env=env)
    assert ran.out.startswith(f"{named}/completions/syn: written")


@pytest.mark.skipif(not (BIN / "syn").exists(), reason="needs syn installed beside the interpreter")
def test_what_was_installed_completes_in_bash(
    place: Place, tmp_path: Path, home: dict[str, str]
) -> None:
    syn(place, "completions", "install", "bash", env=home)
    done = subprocess.run(
        ["bash", "--norc", "-euc", BASH, "bash", tmp_path / "home" / WHERE["bash"], "syn", "veri"],
        cwd=place.root,
        env=place.env,
        capture_output=True,
        check=True,
    )
    assert done.stdout.decode().split() == ["verify"]


def test_a_variable_that_was_left_set_makes_no_check_pass(place: Place) -> None:
    ran = syn(place, "verify", env={"_SYN_COMPLETE": "complete_bash"})
    assert ran.status not in (0, 4)
