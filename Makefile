# Two commands for a newcomer, `make demo` and `make test`; the rest is for those who stay.
#
# Rule of this file: every target works in a fresh clone and twice in a row, needs nothing but Python and make, and
# leaves everything it makes inside this folder. How the environment is made is told in .ci/setup, what is checked in
# .ci/run.

SHELL := bash
.DEFAULT_GOAL := help
.PHONY: help setup demo test check clean

# A Python of your choice: make setup PYTHON=/path/to/python3
PYTHON ?=
export PYTHON

# What a shell may carry along and what would make another environment answer than our own.
unexport PYTHONHOME PYTHONPATH VIRTUAL_ENV

help:
	@echo "make demo    set up, then show the main job end to end   (ARGS='--keep' is passed on)"
	@echo "make test    set up, then run all tests                  (ARGS='-k digest' is passed on)"
	@echo "make check   everything that must hold before a merge: format, lint, types, imports, tests, coverage, wheel"
	@echo "make setup   only make the environment in .venv: about 3 GB to fetch the first time, 6 GB on disk"
	@echo "make clean   remove caches and build outputs; the environment stays (remove .venv to start over)"

setup:
	@.ci/setup

demo: setup
	@.venv/bin/memlake demo $(ARGS)

# The tests never fetch a model, and two cores are slower with more threads than with one.
test: export HF_HUB_OFFLINE := 1
test: export TOKENIZERS_PARALLELISM := false
test: export OMP_NUM_THREADS := 1
test: setup
	@.venv/bin/python -m pytest $(ARGS)

check:
	@.ci/run

clean:
	@rm -rf build dist .coverage .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
	@find schemas lakehouse streams tests -name __pycache__ -type d -prune -exec rm -rf {} +
	@echo "memlake: caches and build outputs are gone; .venv stays"
