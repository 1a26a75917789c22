# `make demo` and `make test` set everything up by themselves: Python 3.11 or newer is all that must be there.

PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
VENV ?= .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
WORKERS ?= 2
TORCH ?= torch==2.13.0

.PHONY: help setup demo demo-cluster test lint types unit test-slow test-ui screenshots test-torch fuzz chaos soak pollux bench clean
.DEFAULT_GOAL := help

# Tests start hundreds of processes: where nothing compiled may be kept, each would compile all of blox again.
unexport PYTHONDONTWRITEBYTECODE

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(STAMP) ## create .venv and install blox with its development tools

# Done once, and again when pyproject.toml changes. A virtual environment that was left half made is made anew.
$(STAMP): pyproject.toml
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer is needed: install it, or give make PYTHON=path"; exit 1; }
	@echo "setting up $(VENV) (a minute or so, once) ..."
	@$(BIN)/python -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv --clear $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	@touch $@

demo: $(STAMP) ## compare schedulers on the built-in workload; results and report in results/demo
	@$(BIN)/blox compare examples/compare.toml --out results/demo
	@echo "open it in any browser (no network needed): file://$(CURDIR)/results/demo/report.html"

demo-cluster: $(STAMP) ## a cluster of processes on this machine: ten jobs, two policies, preemptions (a minute)
	@$(BIN)/python examples/cluster/demo.py

test: lint types unit ## style, types and every test that is not slow

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(STAMP)
	$(BIN)/mypy

# One worker more than there are cores: some tests wait for processes more than they work. A worker begins with
# whole folders, so that what a module sets up is set up once, and takes over what is left of another's.
unit: $(STAMP)
	$(BIN)/pytest -n $$(($(WORKERS) + 1)) --dist worksteal -m "not slow and not long"

# pytest answers 5 when no test is marked slow: that is not a failure.
test-slow: $(STAMP) ## the tests that take longer than the quick suite allows
	@$(BIN)/pytest -n $(WORKERS) -m slow; status=$$?; if [ $$status -eq 5 ]; then exit 0; else exit $$status; fi

# axe-core checks the pages for barriers; where npm is absent, that check is left out, and says so.
test-ui: $(STAMP) ## the pages in a headless Chromium; screenshots go to results/screenshots
	@test -f $(VENV)/axe/node_modules/axe-core/axe.min.js || ! command -v npm >/dev/null || npm install --silent --prefix $(VENV)/axe axe-core@4.14.1
	$(BIN)/pytest -n $(WORKERS) -m browser --dist loadfile tests/ui

screenshots: $(STAMP) ## pictures of every page, wide and narrow, light and dark, in results/screenshots
	$(BIN)/pytest -n $(WORKERS) -m browser --dist loadfile -k pictures tests/ui

test-torch: $(STAMP) ## the tests that need PyTorch, which is installed first: real training, preempted (minutes)
	@$(BIN)/python -c 'import torch' 2>/dev/null || { echo "installing torch into $(VENV) (once) ..."; \
	  $(BIN)/python -m pip install --quiet --disable-pip-version-check '$(TORCH)'; }
	$(BIN)/pytest -n $(WORKERS) -m torch --dist loadfile

fuzz: $(STAMP) ## 50,000 hostile inputs, seeded: each answered in words, none slow (minutes)
	BLOX_FUZZ_CASES=50000 $(BIN)/pytest -n $(WORKERS) tests/fuzz

chaos: $(STAMP) ## 10,000 seeded histories of a whole cluster with faults, and 10,000 two-phase exits (minutes)
	$(BIN)/python -m blox.cluster.chaos --histories 10000 --exits 10000

soak: $(STAMP) ## 200 clusters whose processes are stopped and continued at random (half an hour)
	$(BIN)/pytest -m long tests/cluster/test_stopped_ranks.py

fidelity: $(STAMP) ## Figure 18, quick: real runs against their simulations (2 minutes)
	$(BIN)/pytest -s -m long tests/reproduce/test_fig18_19.py

pollux: $(STAMP) ## Pollux against the averages shipped with its artifact, 3 seeds per workload (minutes)
	$(BIN)/pytest -s -m long tests/golden/test_pollux.py

bench: $(STAMP) ## speed, each figure beside its limit
	@missed=0; for part in run fast_forms tiresias gavel gavel_compat pollux synergy themis cluster client accounting_log decide ui; do \
	  echo "== benchmarks/$$part.py"; $(BIN)/python benchmarks/$$part.py || missed=1; \
	done; exit $$missed

clean: ## remove what make and the tools have made, .venv included
	rm -rf $(VENV) results build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis src/*.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
