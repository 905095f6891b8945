# Each target does its own set-up; `make setup` returns at once when nothing changed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.ready

.PHONY: setup browser graphics demo test lint format docs bench bench-worlds campaign learn-test clean

setup: $(STAMP)

$(STAMP): pyproject.toml constraints.txt src/cogmap/version.py
	@echo "setting up $(VENV) (the first time takes a minute or two)"
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable ".[dev]"
	@$(BIN)/python -m cogmap.tasks.compiling
	@touch $@

demo: setup
	$(BIN)/cogmap demo

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: setup
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: setup
	$(BIN)/python -m sphinx -q -W --keep-going -c docs . site
	@echo "wrote site/index.html"

browser:
	@scripts/install_browser.sh

graphics:
	@scripts/install_graphics.sh

test: lint browser graphics
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -m "not learning" -n 2  # two workers: one thread each, or they wait for each other

learn-test: setup
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -m learning -n 2  # 16 minutes of processor time: some 9 on two quiet cores

bench-worlds: setup
	OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.worlds  # hours on one core; resumes where it was stopped

bench: setup
	$(BIN)/python -m benchmarks

campaign: setup
	OMP_NUM_THREADS=1 $(BIN)/python -m campaigns  # resumes where it was stopped

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache
