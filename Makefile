# Everything a newcomer or CI runs. `make demo` first.
VENV ?= .venv
PYTHON ?= python3
USER_PYTHON ?= /usr/bin/python3
BIN := $(VENV)/bin
DEMO := $(BIN)/assay search --limit 3
MODELS := $(addprefix tests/encode/test_,architectures.py hf.py) tests/train/test_encoder.py tests/rank/neural

# Bytecode is written when something is installed: where Python is told to write none, each start would compile anew.
ifneq ($(shell command -v uv),)
CREATE := uv venv --quiet --python $(PYTHON) $(VENV)
INSTALL := uv pip install --quiet --compile-bytecode --python $(BIN)/python
else
CREATE := $(PYTHON) -m venv $(VENV)
INSTALL := $(BIN)/python -m pip install --quiet
endif

.DEFAULT_GOAL := demo
.PHONY: demo install fix check test nightly oldest golden docs site

demo: $(VENV)/package  ## install the package alone, index this repository, ask it three questions
	$(BIN)/assay index .
	$(DEMO) "hide secrets in messages" src
	$(DEMO) "wait while another process writes the index" src
	$(DEMO) "which settings file is read" src

install: $(VENV)/tools  ## the package, and what tests and checks need

$(VENV)/package: pyproject.toml
	test -x $(BIN)/python || $(CREATE)
	$(INSTALL) --editable .
	$(BIN)/python -m compileall -q src
	touch $@

$(VENV)/tools: pyproject.toml
	test -x $(BIN)/python || $(CREATE)
	$(INSTALL) --editable '.[dev]'
	$(BIN)/python -m compileall -q src
	touch $(VENV)/package $@

fix: install  ## what machines can mend
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

check: install  ## style, types, layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

test: install  ## every test, and the quickest benchmark scripts on toys; a process a core
	@echo "Some ten minutes on two cores. Tests of torch, Ray and browsers are skipped where these are missing."
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest --numprocesses auto --dist loadfile --no-loadscope-reorder \
		tests benchmarks/checks/test_scripts.py

nightly: install  ## what takes hours: each attack in each sandbox, 100 kills, both browsers, oldest versions, benchmark scripts
	$(BIN)/python -m pytest -m nightly
	$(BIN)/python -m pytest -m '' benchmarks/checks
	$(BIN)/python benchmarks/kills.py --kills 100
	$(BIN)/python benchmarks/attacks.py --user 65534 --user-python $(USER_PYTHON)
	.ci/bad-days
	$(MAKE) oldest

oldest:  ## every command, and the tests of the model libraries, with the oldest versions that are allowed
	$(PYTHON) -m venv $(VENV)-oldest
	$(VENV)-oldest/bin/python -m pip install --quiet uv
	.ci/lower-bounds $(VENV)-oldest/bin/uv $(PYTHON)
	$(VENV)-oldest/bin/python -m pip install --quiet --constraint .ci/oldest.txt --editable '.[hf,onnx,train]' \
		hypothesis pytest pytest-timeout pytest-xdist
	$(VENV)-oldest/bin/python -m pytest $(MODELS)

golden: install  ## write the golden rankings anew; read the diff
	ASSAY_GOLDEN=write $(BIN)/python -m pytest tests/golden

docs: install  ## write the card of the default encoder from its record
	$(BIN)/python -m assay.train.card docs/models/static-default.md

site: install  ## the documentation as a site, in site/
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
