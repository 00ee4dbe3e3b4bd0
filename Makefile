# `make run` opens the page, `make test` runs every test, `make quick` those that need neither the
# browser nor the small model. Each sets up what it needs.

PYTHON ?= $(firstword $(shell command -v python3.11 python3.12 python3))
BIN := .venv/bin
HOST ?= 127.0.0.1
PORT ?= 7860
RUNS ?= runs
# The tasks of GRPO after distillation: each of three rules twice, then the classic games.
OPEN := bazaar/open bazaar/rushed bazaar/bluff
MIXED := $(OPEN) $(OPEN) classic/single_deal classic/asymmetric_pressure classic/amazon_realistic
# Distillation of the base without SFT: minutes on a GPU, hours on a CPU.
ALONE := --learning-rate 0.001 --deals-per-round 1296 --teacher-turns 1.0 0.5 0.25 0.0 0.0 \
  --games-at-once 256 --per-device-train-batch-size 16 --save-steps 81

.PHONY: run test nightly quick checksums train-mini train-toy lint format lock chromium

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

# Under 90 seconds on two cores, while the code is being changed.
quick: .venv/ready
	$(BIN)/python -m pytest -q -n 2 --dist worksteal -m "not (browser or model or slow or nightly)" --hypothesis-profile quick

# Every run with a published adapter, from the base; stopped, it goes on where it was.
train-mini: .venv/ready
	$(BIN)/python -m sauda weights
	for run in pilot sft distill "sft --seed 1 --first-seed 16000" "distill --seed 1 --first-seed 26000" \
	  "distill --init-adapter= --first-seed 10000 $(ALONE)" \
	  "distill --init-adapter= --seed 1 --first-seed 20000 $(ALONE)" moves grpo \
	  "grpo --init-adapter distill --tasks $(MIXED) --learning-rate 0.0001 --eval-games 24" \
	  "grpo --init-adapter distill --seed 1 --first-seed 44000 --tasks $(MIXED) --learning-rate 0.0001 --eval-games 24" \
	  dpo "sft --game arena" "grpo --game arena" \
	  "roles --role buyer" "roles --role seller" "roles --role generalist"; do \
	  folder="$(RUNS)/$$(echo "$$run" | sed 's/ --first-seed.*//; s/ --init-adapter=/-from-base/; s/ --tasks.*//; s/ --seed /-seed/; s/ --init-adapter /-from-/; s/ --[a-z]* /-/')"; \
	  resume=$$([ ! -e "$$folder/run.json" ] || echo --resume); \
	  $(BIN)/python -m sauda train $$run --out "$$folder" $$resume || exit; \
	done

# Every stage on a random network of two layers.
train-toy: .venv/ready
	folder=$$(mktemp -d); train="$(BIN)/python -m sauda train"; toy="--model toy --out $$folder"; \
	$$train sft $$toy/sft \
	&& $$train distill $$toy/distill --init-adapter "$$folder/sft/adapter" --constrained --deals-per-round 48 \
	&& $$train moves $$toy/moves --init-adapter "$$folder/distill/adapter" --constrained --max-steps 2 \
	&& $$train grpo $$toy/grpo --init-adapter "$$folder/sft/adapter" \
	&& $$train dpo $$toy/dpo --init-adapter "$$folder/grpo/adapter" \
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

# After a change of requirements.txt or of an extra in pyproject.toml.
lock: .venv/ready
	$(BIN)/uv pip compile --quiet --extra dev --output-file requirements.lock pyproject.toml

# torch first, in the build that this machine's package index gives it; then all else by its hash.
# The former OpenEnv client, which tests drive too, has a folder of its own.
.venv/ready: requirements.lock tests/support/openenv-core.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info[:2] not in ((3, 11), (3, 12)) and "Sauda needs Python 3.11 or 3.12; set PYTHON=...")'
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --constraint requirements.txt torch
	$(BIN)/pip install --quiet --no-deps --require-hashes --requirement requirements.lock
	$(BIN)/pip install --quiet --no-deps --require-hashes --upgrade --target .venv/openenv-core \
	  --requirement tests/support/openenv-core.txt
	touch $@

# The browser tests drive Debian's Chromium; without it and without root they skip with a plain line.
chromium:
	@command -v chromium >/dev/null || if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; \
	then apt-get update -qq && apt-get install -y -qq chromium >/dev/null; \
	else echo "No chromium here and no root to install it: the browser tests will skip."; fi
