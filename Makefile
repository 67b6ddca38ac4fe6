# Everything a newcomer or CI runs. `make demo` first.
VENV ?= .venv
PYTHON ?= python3
BIN := $(VENV)/bin
DEMO := $(BIN)/assay search --limit 3

.DEFAULT_GOAL := demo
.PHONY: demo install fix check test golden docs site

demo: install  ## install, index this repository, ask it three questions
	$(BIN)/assay index .
	$(DEMO) "one writer at a time" src
	$(DEMO) "which settings file is read" src
	$(DEMO) "colour the words that were asked for" src

install: $(VENV)/installed  ## the package, editable, with what tests and checks need

$(VENV)/installed: pyproject.toml
ifneq ($(shell command -v uv),)
	test -x $(BIN)/python || uv venv --quiet --python $(PYTHON) $(VENV)
	uv pip install --quiet --python $(BIN)/python --editable '.[dev]'
else
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
endif
	touch $@

fix: install  ## what machines can mend
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

check: install  ## style, types, layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m pytest tests/test_architecture.py

test: install  ## everything that needs no torch
	$(BIN)/python -m pytest -m 'not torch'

golden: install  ## write the golden rankings anew; read the diff
	ASSAY_GOLDEN=write $(BIN)/python -m pytest tests/golden

docs: install  ## write docs/cli from the commands
	$(BIN)/python -m assay.cli.reference docs/cli

site: install  ## the documentation as a site, in site/
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
