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
READY_FOR_MUTANTS := .venv/.ready-for-mutants
READY_FOR_LOWEST := .venv/.ready-for-lowest

# The program is started by the hundred: what is compiled once is kept, whatever the machine says.
export PYTHONDONTWRITEBYTECODE :=

# How many processes run the tests; 0 runs them in one, which a debugger needs. Four at least: many
# tests wait for a child process or a time-out.
JOBS ?= $(shell $(PYTHON) -c 'import os; print(max(4, os.cpu_count() or 1))')

# How long each fuzzer runs.
FUZZ_SECONDS ?= 60

.DEFAULT_GOAL := help
.PHONY: help demo test test-fast coverage test-lowest check audit bench faults soak mutants fuzz schemas clients reference site lock

help: ## Show these targets
	@sed -n 's/^\([a-z-]*\): .*## \(.*\)/  make \1	\2/p' Makefile

demo: $(READY_TO_RUN) ## Try everything against the embedded service, with no account
	@$(RUN) -m commandsync demo

test: $(READY_TO_WORK) ## Run the tests, without the longest ones, which make check runs
	@$(RUN) -m pytest -n $(JOBS) --dist worksteal --hypothesis-profile=less -m 'not thorough'

test-fast: $(READY_TO_WORK) ## Run the tests without those marked slow, with few examples of each property
	@$(RUN) -m pytest -n $(JOBS) --dist worksteal -m 'not slow' --hypothesis-profile=quick tests/unit

coverage: $(READY_TO_WORK) ## Run the tests with branch coverage
	@$(RUN) -m coverage erase
	@$(RUN) -m coverage run -m pytest -n $(JOBS) --dist worksteal
	@$(RUN) -m coverage combine --quiet
	@$(RUN) -m coverage report

test-lowest: $(READY_FOR_LOWEST) ## Run the tests with the lowest versions that pyproject.toml allows
	@$(RUN) .ci/lowest.py

check: $(READY_TO_WORK) ## Format, lint, types, import rules, complexity, schemas, clients, documents, workflows, the built wheel and its branch coverage
	@$(RUN) -m ruff format --check .
	@$(RUN) -m ruff check .
	@$(RUN) -m mypy
	@$(BIN)/lint-imports$(EXE) --no-logo
	@$(RUN) .ci/complexity.py
	@$(RUN) .ci/schemas.py --check
	@$(RUN) .ci/clients.py --check
	@$(RUN) .ci/reference.py --check
	@$(RUN) .ci/site.py --check
	@$(RUN) .ci/workflows.py
	@$(RUN) -m pytest -n $(JOBS) --dist worksteal -m thorough tests/e2e/action # not in the wheel
	@$(RUN) .ci/wheel.py

audit: $(READY_TO_AUDIT) ## Check the installed and the locked dependencies for known vulnerabilities
	@$(BIN)/pip-audit$(EXE) --local --skip-editable --progress-spinner off
	@$(BIN)/pip-audit$(EXE) --disable-pip --require-hashes --progress-spinner off -r commandsync/action/requirements.txt
	@$(BIN)/pip-audit$(EXE) --disable-pip --require-hashes --progress-spinner off -r commandsync/action/requirements-preview.txt

bench: $(READY_TO_WORK) ## Measure the speed budgets, as ratios within one run
	@$(RUN) -m tests.benchmarks

faults: $(READY_TO_WORK) ## Run every fault against a simulated service, and 50,000 generated cases
	@$(RUN) -m tests.faults

soak: FUZZ_SECONDS = 30
soak: faults fuzz ## Run faults, fuzz, a long run of the clients, writes to a service that is killed, and the tests with 500 new examples of each property
	@MALLOC_ARENA_MAX=1 $(RUN) -m tests.benchmarks.soak
	@MALLOC_ARENA_MAX=1 $(RUN) -m tests.benchmarks.flood
	@$(RUN) -m tests.benchmarks.storm
	@$(RUN) -m tests.benchmarks.public
	@$(RUN) -m pytest -q tests/e2e/test_disks.py -k full_disk_says
	@$(RUN) -m pytest -n $(JOBS) --dist worksteal --hypothesis-profile=soak -m hypothesis

mutants: $(READY_FOR_MUTANTS) ## Run mutation tests; every surviving mutant must be explained
	@$(RUN) .ci/mutants.py

fuzz: $(READY_TO_FUZZ) ## Run the parsers with untrusted input, FUZZ_SECONDS=60 each
	@$(RUN) -m tests.fuzz manifest $(FUZZ_SECONDS)
	@$(RUN) -m tests.fuzz answer $(FUZZ_SECONDS)
	@$(RUN) -m tests.fuzz plan $(FUZZ_SECONDS)
	@$(RUN) -m tests.fuzz source $(FUZZ_SECONDS)
	@$(RUN) -m tests.fuzz code $(FUZZ_SECONDS)
	@$(RUN) -m tests.fuzz imported $(FUZZ_SECONDS)
	@$(RUN) -m tests.fuzz notes $(FUZZ_SECONDS)

schemas: $(READY_TO_WORK) ## Write schemas/*.json again from the code
	@$(RUN) .ci/schemas.py

clients: $(READY_TO_WORK) ## Write the blocking client again from the asynchronous one
	@$(RUN) .ci/clients.py

reference: $(READY_TO_WORK) ## Write the generated part of docs/listings.md again from the code
	@$(RUN) .ci/reference.py

lock: $(READY_TO_WORK) ## Write the Action's lock again, with the versions in it as far as they fit
	@$(RUN) .ci/lock.py

site: $(READY_TO_WORK) ## Build the documentation site into build/site
	@$(RUN) .ci/site.py

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
	@$(INSTALL) -e '.[server]'
	@touch $@

# --group came with pip 25.1.
$(READY_TO_WORK): pyproject.toml | $(VENV)
	@printf 'The libraries to work on commandsync:'
	@$(RUN) -m pip install --quiet --disable-pip-version-check 'pip>=25.1'
	@$(INSTALL) -e '.[async,javascript,postgres,server]' --group dev
	@touch $@ $(READY_TO_RUN)

$(READY_TO_FUZZ): $(READY_TO_WORK)
	@echo "Setting up .venv to fuzz ..."
	@$(RUN) -m pip install --quiet --disable-pip-version-check --group fuzz
	@touch $@

$(READY_FOR_MUTANTS): $(READY_TO_WORK)
	@$(RUN) -m pip install --quiet --disable-pip-version-check --group mutants
	@touch $@

$(READY_FOR_LOWEST): $(READY_TO_WORK)
	@$(RUN) -m pip install --quiet --disable-pip-version-check --group lowest
	@touch $@

$(READY_TO_AUDIT): $(READY_TO_WORK)
	@$(RUN) -m pip install --quiet --disable-pip-version-check --group audit
	@touch $@
