# Every target sets up what it needs: a virtual environment in .venv with the package installed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
ONE_THREAD := OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 MKL_NUM_THREADS=1

STUDIES := dstc1 dstc2 multiwoz lee2014 metrics population worlds
.PHONY: demo test docs lint bench fuzz clean studies $(STUDIES:%=study-%)
.DEFAULT_GOAL := test

$(VENV)/installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[report,dev]'
	touch $@

demo: $(VENV)/installed
	$(BIN)/extrinsic run quick

test: $(VENV)/installed
	$(ONE_THREAD) $(BIN)/python -m pytest tests -n auto --maxprocesses 4 --dist loadfile

# The documentation as a site, in site/index.html; a link that leads nowhere is an error.
docs: $(VENV)/docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo the site: site/index.html

$(VENV)/docs: $(VENV)/installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[docs]'
	touch $@

lint: $(VENV)/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(VENV)/installed
	$(ONE_THREAD) $(BIN)/python -m pytest benchmarks

# Thousands of mutated inputs (SEEDS, from the seed FIRST on), or runs killed at random moments (KILLS=100), and a
# table of what came of it; the counts are added to those of earlier runs.
SEEDS ?= 5000
FIRST ?= 1000
KILLS ?= 0
COUNTS = tests/fuzz/$(if $(filter 0,$(KILLS)),inputs,kills).csv
fuzz: $(VENV)/installed
	$(ONE_THREAD) $(BIN)/python -W ignore -m tests.fuzz --seeds $(SEEDS) --first $(FIRST) --kills $(KILLS) \
		--output $(COUNTS)

# The studies of experiments/, made again; those of real data need EXTRINSIC_DATA or ../shared/data.
$(STUDIES:%=study-%): study-%: $(VENV)/installed
	$(BIN)/python -m experiments.$*

# One after the other, whatever -j says: each uses all cores. The page of all studies comes last.
studies: $(VENV)/installed
	for study in $(STUDIES); do $(MAKE) study-$$study || exit; done
	$(BIN)/python -m experiments.overview

clean:
	rm -rf $(VENV) build site *.egg-info .pytest_cache .mypy_cache .ruff_cache .benchmarks
