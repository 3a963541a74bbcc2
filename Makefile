# The user interface in a screen. Nothing here needs root; `. .venv/bin/activate` puts `sumcurve` and its verbs at hand.
#
#   make env                  the environment, .venv, from the lock of this Python
#   make fairseq-env          fairseq in an environment of its own, .venv-fairseq; minutes
#   make study                every training of the study, its tables and report; STUDY=other, PROFILE=slurm
#   make study SET="seeds=[1,2] form=small"   the same study with these keys set: a study of its own
#   make demo                 two methods, two small sizes, two seeds: about 3 minutes
#   make smoke                every step, tiny, in scratch/smoke: about 3 minutes
#   make add CORPUS=… NAME=…  a study of your own corpus (FLAGS=… as `sumcurve add -h` says)
#   make plan STUDY=…         what a study would cost: jobs, core- and GPU-hours, disk
#   make status STUDY=…       what of a study is finished, at work, waiting or failed
#   make test                 the tests; KIND=long for whole studies (all, slow, slurm, fault, remote: CONTRIBUTING.md)
#   make lint                 style, types, order of imports
#   make docs                 the documents as a site, in site/
#   make record STUDY=…       the study, verified and made by committed code, into its DVC lock; its numbers into the pages
#   make pull STUDY=…         what is recorded of the study, from the remote that DVC names
#   make help                 this list

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
CORPUS ?=
NAME ?=
SET ?=
FLAGS ?=
TESTS ?=
KIND ?=
HOME_FOLDER ?= .
# fairseq's own environment, for config/programs/fairseq; it needs Python 3.11 with its headers, and a C++ compiler.
SUMCURVE_FAIRSEQ ?= .venv-fairseq
FAIRSEQ_PYTHON ?= python3.11
export SUMCURVE_FAIRSEQ
# A folder of workflow/profiles; Snakemake takes `default` by itself, by the link `profiles`, beside the Snakefile.
PROFILE ?=

# In recipes these are the shell's own variables: what a file or somebody says is read neither by make nor as shell.
$(foreach name,CORPUS KIND NAME SET STUDY HOME_FOLDER,$(eval override $(name) := $$(value $(name))))
export CORPUS KIND NAME SET STUDY HOME_FOLDER
# With quotes, blanks or a comment, as YAML may have it.
STUDY_OF := sed -nE '/^study:/{s/^study:[[:space:]]*//;s/[[:space:]]+\#.*$$//;s/[[:space:]]+$$//;s/^(["'\''])(.*)\1$$/\2/;p;}'
export NAMED := $(or $(STUDY),$(shell $(STUDY_OF) config/config.yaml))
AS_PROFILE := $(or $(if $(PROFILE),workflow/profiles/$(PROFILE)),$(SNAKEMAKE_PROFILE))
SNAKEMAKE = snakemake $(if $(AS_PROFILE),--workflow-profile "$(AS_PROFILE)")
CONFIG = $(if $(STUDY)$(SET)$(filter-out .,$(HOME_FOLDER)),--config "study=$$NAMED" "home=$$HOME_FOLDER")
# Paths may hold blanks: only a target's name needs them escaped.
blank := $(subst ,, )
ENVIRONMENT := $(if $(filter /%,$(VENV)),$(VENV),$(CURDIR)/$(VENV))
COMPLETE := $(subst $(blank),\ ,$(VENV))/.complete
FAIRSEQ_COMPLETE := $(subst $(blank),\ ,$(SUMCURVE_FAIRSEQ))/.complete
# Not the link, which may point elsewhere before a job ends.
OTHERS := $(PATH)
export PATH = $(shell cd "$(ENVIRONMENT)" 2> /dev/null && pwd -P || echo "$(ENVIRONMENT)")/bin:$(OTHERS)
export PYTHONUNBUFFERED := 1
# A study starts a hundred Pythons: each must find its bytecode.
unexport PYTHONDONTWRITEBYTECODE
# The code that runs is this checkout's, whatever else is installed.
export PYTHONPATH := $(CURDIR)/src

.PHONY: env fairseq-env study demo smoke add plan status test lint docs record pull help

# Snakemake's line, which is printed: it takes back what a pull brought, verifies all that is there, and makes the rest.
study: env
	@mkdir -p "$$HOME_FOLDER/scratch" "$$HOME_FOLDER/logs"
	if [ -n "$$SET" ]; then NAMED=$$(python -m sumcurve override "$$SET" --study "$$NAMED"); fi
	echo $(SNAKEMAKE) $(CONFIG)
	python -m sumcurve watch --study "$$NAMED" --results "$$HOME_FOLDER/results" -- $(SNAKEMAKE) $(CONFIG)
	report="$$HOME_FOLDER/scratch/report.html"
	rm -f "$$report"
	snakemake --report "$$report" $(CONFIG) > "$$HOME_FOLDER/logs/report.log" 2>&1 || \
	    { cat "$$HOME_FOLDER/logs/report.log" >&2; exit 1; }
	mv "$$report" "$$HOME_FOLDER/results/tables/$$NAMED/report.html"
	echo "Report: $$HOME_FOLDER/results/tables/$$NAMED/pages/report.html"

demo: env
	@$(MAKE) --no-print-directory study STUDY=demo

smoke: env
	@$(MAKE) --no-print-directory study STUDY=smoke HOME_FOLDER=scratch/smoke

add: env
	@: "$${CORPUS:?CORPUS=… is missing: a file or a folder of raw records}"
	: "$${NAME:?NAME=… is missing: of the corpus and of its study}"
	python -m sumcurve add "$$CORPUS" --name "$$NAME" $(FLAGS)

plan: env
	@python -m sumcurve plan "$$HOME_FOLDER/results" --study "$$NAMED" $${SET:+--set "$$SET"} $(FLAGS)

status: env
	@python -m sumcurve status "$$HOME_FOLDER/results" --study "$$NAMED"

# Kinds are marks of pytest (pyproject.toml): those that bring up servers or kill processes run in one process.
test: env
	@case "$$KIND" in
	"") python -m pytest -n 2 $(TESTS) ;;
	all) python -m pytest -n 2 -m "not slurm and not fault and not remote" $(TESTS) ;;
	long|slow) python -m pytest -n 2 -m "$$KIND" $(TESTS) ;;
	slurm|fault|remote) python -m pytest -p no:xdist -v -m "$$KIND" $(or $(TESTS),tests/workflow) ;;
	*) echo "KIND=$$KIND: long, slow, all, slurm, fault or remote" >&2; exit 2 ;;
	esac

lint: env
	@ruff check .
	ruff format --check .
	mypy
	python tests/rooms.py
	snakefmt --check Snakefile workflow
	snakemake --lint

# The default study's stages stand at the top, those of others in their folders.
STAGES := if grep -qxF "  - study: $$NAMED" dvc.yaml; then stages=dvc.yaml; else stages="studies/$$NAMED/dvc.yaml"; fi

pull: env
	@if [ -z "$$(dvc config core.remote || true)" ]; then
	    echo "no remote is named here, so that nothing can be pulled: 'dvc repro' makes the default study anew in about 21 minutes ('make plan STUDY=…' says how long another takes); the tables of what is recorded are in git, in results/tables. Where somebody has given you a remote, name it: dvc remote add --default (docs/explanations/reproducibility.md)" >&2
	    exit 1
	fi
	$(STAGES)
	dvc pull "$$stages:study" || { echo "not all of study $$NAMED was pulled: what came stays, and 'make pull' brings the rest, where it was pushed ('sumcurve verify --recorded' says what is here). Where DVC names unsaved files, the store has more than its lock: 'dvc commit $$stages' keeps them" >&2; exit 1; }
	python -m sumcurve unstore --study "$$NAMED"

# Tables of code, or of settings, that nobody can check out are no record.
record: env
	@changed=$$(git status --porcelain --untracked-files=no -- . ':!results' ':!studies' ':!dvc.lock'
	    git ls-files --others --exclude-standard -- config envs src workflow | sed 's/^/?? /')
	if [ -n "$$changed" ]; then printf 'commit these first, then record:\n%s\n' "$$changed" >&2; exit 1; fi
	make --no-print-directory study  # $$(MAKE) would run all of this under -n
	python -m sumcurve verify --record --study "$$NAMED"
	python -m sumcurve names --study "$$NAMED"
	python -m sumcurve store --study "$$NAMED"
	python -m sumcurve commit --study "$$NAMED"
	$(STAGES)
	if [ ! -f "$$stages" ]; then sed "s/^  - study: .*/  - study: $$NAMED/; s|^    home: .*|    home: ../..|" dvc.yaml > "$$stages"; fi
	dvc commit --force --quiet "$$stages"
	python docs/pages.py --study "$$NAMED"

# --- the environment: uv inside it, the lock of this Python's minor version, torch beside the lock. What a lock names is
# installed by its sha256 or not at all. torch and the CUDA packages of its build are known by their versions alone.

env: $(COMPLETE)

# Made beside the one there is, which jobs may still be using, and then named instead of it. One outside of this checkout may be in use elsewhere: it is never made anew.
$(COMPLETE): $(wildcard envs/*.txt) pyproject.toml
	@case "$(ENVIRONMENT)" in
	"$(CURDIR)"/*) ;;
	*) if [ -e "$(ENVIRONMENT)" ]; then
	       echo "environment: $(ENVIRONMENT), as it is: it is not this checkout's" >&2
	       exit 0
	   fi ;;
	esac
	minor=$$("$(PYTHON)" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2> /dev/null) || \
	    { echo "no $(PYTHON) on this machine: sumcurve needs Python 3.11 to 3.13 (make PYTHON=/path/to/python3.12 …)" >&2; exit 1; }
	test -f envs/lock-$$minor.txt || \
	    { echo "$(PYTHON) is Python $$minor: sumcurve needs 3.11 to 3.13 (make PYTHON=/path/to/python3.12 …)" >&2; exit 1; }
	case "$$(uname -m)" in
	x86_64) ! [ -r /proc/cpuinfo ] || grep -qw avx2 /proc/cpuinfo || sums="its CPU has no AVX2" ;;
	*) sums="it is $$(uname -m), where nobody has run this" ;;
	esac
	if [ -n "$${sums-}" ]; then
	    echo "this machine is not for the studies here: $$sums, and their sums need an x86-64 CPU with AVX2. Studies with 'sums: native' and the tools may run" >&2
	fi
	new="$(ENVIRONMENT)-$$(date +%Y%m%d-%H%M%S)"
	echo "environment: $$new, Python $$minor"
	"$(PYTHON)" -m venv "$$new"
	export PATH="$$new/bin:$$PATH" VIRTUAL_ENV="$$new"
	python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes \
	    -r <(sed -n '/^uv==/,/[^\\]$$/p' envs/lock-$$minor.txt)
	links=$${PIP_FIND_LINKS:-$$(python -m pip config get global.find-links 2> /dev/null || true)}
	export UV_FIND_LINKS="$${UV_FIND_LINKS:-$$(echo $$links | tr ' ' ',')}"
	uv pip install --quiet --compile-bytecode --no-deps --require-hashes -r envs/lock-$$minor.txt
	if [ -z "$$UV_FIND_LINKS" ]; then export UV_TORCH_BACKEND="$${UV_TORCH_BACKEND:-auto}"; fi  # the card's build, or the CPU's
	if ! uv pip install --quiet --compile-bytecode -r envs/torch.txt; then
	    echo "torch's own index, https://download.pytorch.org, did not answer: PyPI's build instead" >&2
	    env -u UV_TORCH_BACKEND uv pip install --quiet --compile-bytecode -r envs/torch.txt
	fi
	uv pip install --quiet --no-deps --no-build-isolation --editable .
	python -m sumcurve config --schema  # what editors and people read of the settings, from their descriptions
	touch "$$new/.complete"
	ln -s "$${new##*/}" "$$new.link"
	if [ -d "$(ENVIRONMENT)" ] && [ ! -L "$(ENVIRONMENT)" ]; then mv "$(ENVIRONMENT)" "$$new.before"; fi
	mv -T "$$new.link" "$(ENVIRONMENT)" 2> /dev/null || mv -h "$$new.link" "$(ENVIRONMENT)"  # GNU's way, or BSD's

# Its extensions are built against the torch that is installed first: neither isolated from it nor for a GPU, which
# the models here do not need them for.
fairseq-env: env $(FAIRSEQ_COMPLETE)

$(FAIRSEQ_COMPLETE): envs/fairseq/lock-3.11.txt envs/torch.txt
	@"$(FAIRSEQ_PYTHON)" -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' 2> /dev/null || \
	    { echo "fairseq needs Python 3.11, and $(FAIRSEQ_PYTHON) is none: make fairseq-env FAIRSEQ_PYTHON=/path/to/python3.11" >&2; exit 1; }
	echo "fairseq's environment: $(SUMCURVE_FAIRSEQ), Python 3.11; building it takes minutes"
	case "$$(cd "$$(dirname "$(SUMCURVE_FAIRSEQ)")" 2> /dev/null && pwd -P)/" in
	"$(CURDIR)"/*) rm -rf "$(SUMCURVE_FAIRSEQ)" ;;
	*) if [ -e "$(SUMCURVE_FAIRSEQ)" ]; then
	       echo "$(SUMCURVE_FAIRSEQ) is not in this checkout: delete it to have it made anew" >&2
	       exit 1
	   fi ;;
	esac
	uv venv --quiet --python "$(FAIRSEQ_PYTHON)" "$(SUMCURVE_FAIRSEQ)"
	export VIRTUAL_ENV="$$(cd "$(SUMCURVE_FAIRSEQ)" && pwd)"
	links=$${PIP_FIND_LINKS:-$$(python -m pip config get global.find-links 2> /dev/null || true)}
	export UV_FIND_LINKS="$${UV_FIND_LINKS:-$$(echo $$links | tr ' ' ',')}"
	unset CUDA_HOME
	locked="uv pip install --quiet --no-deps --require-hashes"
	$$locked -r <(sed '/^fairseq-fixed==/,/[^\\]$$/d' envs/fairseq/lock-3.11.txt)
	uv pip install --quiet -r envs/torch.txt
	$$locked --no-build-isolation -r <(sed -n '/^fairseq-fixed==/,/[^\\]$$/p' envs/fairseq/lock-3.11.txt)
	touch "$(SUMCURVE_FAIRSEQ)/.complete"

# The site's generator shares nothing with what computes: an environment of its own, in seconds.
docs: env .venv-docs/.complete
	@python -m sumcurve config --schema
	python docs/site.py
	.venv-docs/bin/zensical build --clean --strict

.venv-docs/.complete: envs/docs/lock.txt
	@rm -rf .venv-docs
	uv venv --quiet .venv-docs
	links=$${PIP_FIND_LINKS:-$$(python -m pip config get global.find-links 2> /dev/null || true)}
	export UV_FIND_LINKS="$${UV_FIND_LINKS:-$$(echo $$links | tr ' ' ',')}"
	VIRTUAL_ENV="$(CURDIR)/.venv-docs" uv pip install --quiet --no-deps --require-hashes -r envs/docs/lock.txt
	touch $@

# The head of this file.
help:
	@sed -n '/^$$/q;s/^# \{0,1\}//p' Makefile
