# make env      build .venv from the lock          make report   grade, rank, and write the report
# make test     run every check and every test     make lab      open JupyterLab on the first notebook
# `make figures` measures the README's figures, `make sample` remakes data/sample, `make lock` renews the lock.

PYTHON ?= python3
BIN := .venv/bin
# A finished environment; it is brought up to date when the lock or the project's metadata change.
ENV := .venv/.complete
SOURCES := $(shell find evalkit notebooks cases data/models.toml -type f -not -path '*/__pycache__/*' 2>/dev/null)
# A season is swept, reported and put into the sample as soon as it lies under cases/; every agent beside it plays.
SEASONS := $(patsubst cases/%/season.toml,%,$(wildcard cases/*/season.toml))
AGENTS_OF = random $(basename $(notdir $(filter-out cases/$(1)/private/_%.py,$(wildcard cases/$(1)/agents/*.py cases/$(1)/private/*.py))))
REPORTS := reports/lattice.html reports/outage-note.html $(SEASONS:%=reports/%.html)

.PHONY: env test report lab lint lock sample figures clean

env: $(ENV)

$(ENV): requirements.lock pyproject.toml
	@command -v $(PYTHON) >/dev/null || { echo "make: $(PYTHON) is not installed: install Python 3.11 or later, or set PYTHON=" >&2; exit 2; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "make: $(PYTHON) is older than 3.11: set PYTHON= to a later one" >&2; exit 2; }
	@$(PYTHON) -c 'import ensurepip, venv' || { echo "make: $(PYTHON) has no venv: on Debian, apt-get install python3-venv" >&2; exit 2; }
	@$(BIN)/python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { rm -rf .venv; $(PYTHON) -m venv .venv; }
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@mkdir -p .venv/share/jupyter/lab/settings
	@echo '{"@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": false},' \
		'"@jupyter-widgets/jupyterlab-manager:plugin": {"saveState": true}}' \
		> .venv/share/jupyter/lab/settings/overrides.json
	@touch $@

lint: $(ENV)
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports

# The console is checked against the original runtime, which npm installs; without npm those tests skip and say so.
build/oracle/.complete: tests/console/oracle/package.json tests/console/oracle/package-lock.json | $(ENV)
	@if command -v npm >/dev/null; then $(BIN)/python -m tests.console.original && touch $@; \
	else echo "npm is not installed: the console is not compared with the original runtime"; fi

# The notebooks run on a copy of the sample: a test never touches the local store.
test: lint build/oracle/.complete
	$(BIN)/python -m pytest tests
	@rm -f build/notebooks.sqlite*
	@$(BIN)/evalkit import data/sample --store build/notebooks.sqlite
	EVALKIT_STORE=$(CURDIR)/build/notebooks.sqlite $(BIN)/python -m pytest --nbval-lax notebooks \
		$(if $(SEASONS),,--ignore-glob='notebooks/*season*' --ignore-glob='notebooks/*one_run*' --ignore-glob='notebooks/*against_cost*')

# The sweep runs what the store does not hold; the report is written again only where something it shows has changed.
report: $(ENV)
	@$(BIN)/evalkit sweep lattice
	@$(BIN)/evalkit sweep outage-note
	@$(foreach season,$(SEASONS),$(BIN)/evalkit sweep $(season) --agents $(call AGENTS_OF,$(season)) --verify &&) true
	@$(MAKE) --no-print-directory --silent $(REPORTS)
	@printf '%s\n' $(REPORTS:%=$(CURDIR)/%)

$(REPORTS): reports/%.html: $(ENV) $(SOURCES) $(wildcard data/runs.sqlite)
	@$(BIN)/evalkit report $* -o $@ >/dev/null

lab: $(ENV)
	$(BIN)/evalkit lab

figures: $(ENV)
	$(BIN)/python -m tests.figures --write

sample: $(ENV)
	rm -rf data/sample build/sample.sqlite*
	$(BIN)/evalkit sweep lattice --store build/sample.sqlite
	$(BIN)/evalkit sweep outage-note --store build/sample.sqlite
	$(foreach season,$(SEASONS),$(BIN)/evalkit sweep $(season) --agents $(call AGENTS_OF,$(season)) --store build/sample.sqlite &&) true
	$(BIN)/evalkit export data/sample --store build/sample.sqlite

lock:
	uv pip compile pyproject.toml --all-extras --universal --python-version 3.11 --generate-hashes \
		--no-emit-find-links --custom-compile-command "make lock" --quiet --output-file requirements.lock

clean:
	rm -rf .venv reports build data/runs.sqlite* .mypy_cache .ruff_cache .pytest_cache .import_linter_cache
