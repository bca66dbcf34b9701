# `make demo` and `make test` are all the set-up there is: Python 3.11 or newer and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: demo test docs clean

demo: $(STAMP)
	@KB="$(BIN)/kb" sh examples/demo.sh

test: $(STAMP)
	$(BIN)/ruff check kb kb_plugins tests benchmarks docs examples
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m pytest -n 2 --dist worksteal
	KB_DISABLE_PLUGINS=lifecycle $(BIN)/python -m pytest -n 2 --dist worksteal -q tests/cli tests/architecture tests/docs -k "not kill and not crash"

docs: $(STAMP)
	$(BIN)/python docs/generate.py

$(STAMP): pyproject.toml examples/kb-plugin-example/pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	$(BIN)/python -m pip install --quiet --no-deps --editable examples/kb-plugin-example
	touch $(STAMP)

clean:
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache test-artefacts
