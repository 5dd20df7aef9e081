PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: help setup demo test lint bench torture docs adr golden threats clean

help:
	@echo "make demo     build a workspace from fixtures/, prove it, break it, see what is named"
	@echo "make test     everything, on a fresh machine"
	@echo "make lint     ruff, mypy, import-linter"
	@echo "make bench    measure, beside git, and print ratios"
	@echo "make torture  long fault injection (TORTURE_SECONDS=600)"
	@echo "make docs     write the index of the decisions and the references of both doors again"
	@echo "make adr      record new and changed decisions in the ledger of this repository"
	@echo "make golden   write the golden files again"
	@echo "make threats  attack a workspace, and write what was caught into docs/threat-model.md"

setup: $(VENV)/.ready

$(VENV)/.ready: pyproject.toml
	@echo "setting up $(VENV): a virtual environment with the pinned dependencies"
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	@touch $@

demo: setup
	@$(BIN)/python fixtures/demo.py

test: setup
	$(BIN)/python -m pytest -n auto

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: setup
	@$(BIN)/python -m tests.bench

torture: setup
	@$(BIN)/python -m tests.fault --seconds $${TORTURE_SECONDS:-600}

docs: setup
	$(BIN)/python fixtures/adr_index.py
	$(BIN)/python fixtures/reference.py

adr: setup
	$(BIN)/python fixtures/adr_index.py
	$(BIN)/syn adopt --yes -m "record decisions" adr
	$(BIN)/syn verify --deep --quiet --badge docs/verify.svg
	@echo "now commit adr/, .synapse/ and docs/verify.svg together"

golden: setup
	$(BIN)/python fixtures/golden.py

threats: setup
	@$(BIN)/python fixtures/threat_table.py

clean:
	rm -rf $(VENV) build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis
