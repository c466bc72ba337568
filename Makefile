# make demo and make test work from a clean clone; everything they need goes into .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

# Every mission starts three processes: without compiled modules on disk each of them takes a second longer.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test test-dds lint types docs picture bench bench-guard clean

demo: $(READY)
	@$(BIN)/orchestrator run trees/04_deliver_atom_w.yaml --sim --yes

test: lint
	@$(BIN)/pytest -n auto --dist worksteal -m "not alone"
	@$(BIN)/pytest -n 3 --dist worksteal -m "alone and not long"

test-dds: $(READY)
	@$(BIN)/pytest -m "alone or dds"

lint: $(READY)
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy

types: $(READY)
	@$(BIN)/python -m orchestrator.wire.generate

docs: $(READY)
	@$(BIN)/python -m orchestrator.treefile.reference > docs/leaves.md

picture: $(READY)
	@$(BIN)/orchestrator run trees/04_deliver_atom_w.yaml --sim --json > docs/run.events
	@$(BIN)/python -m orchestrator.cli.run.snapshot 6.5 < docs/run.events > docs/run.svg
	@rm docs/run.events

bench: $(READY)
	@$(BIN)/python -m benchmarks

bench-guard: $(READY)
	@$(BIN)/python -m benchmarks.guard_dds
	@$(BIN)/python -m benchmarks path

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis dist

$(READY): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 14))' || \
		{ echo "orchestrator needs Python 3.11, 3.12 or 3.13. Name one: make PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || \
		{ echo "Python's venv module is missing. Install it: sudo apt install python3-venv"; exit 1; }
	@echo "Setting up $(VENV) (once; again when pyproject.toml changes) ..."
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $(READY)
