"""Notes and trees against Go's `sumdb/note` and `sumdb/tlog`, where Go and its x/mod are installed.

On Debian: `golang-go` and `golang-golang-x-mod-dev`. One program is built once and answers one
question a line, so that thousands of notes cost one process.
"""

import base64
import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from syn.canon import merkle, note
from syn.errors import SynError
from syn.keys import signing, trust, vkey
from syn.keys.vkey import VerifierKey
from tests.support.mutate import mutations
from tests.support.proofs import ORIGIN, log, private_key, publisher, signed

GOPATH = Path("/usr/share/gocode")
LOG_KEY = vkey.render(VerifierKey(ORIGIN, 1, private_key(1).public))
TRUST = trust.parse(LOG_KEY.encode())
PROGRAM = """
package main

import (
	"bufio"
	"encoding/base64"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

func raw(s string) []byte {
	b, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		panic(err)
	}
	return b
}

func hash(s string) (h tlog.Hash) {
	copy(h[:], raw(s))
	return h
}

func hashes(s string) (result []tlog.Hash) {
	for _, one := range strings.Fields(s) {
		result = append(result, hash(one))
	}
	return result
}

func number(s string) int64 {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		panic(err)
	}
	return n
}

func answer(f []string) error {
	switch f[0] {
	case "note":
		verifier, err := note.NewVerifier(f[1])
		if err != nil {
			return err
		}
		_, err = note.Open(raw(f[2]), note.VerifierList(verifier))
		return err
	case "record":
		return tlog.CheckRecord(hashes(f[1]), number(f[2]), hash(f[3]), number(f[4]), hash(f[5]))
	case "tree":
		return tlog.CheckTree(hashes(f[1]), number(f[2]), hash(f[3]), number(f[4]), hash(f[5]))
	case "sign":
		signer, err := note.NewSigner(f[1])
		if err != nil {
			return err
		}
		signed, err := note.Sign(&note.Note{Text: string(raw(f[2]))}, signer)
		if err == nil {
			fmt.Print(base64.StdEncoding.EncodeToString(signed), " ")
		}
		return err
	}
	return fmt.Errorf("unknown question")
}

func main() {
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 1<<24)
	for in.Scan() {
		if err := answer(strings.Split(in.Text(), "\\t")); err != nil {
			fmt.Println("no", err)
		} else {
			fmt.Println("yes")
		}
	}
}
"""


@pytest.fixture(scope="module")
def judge(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built program."""
    if not shutil.which("go") or not (GOPATH / "src/golang.org/x/mod/sumdb/note").is_dir():
        pytest.skip("needs Go and golang.org/x/mod (Debian: golang-go golang-golang-x-mod-dev)")
    folder = tmp_path_factory.mktemp("go")
    (folder / "main.go").write_text(PROGRAM)
    environment = {
        **os.environ,  # noqa: TID251 - a test gives its tool the environment it needs
        "GO111MODULE": "off",
        "GOPATH": str(GOPATH),
        "GOCACHE": str(folder / "cache"),
        "GOFLAGS": "",
        "CGO_ENABLED": "0",
    }
    subprocess.run(
        ["go", "build", "-o", "judge", "main.go"], cwd=folder, env=environment, check=True
    )
    return folder / "judge"


def ask(judge: Path, questions: Sequence[Sequence[str]]) -> list[str]:
    lines = "".join("\t".join(question) + "\n" for question in questions)
    done = subprocess.run([judge], input=lines, capture_output=True, text=True, check=True)
    answers = done.stdout.splitlines()
    assert len(answers) == len(questions)
    return answers


def encoded(data: bytes) -> str:
    return base64.b64encode(data).decode()


def accepts(data: bytes) -> bool:
    try:
        value = note.parse(data)
        return bool(note.verify(value, TRUST.note_verifiers(value)))
    except SynError:
        return False


def test_go_opens_our_checkpoints(judge: Path) -> None:
    both = signed(log(5), signing.cosigner(private_key(2), "auditor.example/w", 7), publisher())
    questions = [("note", LOG_KEY, encoded(note.render(item))) for item in (signed(log(300)), both)]
    assert ask(judge, questions) == ["yes", "yes"]


def test_we_open_what_go_signs(judge: Path) -> None:
    seed = bytes([1]) * 32
    key_id = vkey.key_id(ORIGIN, 1, private_key(1).public).hex()
    secret = f"PRIVATE+KEY+{ORIGIN}+{key_id}+{encoded(bytes([1]) + seed)}"
    answer = ask(judge, [("sign", secret, encoded(signed(log(3)).text.encode()))])[0]
    data = base64.b64decode(answer.split()[0])
    assert accepts(data)
    assert data == note.render(signed(log(3)))


def test_go_checks_our_proofs(judge: Path) -> None:
    hashes = [merkle.leaf_hash(b"%d" % number) for number in range(70)]
    questions = []
    for size in (1, 2, 3, 8, 13, 64, 70):
        root = encoded(merkle.root_of(hashes[:size]))
        for index in range(size):
            proof = merkle.inclusion_proof(hashes[:size], index)
            path = " ".join(map(encoded, proof))
            questions.append(("record", path, str(size), root, str(index), encoded(hashes[index])))
            old = encoded(merkle.root_of(hashes[: index + 1]))
            path = " ".join(map(encoded, merkle.consistency_proof(hashes[:size], index + 1)))
            questions.append(("tree", path, str(size), root, str(index + 1), old))
    assert set(ask(judge, questions)) == {"yes"}


def test_mutated_notes_have_one_verdict(judge: Path) -> None:
    """We never accept what Go refuses; Go accepts more only in the spelling of Base64."""
    data = note.render(
        signed(log(5), signing.note_signer(private_key(3), "stranger.example/k"), publisher())
    )
    notes = list(mutations(data, 4000, b"\n \r\t+/=A0\xe2\x80\x94\x00-_", seed=11))
    answers = ask(judge, [("note", LOG_KEY, encoded(item)) for item in notes])
    for item, answer in zip(notes, answers, strict=True):
        if accepts(item) == (answer == "yes"):
            continue
        assert answer == "yes", item
        with pytest.raises(note.NoteError, match="canonical Base64"):
            note.parse(item)
