PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: help setup demo test lint bench torture docs adr golden threats mutants dist supply lock audit clean

help:
	@echo "make demo     build a workspace from fixtures/, prove it, break it, see what is named"
	@echo "make test     everything, on a fresh machine"
	@echo "make lint     ruff, mypy, import-linter"
	@echo "make bench    measure, beside git, and print ratios"
	@echo "make torture  long fault injection (TORTURE_SECONDS=600)"
	@echo "make docs     write the index of the decisions and the references of both doors again"
	@echo "make adr      record new and changed decisions in the ledger of this repository"
	@echo "make golden   write the golden files again"
	@echo "make mutants  mutation testing of what decides (MUTANTS=20 of each package)"
	@echo "make dist     the sdist and the wheel of HEAD; make supply runs them in a clean environment"
	@echo "make lock     write requirements.lock; make audit looks its versions up in advisories"
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

mutants: setup
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[mutants]'
	@$(BIN)/python -m tests.mutation --count $${MUTANTS:-20} --seed $${SEED:-1}

dist: setup
	@$(BIN)/python fixtures/dist.py

supply: setup
	SYNAPSE_SUPPLY=1 $(BIN)/python -m pytest -q tests/supply

lock:
	@$(PYTHON) -m venv build/lock
	@build/lock/bin/python -m pip install --quiet --disable-pip-version-check pip-tools==7.6.2
	@build/lock/bin/pip-compile --quiet --generate-hashes --strip-extras --allow-unsafe \
	  --no-emit-index-url --no-emit-find-links --extra mcp --output-file requirements.lock pyproject.toml

audit:
	@$(PYTHON) -m venv build/audit
	@build/audit/bin/python -m pip install --quiet --disable-pip-version-check pip-audit==2.10.1
	@build/audit/bin/pip-audit --strict --require-hashes --disable-pip -r requirements.lock

clean:
	rm -rf $(VENV) build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis
