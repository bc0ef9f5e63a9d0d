# One entry point for people and for CI.  Every target sets itself up from nothing.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: setup demo test slow check format clean

$(STAMP): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q --upgrade "pip>=24"
	$(BIN)/python -m pip install -q -c constraints.txt -e ".[dev]"
	touch $(STAMP)

setup: $(STAMP)        ## virtual environment, Python and Node dependencies
	$(BIN)/nashmon setup

demo: setup            ## the product's main job, small
	$(BIN)/nashmon demo

test: setup            ## what CI runs
	$(BIN)/python -m pytest -n 2 -q

slow: setup            ## the long versions of the checks
	$(BIN)/python -m pytest -n 2 -q -m slow

check: setup           ## format, lint, types, architecture, tests
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python -m pytest -n 2 -q

format: setup          ## rewrite files in the project's format
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean:
	rm -rf $(VENV) dist .pytest_cache .mypy_cache .ruff_cache
