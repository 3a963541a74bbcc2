# Which folders a step's rules make, and of what: questions to the plan.


NOTHING = "(?!)"  # a pattern without a match


# Called for the inputs of every job, because there Snakemake knows what it was asked for: neither a dry run nor `--touch`
# nor a job's own process verifies. It gives no file: what was verified once may be damaged the next time.
def verified(wildcards=None):
    """No files, after the study was verified, once in a run; an error names what is damaged."""
    executes = workflow.executor_plugin is not None and not (
        workflow.dryrun or workflow.touch
    )
    if executes and workflow.is_main_process:
        start()
    return []


@cache
def start():
    """Verify the study, write its plan, and have the run end where it must; local jobs share the GPUs that are there.

    The cache keeps what it gives, the open file by which another run sees this one, until the process ends.
    """
    state = Path(workflow.persistence.path)
    slurm = workflow.executor_plugin.name == "slurm"
    try:
        if slurm and workflow.executor_settings.status_command == "sacct":
            require_accounting()
        joined = begin(PLAN, Path(RESULTS), state)
        WRITTEN.write(Path(HOME))
        if workflow.local_exec and "gpu" not in workflow.global_resources:
            if cards := len(pool(dict(os.environ))):
                workflow.register_resource("gpu", cards * SHARES)
    except (DriverError, ManifestError, DeviceError, OSError) as error:
        raise WorkflowError(str(error)) from None
    if slurm:
        end_children_first()
        watch_queue(state)
    return joined


def manifests(step):
    """The manifests of a step's folders; of those that one process makes, of the one that stands for all."""
    keys = (STANDS.get(folder.key, folder.key) for folder in PLAN.named(step))
    return [f"{RESULTS}/{key}/manifest.json" for key in dict.fromkeys(keys)]


def inputs_of(key):
    """The manifests and files that a folder is made from."""
    folder = PLAN.folder(key)
    keys = dict.fromkeys(STANDS.get(one, one) for one in folder.inputs)
    made = [f"{RESULTS}/{one}/manifest.json" for one in keys]
    return made + places(folder)


def places(folder):
    """Where the files lie that a folder is made from, those of the checkout and those below the study's home."""
    paths = [CHECKOUT / file.at(Path(HOME)) for file in folder.files]
    for file, path in zip(folder.files, paths):
        if not (file.harvested or path.exists() or is_made(folder.key)):
            raise WorkflowError(file.problem(Path(HOME), STUDY))
    return [str(path) for path in paths]


def is_made(key):
    return os.path.exists(f"{RESULTS}/{key}/manifest.json")


def made_from(step):
    """What a job of this step reads: as `inputs_of`, of all folders that its process makes.

    A folder of such a set that is asked for by its name is made alone.
    """

    def inputs(wildcards):
        verified()
        key = f"{step}/{wildcards.name}"
        made = chain.from_iterable(map(inputs_of, LAST.get(key, [key])))
        return list(dict.fromkeys(made))

    return inputs


def only(kind):
    """A pattern of the wildcard that matches the folders of this kind, and no other of its step that is planned.

    It stands in every file's name that Snakemake compares: of a step's most frequent kind the others are named, so that
    it is short. Scores are known by their scorer, which stands in their names.
    """
    step = KINDS[kind].step
    if step == "scores":
        return {"name": named_by(set(PLAN.scorers).difference(OF_CORPORA))}
    counts = Counter(one.kind for one in PLAN.named(step))
    if not counts[kind]:
        return {"name": NOTHING}
    if kind != max(sorted(counts), key=counts.__getitem__):
        return {"name": "|".join(one.name for one in PLAN.named(step, kind))}
    told = "|".join(one.name for one in PLAN.named(step) if one.kind != kind)
    return {"name": f"(?!(?:{told})/)[a-z0-9_-]+" if told else "[a-z0-9_-]+"}


def named_by(scorers):
    """A pattern of the names of scores that these scorers give."""
    told = "|".join(sorted(scorers))
    return f"[a-z0-9_-]+-(?:{told})-[0-9a-f]+" if told else NOTHING


OF_CORPORA = {name for _, by, name in PLAN.together if by == "scorer"}


def last(keys):
    """The last of these folders that is missing, or the last of them."""
    return ([key for key in keys if not is_made(key)] or keys)[-1]


# Sets of folders that one process makes, by the folder that stands for each: its job makes what is missing and verifies
# the others. So a set is one job to Snakemake, done where all of its folders are there.
LAST = {last(keys): keys for keys in PLAN.together.values()}
STANDS = {key: standing for standing, keys in LAST.items() for key in keys}


def arguments(step):
    """What tells a job of this step to make a set where its folder stands for one."""
    return lambda wildcards: "--together" * (f"{step}/{wildcards.name}" in LAST)


def needs(kind, rule=None):
    """What a job that makes such a folder needs of a machine (`sumcurve.study.needs`); `runtime` are minutes.

    `gpu` is how many its process leases: `sumcurve make` reads the same SUMCURVE_GPUS_PER_RUN; `here` is a place among
    the jobs beside Snakemake, of which a cluster's profile says how many. Its rule is called as its kind is, where it
    is not said.
    """
    step = KINDS[kind].step

    def mem_mb(wildcards):
        asked = processes(kind) * memory_mb(
            PLAN, PLAN.folder(f"{step}/{wildcards.name}")
        )
        return doubled(asked, slurm_logs(rule or kind, wildcards))

    def runtime(wildcards, attempt):
        key = f"{step}/{wildcards.name}"
        if attempt > 1 and workflow.is_main_process:
            logs = slurm_logs(rule or kind, wildcards)
            require_retriable(logs, Path(LOGS) / f"{key}.log", attempt)
        return minutes(PLAN.folder(key), attempt, bounds(prepared()).get(key))

    needed = {"mem_mb": mem_mb, "runtime": runtime}
    needed |= {"gpu": processes(kind)} if KINDS[kind].gpu else {}
    return needed | ({"here": 1} if LIGHT_HERE and KINDS[kind].light else {})


def prepared():
    """How many corpora are finished: the plan has bounds of what is made from them."""
    return sum(is_made(one.key) for one in PLAN.named("corpora", "corpus"))


@cache
def bounds(corpora):
    """The most seconds of a job, by the key of a folder that it makes; no job asks for another."""
    if not workflow.is_main_process:
        return {}
    return most_seconds(PLAN, Path(RESULTS), BASIS, RECORDED)


def processes(kind):
    """How many processes a job of this kind has: a training has one for each of its GPUs."""
    return GPUS_PER_RUN if KINDS[kind].together else 1


def with_run(kind):
    """The group of a job: a cluster gives a training one allocation with what decodes with it, which takes seconds.

    None for other kinds, and where jobs of seconds become jobs of the cluster.
    """

    def group(wildcards):
        folder = PLAN.folder(f"{KINDS[kind].step}/{wildcards.name}")
        run = folder.specification.get(
            "run", folder.key if folder.step == "runs" else None
        )
        return run.partition("/")[2] if run and LIGHT_HERE else None

    return group if KINDS[kind].gpu else None


def slurm_logs(rule, wildcards):
    """The logs that Snakemake's executor for Slurm keeps of a job's failed attempts; there are none elsewhere."""
    logs = Path(workflow.persistence.path) / "slurm_logs"
    group = with_run(rule) if rule in KINDS else None
    if name := group and group(wildcards):
        return list(logs.glob(f"group_{name}_*/*.log"))  # then its rules
    return list(logs.glob(f"rule_{rule}/{wildcards.name}/*.log"))


def cost(wildcards):
    """What orders trainings, the dearest first: a long one that starts last leaves the other cores idle."""
    run = PLAN.folder(f"runs/{wildcards.name}").specification
    fraction = PLAN.folder(run["fraction"]).specification
    size = fraction.get("percent") or fraction["records"]
    return run["source_tokens"] * run["target_tokens"] * size
