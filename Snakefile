# The study that config/config.yaml names, or `--config study=NAME`; `--config home=FOLDER` puts all it makes elsewhere.
# From another folder (`snakemake -s CHECKOUT/Snakefile`) all is made there, and nothing is written into the checkout.
import os
import sys
from collections import Counter
from contextlib import chdir
from functools import cache
from itertools import chain
from pathlib import Path

from snakemake.settings.types import DeploymentMethod
from snakemake.utils import min_version

min_version("9.0")
# The code that jobs run is the code that named their folders, whatever else is installed.
SOURCE = str(Path(workflow.basedir) / "src")
sys.path.insert(0, SOURCE)
os.environ.update(PYTHONPATH=SOURCE)

from sumcurve.cli.messages import ERRORS
from sumcurve.cli.raw import pin
from sumcurve.cli.studies import measured_costs
from sumcurve.machine.devices import PER_RUN, DeviceError, per_run, pool
from sumcurve.machine.ending import end_children_first
from sumcurve.machine.spelling import there_are
from sumcurve.store.manifest import ManifestError
from sumcurve.study.needs import doubled, light, memory_mb, minutes
from sumcurve.study.plan import Plan
from sumcurve.study.kinds import KINDS, STEPS
from sumcurve.study.written import WrittenPlan
from sumcurve.watch.archives import take_back
from sumcurve.watch.driver import DriverError, begin, say
from sumcurve.watch.estimate import estimate, headline, most_seconds
from sumcurve.watch.slurm import require_accounting, require_retriable, watch_queue

CONFIG_KEYS = ("study", "home", "at_limit", "gpus_per_run", "light_steps")
AWAY = not Path(workflow.basedir).samefile(Path.cwd())
# Before the paths that a configuration names.
CHECKOUT = f"{workflow.basedir}/" if AWAY else ""


configfile: f"{CHECKOUT}config/config.yaml"


report: "workflow/report/study.rst"


# Used with `--software-deployment-method apptainer` only; built from envs/apptainer.def.
container: "envs/sumcurve.sif"


# What runs is this environment, or the image: rules name no environments that conda could make.
if DeploymentMethod.CONDA in workflow.deployment_settings.deployment_method:
    raise WorkflowError(
        "--sdm conda makes nothing here, since no rule names an environment: make one with `make env`, for which `conda "
        "env create -f envs/conda.yaml` brings a Python where there is none, and leave the option out"
    )
HOME = config.pop("home", ".")
if not isinstance(HOME, str):
    raise WorkflowError(f"--config home={HOME}: give the path of a folder")
if AWAY:
    HOME = str(Path(HOME).absolute())
    os.environ.update(SUMCURVE_CHECKOUT=workflow.basedir)
# These three are a profile's: what jobs run at their time's end, how many GPUs each training has, and whether steps of
# seconds become jobs of a cluster.
if "at_limit" in config:
    os.environ.update(SUMCURVE_AT_LIMIT=config.pop("at_limit"))
if "gpus_per_run" in config:
    os.environ.update({PER_RUN: str(config.pop("gpus_per_run"))})
LIGHT_STEPS = config.pop("light_steps", "jobs")
if LIGHT_STEPS not in ("jobs", "here"):
    raise WorkflowError(f"--config light_steps={LIGHT_STEPS}: say `jobs` or `here`")
LIGHT_HERE = LIGHT_STEPS == "here"
for key in config.keys() - {"study"}:
    raise WorkflowError(
        f"--config {key}=…: no key of this workflow; {there_are(key, CONFIG_KEYS)}"
    )
if not isinstance(config["study"], str):
    raise WorkflowError(f"--config study={config['study']}: give the name of a study")
# `workflow.dryrun` is not known yet.
IS_DRY = workflow.output_settings.dryrun
MAKES = workflow.is_main_process and not IS_DRY
try:
    with chdir(workflow.basedir):
        if MAKES:  # first: names of folders rest on the content that is pinned
            pin(config["study"])
        PLAN = Plan.read(Path("config"), config["study"])
    GPUS_PER_RUN, SHARES = per_run(os.environ)
    if MAKES:  # what a pull brought
        take_back(PLAN, Path(HOME) / "results", say)
except (OSError, *ERRORS) as error:
    raise WorkflowError(str(error)) from None
STUDY = PLAN.study
WRITTEN = WrittenPlan.of(PLAN)
# Jobs read the plan's file, which a run writes before its first job.
PLAN_FILE = WRITTEN.path(Path(HOME))
RESULTS = str(Path(HOME) / "results")
LOGS = str(Path(HOME) / "logs")
if workflow.is_main_process:
    try:
        with chdir(workflow.basedir):
            BASIS, RECORDED, _ = measured_costs()
            ESTIMATED = estimate(PLAN, Path(RESULTS), BASIS, None, RECORDED)
    except ERRORS as error:
        raise WorkflowError(str(error)) from None
    say(headline(PLAN, ESTIMATED, os.cpu_count() or 1))
    if IS_DRY:
        say("`--quiet rules` counts the jobs of a dry run and lists none")


wildcard_constraints:
    name=r"[a-z0-9_-]+",


include: "workflow/rules/folders.smk"
include: "workflow/rules/make.smk"
include: "workflow/rules/corpora.smk"
include: "workflow/rules/tables.smk"


localrules:
    all,
    fetch,
    fetch_file,
    metrics,


if LIGHT_HERE:
    workflow.localrules(*light(PLAN))


rule all:
    """The study: all of its folders, tables, report and metrics."""
    default_target: True
    input:
        verified,
        [manifests(step) for step in STEPS[:-1]],
        rules.tables.input,
