# The commands of the project. `make demo` and `make test` are the two that matter.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP = $(BIN)/python -m pip install -qq --disable-pip-version-check --require-hashes
PORT ?= 8000
HOST ?= 127.0.0.1
PATHS ?= tests/scenarios
ROWS ?= 10000000

.PHONY: ci sbom test-cluster test-nightly release dist help setup setup-dev setup-browser setup-extras setup-local-llm local-model demo serve scenarios check test quick test-long test-api mutation bench bench-audit lock assets

help:  ## Show this list.
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-14s %s\n", $$1, $$2}'

# uv installs a lock in a quarter of pip's time. Where there is none, it is installed; where it cannot reach its index, pip installs.
define install
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Installing what $(1) into .venv (up to a minute, only once) …"
	@sed -n '/^uv==/,/[^\\]$$/p' requirements-dev.lock > $(VENV)/uv.txt
	@(command -v uv > /dev/null || $(PIP) -r $(VENV)/uv.txt) && \
	  PATH="$(BIN):$$PATH" uv pip install -q --python $(BIN)/python --require-hashes --compile-bytecode -r $< || $(PIP) -r $<
	@touch $(VENV)/runtime $@
endef

$(VENV)/runtime: requirements.lock
	$(call install,the product runs on)

# The package is not installed in .venv: this starts it from the checkout, from whatever folder.
define launcher
#!/bin/sh
bin=$$(cd "$$(dirname "$$0")" && pwd)
PYTHONPATH="$${bin%/*/*}$${PYTHONPATH:+:$$PYTHONPATH}" exec "$$bin/python" -m convengine "$$@"
endef
export launcher

$(BIN)/convengine: Makefile
	@mkdir -p $(BIN)
	@printf '%s\n' "$$launcher" > $@
	@chmod +x $@

# This lock holds the other ones.
$(VENV)/develop: requirements-dev.lock requirements-production.lock requirements.lock
	$(call install,the product and its tests need)

setup: $(VENV)/runtime $(BIN)/convengine  ## Make .venv with what the product runs on, and the command .venv/bin/convengine.

setup-dev: $(VENV)/develop $(BIN)/convengine  ## The same with what the tests need.

setup-browser: $(VENV)/develop  ## Chromium for the browser tests, where apt can install it.
	@$(BIN)/python -m tests.browser_setup

setup-extras: $(VENV)/develop  ## The optional extras: sentence vectors, a small local model (150 MB).
	@$(BIN)/python -m tests.extras

setup-local-llm: $(VENV)/runtime  ## A small local model (130 MB) and the client of models, for `make local-model`.
	@$(BIN)/python -m tests.extras local-llm openai

local-model: setup-local-llm setup var/secret_key  ## Serve the small local model, to point `make demo` at.
	@$(BIN)/convengine manage local_model

var/secret_key:
	@mkdir -p var
	@$(PYTHON) -c "import secrets; print(secrets.token_urlsafe(48))" > $@

demo: setup var/secret_key  ## A help desk at http://127.0.0.1:8000 (PORT=… for another port, EMPTY=1 without its flows).
	@$(BIN)/convengine demo --host $(HOST) --port $(PORT) $(if $(EMPTY),--empty)

serve: setup  ## Serve with the settings of the environment (CE_SECRET_KEY, DATABASE_URL, …).
	@$(BIN)/convengine serve --host $(HOST) --port $(PORT)

scenarios: setup var/secret_key  ## Play the conformance scenarios (PATHS=… for other files or folders).
	@$(BIN)/convengine test $(PATHS)

check: $(VENV)/develop  ## Format, lint, types, arrows, system checks.
	@CE_DEBUG=true $(BIN)/python -m tests.check

test: $(VENV)/develop setup-browser  ## Everything that must hold: the checks and the tests, in ten minutes.
	@$(BIN)/python -m tests.extras --if-ci
	@CE_DEBUG=true $(BIN)/python -m tests.run

quick: $(VENV)/develop  ## The checks, the engine, the scenarios and a few tests through everything, in two minutes.
	@CE_DEBUG=true $(BIN)/python -m tests.run --quick

test-long: $(VENV)/develop setup-browser  ## What takes too long for every change: killed servers, walks through the pages, SQLite.
	@$(BIN)/python -m tests.extras --if-ci
	@CE_DEBUG=true $(BIN)/python -m tests.run --long

ci: $(VENV)/develop setup-browser  ## `make test` and `make test-long` beside each other, as CI runs them.
	@$(BIN)/python -m tests.extras --if-ci
	@CE_DEBUG=true $(BIN)/python -m tests.run --ci

test-nightly: $(VENV)/develop setup-browser  ## What CI leaves out: load, scale, variants, all examples, the cluster; about an hour.
	@CE_DEBUG=true $(BIN)/python -m tests.run --nightly
	@CE_DEBUG=true $(BIN)/python -m tests.cluster

test-cluster: $(VENV)/develop  ## PostgreSQL leaders and servers are killed under load; installs Patroni, PgBouncer and HAProxy.
	@CE_DEBUG=true $(BIN)/python -m tests.cluster

test-api: $(VENV)/develop  ## The API against its description: 10,000 requests, no server error, no undescribed answer.
	@CE_DEBUG=true $(BIN)/python -m pytest tests/convengine/server/api/test_schema.py -m long -n0

mutation: $(VENV)/develop  ## Do the tests notice faults? 20 of them, in the background of an hour (tests/mutation.py).
	@$(BIN)/python -m tests.mutation

bench: $(VENV)/develop  ## Speed, as ratios of one run, beside the goals.
	@CE_DEBUG=true $(BIN)/python -m bench
	@CE_DEBUG=true $(BIN)/python -m bench.stored_tests

bench-audit: $(VENV)/develop  ## How fast a record of 10 million audit rows is read and verified (ROWS=… for fewer).
	@CE_DEBUG=true $(BIN)/python -m bench.reading --rows $(ROWS)
	@CE_DEBUG=true $(BIN)/python -m bench.verifying --turns $$(( $(ROWS) / 100 ))

lock: $(VENV)/develop  ## Compile the locks from pyproject.toml.
	@$(BIN)/python -m tests.lock --write

release: sbom  ## Write version, heading of the changelog and notes of a release (VERSION=0.9.0).
	@$(BIN)/python -m tests.release $(VERSION)

sbom: $(VENV)/develop  ## Write the components of a server as CycloneDX into dist/, and check their licences.
	@$(BIN)/python -m tests.components

# What builds needs nothing else of what the tests need.
$(BIN)/uv: requirements-dev.lock
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@sed -n '/^uv==/,/[^\\]$$/p' $< > $(VENV)/uv.txt
	@$(PIP) -r $(VENV)/uv.txt
	@touch $@

dist: $(BIN)/uv  ## Build wheel and source distribution into dist/.
	@$(BIN)/uv build --quiet --out-dir dist .

assets:  ## Build the editors of the admin anew (needs Node; what is built is committed).
	@cd .assets && npm ci --no-audit --no-fund --silent && npm run --silent build
