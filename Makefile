# Every target sets up what it needs: a virtual environment in .venv, made again only when
# pyproject.toml changes. Set PYTHON to choose the interpreter: make test PYTHON=python3.13

ifeq ($(OS),Windows_NT)
PYTHON ?= python
BIN := .venv/Scripts
EXE := .exe
else
# The first of the usual names that is new enough: macOS still has an old python3 in front.
NEW_ENOUGH := import sys; sys.exit(sys.version_info < (3, 11))
PYTHON ?= $(shell for name in python3 python3.14 python3.13 python3.12 python3.11 python; do \
	if $$name -c '$(NEW_ENOUGH)' 2>/dev/null; then echo $$name; exit; fi; done; echo python3)
BIN := .venv/bin
EXE :=
endif
RUN := $(BIN)/python$(EXE)
VENV := .venv/pyvenv.cfg
READY_TO_RUN := .venv/.ready-to-run
READY_TO_WORK := .venv/.ready-to-work
READY_TO_FUZZ := .venv/.ready-to-fuzz
READY_TO_AUDIT := .venv/.ready-to-audit
READY_FOR_LOWEST := .venv/.ready-for-lowest

# The program is started by the hundred: what is compiled once is kept, whatever the machine says.
export PYTHONDONTWRITEBYTECODE :=

# How many processes run the tests; 0 runs them in one, which a debugger needs. Four at least: many
# tests wait for a child process or a time-out. The longest tests wait most of the time.
JOBS ?= $(shell $(PYTHON) -c 'import os; print(max(4, os.cpu_count() or 1))')
JOBS_OF_LONGEST ?= $(shell $(PYTHON) -c 'import os; print(max(6, os.cpu_count() or 1))')

# How long each fuzzer runs.
FUZZ_SECONDS ?= 30

PYTEST := $(RUN) -m pytest -n $(JOBS) --dist worksteal

# What decides: every branch of it is tested, by the tests of its rooms.
DECIDING := */commandsync/api/credentials.py,*/commandsync/api/policy.py,*/commandsync/apply/*,*/commandsync/plan/*,*/commandsync/records/*
DECIDING_TESTS := $(addprefix tests/unit/,api apply plan records services)
COVERED = $(RUN) -m coverage erase && $(RUN) -m coverage run

.DEFAULT_GOAL := help
.PHONY: help demo test test-fast check .types .rules soak bench generate site fuzz test-lowest audit

help: ## Show these targets
	@sed -n 's/^\([a-z-]*\): .*## \(.*\)/  make \1	\2/p' Makefile

demo: $(READY_TO_RUN) ## Try everything against the embedded service, with no account
	@$(RUN) -m commandsync demo

test: $(READY_TO_WORK) ## Run the tests, without the longest ones, which make check runs
	@$(PYTEST) --hypothesis-profile=less -m 'not thorough and not soak'

test-fast: $(READY_TO_WORK) ## Run the tests without those marked slow, with few examples of each property
	@$(PYTEST) --hypothesis-profile=quick -m 'not slow' tests/unit

check: $(READY_TO_WORK) ## Check format, types, imports, complexity, generated files, documents, workflows; run the longest tests; test the wheel
	@$(MAKE) --no-print-directory -j 2 .types .rules
	@$(COVERED) -m pytest -n $(JOBS) --dist worksteal --hypothesis-profile=quick -m 'not slow and not thorough and not soak' $(DECIDING_TESTS)
	@$(RUN) -m coverage combine --quiet
	@$(RUN) -m coverage report --include='$(DECIDING)' --fail-under=100
	@$(RUN) -m pytest -n $(JOBS_OF_LONGEST) --dist worksteal --hypothesis-profile=less -m 'thorough and not soak and not wheel'
	@$(RUN) .ci/wheel.py

# The parts of check that run side by side: the types take as long as everything else.
.types:
	@$(RUN) -m mypy

.rules:
	@$(RUN) -m ruff format --check .
	@$(RUN) -m ruff check .
	@$(BIN)/lint-imports$(EXE) --no-logo
	@$(RUN) .ci/complexity.py
	@$(RUN) .ci/schemas.py --check
	@$(RUN) .ci/clients.py --check
	@$(RUN) .ci/reference.py --check
	@$(RUN) .ci/workflows.py

soak: $(READY_TO_WORK) fuzz ## Run fuzz, a long run of the clients, a full disk, 50,000 generated cases, new examples of each property, and all tests with branch coverage
	@MALLOC_ARENA_MAX=1 $(RUN) -m tests.benchmarks.soak
	@$(RUN) -m tests.benchmarks.recordings
	@$(RUN) -m pytest -q tests/e2e/test_disks.py -k full_disk_says
	@$(PYTEST) --hypothesis-profile=soak -m hypothesis
	@$(COVERED) -m pytest -n $(JOBS) --dist worksteal
	@$(RUN) -m coverage combine --quiet
	@$(RUN) -m coverage report

bench: $(READY_TO_WORK) ## Measure the speed budgets, as ratios within one run
	@$(RUN) -m tests.benchmarks

generate: $(READY_TO_WORK) ## Write schemas, the blocking client and the reference of the services again from the code
	@$(RUN) .ci/schemas.py
	@$(RUN) .ci/clients.py
	@$(RUN) .ci/reference.py

site: $(READY_TO_WORK) ## Build the documentation site into build/site
	@$(RUN) .ci/site.py

fuzz: $(READY_TO_FUZZ) ## Run the parsers with untrusted input, FUZZ_SECONDS=30 each
	@for input in manifest answer plan source code imported; do \
		$(RUN) -m tests.fuzz $$input $(FUZZ_SECONDS) || exit; done

test-lowest: $(READY_FOR_LOWEST) ## Run the tests with the lowest versions that pyproject.toml allows
	@$(RUN) .ci/lowest.py

audit: $(READY_TO_AUDIT) ## Check the installed and the locked dependencies for known vulnerabilities
	@$(BIN)/pip-audit$(EXE) --local --skip-editable --progress-spinner off
	@$(BIN)/pip-audit$(EXE) --disable-pip --require-hashes --progress-spinner off -r commandsync/action/requirements.txt

# pip, with each library named when pip gets it; the exit code is that of the pipe's end.
INSTALL = install() { $(RUN) -m pip install --disable-pip-version-check --progress-bar off "$$@" && echo Ended; }; \
	named() { ok=; while read -r word name rest; do case "$$word $$name" in \
		Collecting*) printf ' %s' "$${name%%[<>=!~;\[]*}";; "Installing collected") printf '\n  installing ...';; \
		Ended*) ok=yes;; esac; done; echo; [ "$$ok" ]; }; \
	step() { install "$$@" | named; }; step

$(VENV):
	@echo "Setting up .venv, once; this can take a minute. The environment ..."
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "commandsync needs Python 3.11 or newer, this is " + sys.version + ": make PYTHON=...")'
	@$(PYTHON) -m venv .venv

$(READY_TO_RUN): pyproject.toml | $(VENV)
	@printf 'The libraries that run commandsync:'
	@$(INSTALL) -e '.[javascript,server]'
	@touch $@

# --group came with pip 25.1.
$(READY_TO_WORK): pyproject.toml | $(VENV)
	@printf 'The libraries to work on commandsync:'
	@$(RUN) -m pip install --quiet --disable-pip-version-check 'pip>=25.1'
	@$(INSTALL) -e '.[async,javascript,postgres,record,server]' --group dev
	@touch $@ $(READY_TO_RUN)

$(READY_TO_FUZZ): $(READY_TO_WORK)
	@echo "Setting up .venv to fuzz ..."
	@$(RUN) -m pip install --quiet --disable-pip-version-check --group fuzz
	@touch $@

$(READY_FOR_LOWEST): $(READY_TO_WORK)
	@$(RUN) -m pip install --quiet --disable-pip-version-check --group lowest
	@touch $@

$(READY_TO_AUDIT): $(READY_TO_WORK)
	@$(RUN) -m pip install --quiet --disable-pip-version-check --group audit
	@touch $@
