# Kernelwright. `make help` lists what there is to do; start.py does the same where there is no make.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: help setup demo test slow types lint dead check bench gpu pictures api clean

help:            ## this list
	@grep -E '^[a-z]+: .*##' $(MAKEFILE_LIST) | sed 's/: .*##/\t/' | sort

setup:           ## a virtual environment with everything in it
	@$(PYTHON) start.py setup

demo:            ## the main job
	@$(PYTHON) start.py demo

test: setup      ## the whole fast test suite
	@$(PYTHON) start.py test

slow: setup      ## the tests that take longer
	@$(PYTHON) start.py slow

types: setup     ## mypy, strict
	$(BIN)/mypy

lint: setup      ## ruff
	$(BIN)/ruff check src tests start.py
	$(BIN)/ruff format --check src tests start.py

dead: setup      ## vulture: code that nothing uses
	$(BIN)/vulture

check: lint types dead test ## everything that must hold before a change lands

bench: setup     ## every figure the project promises
	$(BIN)/kw bench all

gpu:             ## everything that needs an NVIDIA GPU, in one go; says so where there is none
	@if [ -x $(BIN)/python ]; then $(BIN)/python benchmarks/gpu.py; else $(PYTHON) benchmarks/gpu.py; fi

pictures: setup  ## the pictures of README and docs; needs headless Chromium
	$(BIN)/python docs/images/make_pictures.py

api: setup       ## docs/api.md and docs/formats, from docstrings
	$(BIN)/python docs/make_api.py
	$(BIN)/python docs/make_formats.py

clean:           ## remove what was built here
	rm -rf .venv build dist .mypy_cache .ruff_cache .pytest_cache
