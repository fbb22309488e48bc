# Kernelwright. `make help` lists what there is to do.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: help setup demo test slow types lint check bench gpu clean

help:            ## this list
	@grep -E '^[a-z]+: .*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | sort

$(BIN)/kw: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet -e '.[dev]'
	@touch $@

setup: $(BIN)/kw ## a virtual environment with everything in it

demo: setup      ## the main job: one suite kernel at every stage of the compiler
	$(BIN)/kw suite show hotspot

test: setup      ## the whole fast test suite
	$(BIN)/python -m pytest

slow: setup      ## the tests that take longer
	$(BIN)/python -m pytest -m slow

types: setup     ## mypy, strict
	$(BIN)/mypy

lint: setup      ## ruff
	$(BIN)/ruff check src tests
	$(BIN)/ruff format --check src tests

check: lint types test ## everything that must hold before a change lands

bench: setup     ## every figure the project promises
	$(BIN)/kw bench compile

gpu: setup       ## everything that needs an NVIDIA GPU, in one go; says so where there is none
	$(BIN)/python benchmarks/gpu.py

clean:           ## remove what was built here
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache
