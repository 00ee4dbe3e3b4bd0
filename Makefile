# `make run` opens the page, `make test` runs every test, `make quick` those that need neither the
# browser nor the small model. Each sets up what it needs.

PYTHON ?= $(firstword $(shell command -v python3.11 python3.12 python3))
BIN := .venv/bin
HOST ?= 127.0.0.1
PORT ?= 7860
RUNS ?= runs

.PHONY: run test nightly doors quick checksums train-mini train-toy lint format lock sbom chromium

run: .venv/ready
	$(BIN)/python -m sauda weights
	HOST=$(HOST) PORT=$(PORT) $(BIN)/python app.py

test: .venv/ready chromium
	$(BIN)/python -m sauda weights
	$(BIN)/python -m pytest -n 2 --dist loadgroup -m "not nightly"

# What `make test` leaves out: minutes of browser, of killed processes and of full-size trials.
nightly: .venv/ready chromium
	$(BIN)/python -m sauda weights
	$(BIN)/python -m pytest -n 2 --dist loadgroup -m nightly

# The same games through every door of docs/hubs.md, each with its own program: ends with a table.
doors: .venv/ready
	$(BIN)/python -m sauda weights
	$(BIN)/python -m pytest -q -s -n 0 tests/env/test_doors.py

# Under 90 seconds on two cores, while the code is being changed.
quick: .venv/ready
	$(BIN)/python -m pytest -q -n 2 --dist worksteal -m "not (browser or model or slow or nightly)" --hypothesis-profile quick

# Every stage with a published adapter, from the base; stopped, it goes on where it was.
train-mini: .venv/ready
	$(BIN)/python -m sauda weights
	for run in sft people talks candid listens heeds settles grpo dpo form reward \
	  "sft --game arena" "distill --game arena" "roles --role buyer" "roles --role seller" "roles --role generalist"; do \
	  folder="$(RUNS)/$$(echo "$$run" | sed 's/ --seed /-seed/; s/ --[a-z]* /-/')"; \
	  resume=$$([ ! -e "$$folder/run.json" ] || echo --resume); \
	  $(BIN)/python -m sauda train $$run --out "$$folder" $$resume || exit; \
	done

# Every stage on a random network of two layers.
train-toy: .venv/ready
	folder=$$(mktemp -d); train="$(BIN)/python -m sauda train"; toy="--model toy --out $$folder"; \
	$$train sft $$toy/sft \
	&& $$train sft --game arena $$toy/sft-arena \
	&& $$train distill --game arena $$toy/distill-arena --init-adapter "$$folder/sft-arena/adapter" \
	&& $$train grpo $$toy/grpo --init-adapter "$$folder/sft/adapter" \
	&& $$train dpo $$toy/dpo --init-adapter "$$folder/grpo/adapter" \
	&& $$train form $$toy/form \
	&& $$train reward $$toy/reward --init-adapter "$$folder/form/adapter" \
	&& $$train roles --role buyer $$toy/roles; \
	code=$$?; rm -rf "$$folder"; exit $$code

# After a change by hand under artifacts/; commands that write a file there renew its line.
checksums:
	cd artifacts && find . -type f \( -name '*.json' -o -path './adapters/*' \) -printf '%P\n' \
	  | LC_ALL=C sort | xargs -d '\n' sha256sum > SHA256SUMS

lint: .venv/ready
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

format: .venv/ready
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# After a change of requirements.txt or of an extra in pyproject.toml. requirements.lock is what a
# container runs with, requirements-dev.lock what tests and training add to it.
lock: .venv/ready
	$(BIN)/uv pip compile --quiet --extra small-model --extra scale --output-file requirements.lock \
	  pyproject.toml
	$(BIN)/uv pip compile --quiet --extra dev --output-file requirements-dev.lock pyproject.toml \
	  $$(sed -n 's/^\([a-z0-9._-]*\)==.*/--no-emit-package \1/p' requirements.lock)

# What a container installs, by name, version and hash, as a bill of materials (CycloneDX). torch,
# whose first line is the one for Python 3.11, stands in no lock and so has no hash.
sbom: .venv/ready
	{ cat requirements.lock; grep -m 1 '^torch==' requirements.txt; } | $(BIN)/uv tool run \
	  --from cyclonedx-bom==7.5.0 cyclonedx-py requirements --output-file sbom.cdx.json -

# torch first, in the build that this machine's package index gives it; then all else by its hash.
# The former OpenEnv client and the newest of MCP, which tests drive too, have folders of their own.
.venv/ready: requirements.lock requirements-dev.lock \
  tests/support/openenv-core.txt tests/support/mcp-newest.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info[:2] not in ((3, 11), (3, 12)) and "Sauda needs Python 3.11 or 3.12; set PYTHON=...")'
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --constraint requirements.txt torch
	$(BIN)/pip install --quiet --no-deps --require-hashes --requirement requirements.lock \
	  --requirement requirements-dev.lock
	for client in openenv-core mcp-newest; do \
	  $(BIN)/pip install --quiet --no-deps --require-hashes --upgrade --target .venv/$$client \
	    --requirement tests/support/$$client.txt || exit; \
	done
	touch $@

# The browser tests drive Debian's Chromium; without it and without root they skip with a plain line.
chromium:
	@command -v chromium >/dev/null || if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; \
	then apt-get update -qq && apt-get install -y -qq chromium >/dev/null; \
	else echo "No chromium here and no root to install it: the browser tests will skip."; fi
