# The user interface in a screen. Nothing here needs root.
#
#   make study                the environment, the corpus, every training of the study, its tables and report
#   make study STUDY=other    the same for config/studies/other.yaml
#   make study SET="seeds=[1,2] form=small"  with these keys of the study set: a study of its own, written and named
#   make test                 the environment and the test suite
#   make test-long            the tests that take whole studies and trainings, in about 13 minutes; CI runs them, too
#   make slurm-test           the smoke study through a throw-away Slurm on this machine; needs root
#   make fault-test           studies killed and harmed at ten moments of each kind, in less than an hour
#   make remote-test          push, pull and edits over a throw-away sshd on this machine; needs its packages
#   make demo                 a demonstration in about 7 minutes: two methods, two small sizes, two seeds
#   make smoke                everything, tiny, in scratch/, in about 3 minutes
#   make verify               hash every file of the study and name what is damaged (every run does so, too)
#   make record               the study, verified and made by committed code, into dvc.lock; its numbers into the pages
#   make pages                numbers of recorded tables into README.md and docs/
#   make reproduce            rebuild the recorded study in scratch/reproduce and name the first thing that differs
#   make trace CELL=…         walk a cell of a table (scores:7:rouge1) back to the raw corpus, recomputing it and every hash
#   make status               what of the study is finished, at work, waiting or failed, and the hours left
#   make plan STUDY=…         what it would cost before it starts: jobs, core- and GPU-hours with intervals, disk, remote
#   make pack TO=… [STUDY=…]  what tables need of each finished training, without weights, a small archive each
#   make merge FROM=…         take up such archives of another checkout; the study goes on with what is missing
#   make prune                list results that no study needs any more, and ask whether to delete them
#   make partial STUDY=…      tables of what is finished of a study, marked as a part
#   make add CORPUS=… NAME=…  a study of a corpus of your own, written from its data (FLAGS=… as `sumcurve add -h` says)
#   make trials               what config/trials.csv lacks of the trials that chose the small form
#   make trials TRIALS=…      the same for another study with a grid: trials-large, of the large form
#   make fairseq-env          fairseq, for methods of `kind: fairseq`: an environment of its own, built once in minutes
#   make docs                 the documents as a site, in site/; a link that leads nowhere is an error
#   make help                 this list
#   make lint  bench  pull  push  recipes  schema  lock  clean-env

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
CELL ?=
CORPUS ?=
FROM ?=
TO ?=
NAME ?=
SET ?=
FLAGS ?=
TESTS ?=
TRIALS ?= trials
HOME_FOLDER ?= .
# fairseq's own environment, for methods of `kind: fairseq`; it needs Python 3.11 with its headers, and a C++ compiler.
SUMCURVE_FAIRSEQ ?= .venv-fairseq
FAIRSEQ_PYTHON ?= python3.11
export SUMCURVE_FAIRSEQ
# A folder of workflow/profiles; Snakemake takes `default` by itself, by the link `profiles`, beside the Snakefile.
PROFILE ?=

# In recipes these are the shell's own variables: what a file or somebody says is read neither by make nor as shell.
$(foreach name,CELL CORPUS FROM TO NAME SET STUDY TRIALS HOME_FOLDER,$(eval override $(name) := $$(value $(name))))
export CELL CORPUS FROM TO NAME SET STUDY TRIALS HOME_FOLDER
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

.PHONY: study run help test test-long test-all slurm-test fault-test remote-test demo smoke lint bench pull push verify record pages reproduce trace status plan pack merge prune partial add trials recipes schema lock env fairseq-env docs clean-env

study: env
	@$(MAKE) --no-print-directory run

# Everything but the environment; DVC's stage is this. Snakemake verifies all that is there before its first job.
run:
	@mkdir -p "$$HOME_FOLDER/scratch" "$$HOME_FOLDER/logs"
	if [ -n "$$SET" ]; then NAMED=$$(python -m sumcurve override "$$SET" --study "$$NAMED"); fi
	python -m sumcurve pin --study "$$NAMED"  # first: names rest on the content
	watched=(python -m sumcurve watch --study "$$NAMED" --results "$$HOME_FOLDER/results" --)
	"$${watched[@]}" $(SNAKEMAKE) $(CONFIG)
	# Not in git: where the tables were pulled they are made once more, to the same bytes, and the pages with them.
	pages="$$HOME_FOLDER/results/tables/$$NAMED/pages"
	if [ ! -d "$$pages" ]; then "$${watched[@]}" $(SNAKEMAKE) $(CONFIG) --forcerun compare; fi
	python -m sumcurve metrics "$$HOME_FOLDER/results" --study "$$NAMED"
	report="$$HOME_FOLDER/scratch/report.html"
	rm -f "$$report"
	snakemake --report "$$report" $(CONFIG) > "$$HOME_FOLDER/logs/report.log" 2>&1 || \
	    { cat "$$HOME_FOLDER/logs/report.log" >&2; exit 1; }
	mv "$$report" "$$HOME_FOLDER/results/tables/$$NAMED/report.html"
	echo "Report: $$pages/report.html"

# The head of this file.
help:
	@sed -n '/^$$/q;s/^# \{0,1\}//p' Makefile

test: env
	python -m pytest -n 2 $(TESTS)

# What breaks rarely and takes long; continuous integration runs it before `make test`.
test-long: env
	python -m pytest -n 2 -m long $(TESTS)

test-all: env
	python -m pytest -n 2 -m "not slurm and not fault and not remote" $(TESTS)

# Needs root and Slurm's programs; installs nothing, says what is missing, and takes down what it brings up.
slurm-test: env
	python -m pytest -p no:xdist -m slurm tests/workflow/test_slurm.py

# Ten moments of each kind of fault; the seed is in the first lines. Disks that are full and checkouts that nobody can
# write need root, and are skipped without.
fault-test: env
	python -m pytest -p no:xdist -v -m fault $(or $(TESTS),tests/workflow/test_faults.py tests/workflow/test_edits.py)

# Needs OpenSSH's server and dvc-ssh; installs nothing, says what is missing, and takes down what it brings up.
remote-test: env
	python -m pytest -p no:xdist -v -m remote tests/workflow/test_remote.py

demo: env
	$(MAKE) --no-print-directory run STUDY=demo

smoke: env
	$(MAKE) --no-print-directory run STUDY=smoke HOME_FOLDER=scratch/smoke

lint: env
	ruff check .
	ruff format --check .
	mypy
	python tests/rooms.py
	snakefmt --check Snakefile workflow
	snakemake --lint

# Those that print a ratio; benchmarks/README.md has the others, some of which take hours.
bench: env
	for name in parameters pcov_step beam_search pretrained apes rewards rouge oracle_searches; do python benchmarks/$$name.py; done

# A run and a pull keep each other out by the lock that drivers share. Snakemake goes by times, and a pull gives files
# times in no order: touching is honest only where all is as recorded, by DVC and by the hash of every file.
pull: env
	if [ -z "$$(dvc config core.remote || true)" ]; then
	    echo "no remote is named here, so that nothing can be pulled: 'make study' makes all of the study, in about 60 minutes; the tables of what is recorded are in git, in results/tables. Where somebody has given you a remote, name it: dvc remote add --default (docs/how-to/share-results.md)" >&2
	    exit 1
	fi
	mkdir -p .snakemake
	lock=0
	flock --nonblock --conflict-exit-code 75 .snakemake/drivers.lock dvc pull || lock=$$?
	case $$lock in
	0) ;;
	75) echo "a study is running here: a pull would write over what it makes; let it end, or stop it (Ctrl-C)" >&2; exit 1 ;;
	*) echo "not all was pulled, and nothing that is not recorded was written over: what came stays, and 'make pull' brings the rest. Files that DVC will not remove are yours: move their folders elsewhere first" >&2; exit 1 ;;
	esac
	python -m sumcurve verify
	if dvc status --quiet study; then
	    snakemake --touch --forceall --quiet all
	    mkdir -p logs
	    default=$$($(STUDY_OF) config/config.yaml)
	    for tables in results/tables/*/manifest-*.json; do  # those that were recorded beside it, where their folders came
	        other=$$(basename "$$(dirname "$$tables")")
	        if [ "$$other" != "$$default" ] && python -m sumcurve verify --record --study "$$other" >> logs/pull.log 2>&1; then
	            snakemake all --touch --forceall --quiet --config "study=$$other"
	        fi
	    done
	else
	    echo "the study, its code or its configuration is not as recorded (dvc status): no times were touched, and the next run verifies what it needs" >&2
	fi

push: env
	dvc push || { echo "not all has arrived at the remote: what did stays there, nothing here has changed, and 'make push' sends the rest" >&2; exit 1; }

verify: env
	python -m sumcurve verify "$$HOME_FOLDER/results" --study "$$NAMED"

# Tables of code, or of settings, that nobody can check out are no record.
record: env
	changed=$$(git status --porcelain --untracked-files=no -- . ':!results' ':!dvc.lock'
	    git ls-files --others --exclude-standard -- config envs src workflow | sed 's/^/?? /')
	if [ -n "$$changed" ]; then printf 'commit these first, then record:\n%s\n' "$$changed" >&2; exit 1; fi
	$(MAKE) --no-print-directory run
	python -m sumcurve verify --record --study "$$NAMED"
	dvc commit --force --quiet study verify  # both: dvc repro would write what is not in dvc.lock into it
	python docs/pages.py --study "$$NAMED"

pages: env
	python docs/pages.py
	python docs/papers.py

# Trainings of the recorded study once more, from the harvest on; takes as long as the study.
reproduce: env
	rm -rf scratch/reproduce
	mkdir -p scratch/reproduce
	$(SNAKEMAKE) --config "study=$$NAMED" home=scratch/reproduce
	python -m sumcurve reproduce scratch/reproduce/results --study "$$NAMED"

trace: env
	python -m sumcurve trace $${CELL:+"$$CELL"} --study "$$NAMED" --results "$$HOME_FOLDER/results"

status: env
	python -m sumcurve status "$$HOME_FOLDER/results" --study "$$NAMED"

plan: env
	python -m sumcurve plan "$$HOME_FOLDER/results" --study "$$NAMED" $${SET:+--set "$$SET"} $(FLAGS)

pack: env
	python -m sumcurve pack --study "$$NAMED" --to "$$TO" --results "$$HOME_FOLDER/results" $(FLAGS)

merge: env
	python -m sumcurve merge "$$FROM" $(if $(STUDY),--study "$$STUDY") --results "$$HOME_FOLDER/results"

prune: env
	python -m sumcurve prune "$$HOME_FOLDER/results" $(FLAGS)

partial: env
	python -m sumcurve tables "$$HOME_FOLDER/results/tables/$$NAMED" --partial

add: env
	: "$${CORPUS:?CORPUS=… is missing: a file or a folder of raw records}"
	: "$${NAME:?NAME=… is missing: of the corpus and of its study}"
	python -m sumcurve add "$$CORPUS" --name "$$NAME" $(FLAGS)

trials: env
	for stage in first again last; do  # each is planned by the rows of those before
	    $(SNAKEMAKE) runs outputs --config "study=$$TRIALS" "home=$$HOME_FOLDER"
	    python -m sumcurve trials --study "$$TRIALS" --home "$$HOME_FOLDER"
	done

recipes: env
	python -m sumcurve recipes

# What editors and people read of the configuration: config/schema, config/README.md.
schema: env
	python -m sumcurve config --schema

# --- the environment: uv inside it, the lock of this Python's minor version, torch beside the lock. What a lock names is
# installed by its sha256 or not at all. torch and the CUDA packages of its build are known by their versions alone.

env: $(COMPLETE)

# Made beside the one there is, which jobs may still be using, and then named instead of it; `make clean-env` removes
# them all. One outside of this checkout may be in use elsewhere: it is never made anew.
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
	new="$(ENVIRONMENT)-$$(date +%Y%m%d-%H%M%S)"
	echo "environment: $$new, Python $$minor"
	"$(PYTHON)" -m venv "$$new"
	export PATH="$$new/bin:$$PATH" VIRTUAL_ENV="$$new"
	python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes \
	    -r <(sed -n '/^uv==/,/[^\\]$$/p' envs/lock-$$minor.txt)
	links=$${PIP_FIND_LINKS:-$$(python -m pip config get global.find-links 2> /dev/null || true)}
	export UV_FIND_LINKS="$${UV_FIND_LINKS:-$$(echo $$links | tr ' ' ',')}"
	uv pip install --quiet --compile-bytecode --no-deps --require-hashes -r envs/lock-$$minor.txt
	uv pip install --quiet --compile-bytecode -r envs/torch.txt
	uv pip install --quiet --no-deps --no-build-isolation --editable .
	touch "$$new/.complete"
	ln -s "$${new##*/}" "$$new.link"
	if [ -d "$(ENVIRONMENT)" ] && [ ! -L "$(ENVIRONMENT)" ]; then mv "$(ENVIRONMENT)" "$$new.before"; fi
	mv -T "$$new.link" "$(ENVIRONMENT)" 2> /dev/null || mv -h "$$new.link" "$(ENVIRONMENT)"  # GNU's way, or BSD's

# With all that came before it, and what an interrupted making left.
clean-env:
	rm -rf "$(ENVIRONMENT)" "$(ENVIRONMENT)"-[0-9]*

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
	python docs/site.py
	.venv-docs/bin/zensical build --clean --strict

.venv-docs/.complete: envs/docs/lock.txt
	rm -rf .venv-docs
	uv venv --quiet .venv-docs
	links=$${PIP_FIND_LINKS:-$$(python -m pip config get global.find-links 2> /dev/null || true)}
	export UV_FIND_LINKS="$${UV_FIND_LINKS:-$$(echo $$links | tr ' ' ',')}"
	VIRTUAL_ENV="$(CURDIR)/.venv-docs" uv pip install --quiet --no-deps --require-hashes -r envs/docs/lock.txt
	touch $@

# Resolve the locks again (needs uv and each Python); torch stays out of them, and so does what only a CUDA build needs.
lock: env
	envs/lock.sh
