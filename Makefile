# The user interface in a screen. Nothing here needs root.
#
#   make study                the environment, the corpus, every training of the study, its tables and report
#   make study STUDY=other    the same for config/studies/other.yaml
#   make test                 the environment and the test suite
#   make demo                 a demonstration in a few minutes: two methods, three small sizes, two seeds
#   make smoke                everything, tiny, in scratch/
#   make trace RUN=…          walk one number of a table back to the raw corpus and recompute its hashes
#   make status               what the study asks for and what of it is finished
#   make partial STUDY=…      tables of what is finished of a study, marked as a part
#   make trials               what config/trials.csv lacks of the trials that chose the small settings
#   make lint  bench  pull  push  recipes  lock  clean-env

SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.ONESHELL:
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules

ifeq ($(filter oneshell,$(.FEATURES)),)
$(error make $(MAKE_VERSION) is too old: sumcurve needs GNU Make 3.82 or newer)
endif

PYTHON ?= python3
VENV ?= .venv
STUDY ?=
RUN ?=
TESTS ?=
HOME_FOLDER ?= .

NAMED := $(or $(STUDY),$(shell sed -n 's/^study: *//p' config/config.yaml))
CONFIG := $(if $(STUDY),study=$(STUDY)) $(if $(filter-out .,$(HOME_FOLDER)),home=$(HOME_FOLDER))
export PATH := $(abspath $(VENV))/bin:$(PATH)
export SNAKEMAKE_PROFILE ?= workflow/profiles/local
export PYTHONUNBUFFERED := 1
# A study starts a hundred Pythons: each must find its bytecode.
unexport PYTHONDONTWRITEBYTECODE
# The code that runs is this checkout's, whatever else is installed.
export PYTHONPATH := $(CURDIR)/src

.PHONY: study run test test-all demo smoke lint bench pull push trace status partial trials recipes lock env clean-env

study: env
	$(MAKE) --no-print-directory run

# Everything but the environment; DVC's stage is this. One at a time: the lock frees what a killed run left locked.
run:
	mkdir -p $(HOME_FOLDER)/scratch $(HOME_FOLDER)/results
	exec 9> $(HOME_FOLDER)/scratch/study.lock
	python -c 'import fcntl; fcntl.flock(9, fcntl.LOCK_EX | fcntl.LOCK_NB)' 2> /dev/null || \
	    { echo "another study is running in $(HOME_FOLDER): wait for it or stop it" >&2; exit 1; }
	if compgen -G '.snakemake/locks/*' > /dev/null; then snakemake --unlock $(if $(strip $(CONFIG)),--config $(CONFIG)) 9>&-; fi
	snakemake $(if $(strip $(CONFIG)),--config $(CONFIG)) 9>&-
	report=$(HOME_FOLDER)/scratch/report.html
	rm -f $$report
	snakemake --report $$report $(if $(strip $(CONFIG)),--config $(CONFIG)) > $(HOME_FOLDER)/logs/report.log 2>&1 9>&- || \
	    { cat $(HOME_FOLDER)/logs/report.log >&2; exit 1; }
	mv $$report $(HOME_FOLDER)/results/tables/$(NAMED)/report.html
	echo "report: $(HOME_FOLDER)/results/tables/$(NAMED)/report.html"

test: env
	python -m pytest -n 2 --dist loadgroup $(TESTS)

test-all: env
	python -m pytest -n 2 --dist loadgroup -m "slow or not slow" $(TESTS)

demo: env
	$(MAKE) --no-print-directory run STUDY=demo

smoke: env
	$(MAKE) --no-print-directory run STUDY=smoke HOME_FOLDER=scratch/smoke

lint: env
	ruff check .
	ruff format --check .
	mypy
	snakefmt --check Snakefile workflow
	snakemake --lint

bench: env
	for file in benchmarks/*.py; do python $$file; done

# Never while a study runs. Touching is honest only where everything is as recorded.
pull: env
	dvc pull
	if dvc status --quiet; then snakemake --touch --forceall --quiet all; fi

push: env
	dvc push

trace: env
	python -m sumcurve trace $(RUN) --study $(NAMED)

status: env
	python -m sumcurve status $(HOME_FOLDER)/results --study $(NAMED)

partial: env
	python -m sumcurve tables $(HOME_FOLDER)/results/tables/$(NAMED) --partial

trials: env
	snakemake corpora annotations --config study=$$(sed -n 's/^study: *//p' config/trials.yaml)
	python -m sumcurve trials

recipes: env
	python -m sumcurve recipes

# --- the environment: uv inside it, the lock of this Python's minor version, torch beside the lock

env: $(VENV)/.complete

$(VENV)/.complete: $(wildcard envs/*.txt) pyproject.toml
	@minor=$$($(PYTHON) -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2> /dev/null) || \
	    { echo "no $(PYTHON) on this machine: sumcurve needs Python 3.11 to 3.13 (make PYTHON=/path/to/python3.12 …)" >&2; exit 1; }
	test -f envs/lock-$$minor.txt || \
	    { echo "$(PYTHON) is Python $$minor: sumcurve needs 3.11 to 3.13 (make PYTHON=/path/to/python3.12 …)" >&2; exit 1; }
	echo "environment: $(VENV), Python $$minor"
	rm -rf $(VENV)
	$(PYTHON) -m venv $(VENV)
	python -m pip install --quiet --disable-pip-version-check "uv==$$(sed -n 's/^uv==//p' envs/lock-$$minor.txt)"
	links=$${PIP_FIND_LINKS:-$$(python -m pip config get global.find-links 2> /dev/null || true)}
	UV_FIND_LINKS="$${UV_FIND_LINKS:-$$(echo $$links | tr ' ' ',')}" VIRTUAL_ENV=$(abspath $(VENV)) uv pip install --quiet --compile-bytecode \
	    -r envs/lock-$$minor.txt -r envs/torch.txt
	VIRTUAL_ENV=$(abspath $(VENV)) uv pip install --quiet --no-deps --no-build-isolation --editable .
	touch $@

clean-env:
	rm -rf $(VENV)

# Resolve the locks again (needs uv and each Python); torch stays out of them, and so does what only a CUDA build needs.
lock: env
	envs/lock.sh
