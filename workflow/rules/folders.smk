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
        try:
            if asks_accounting():
                require_accounting()
            begin(PLAN, Path(RESULTS), Path(workflow.persistence.path))
            WRITTEN.write(Path(HOME))
        except (DriverError, ManifestError, OSError) as error:
            raise WorkflowError(str(error)) from None
    return []


def asks_accounting():
    """Whether it is Slurm's accounting that says how jobs stand."""
    slurm = workflow.executor_plugin.name == "slurm"
    return slurm and workflow.executor_settings.status_command == "sacct"


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

    `gpu` is how many its process leases: `sumcurve make` reads the same SUMCURVE_GPUS_PER_RUN. Its rule is called as
    its kind is, where it is not said.
    """
    step = KINDS[kind].step

    def mem_mb(wildcards):
        asked = processes(kind) * memory_mb(
            PLAN, PLAN.folder(f"{step}/{wildcards.name}")
        )
        return doubled(asked, slurm_logs(rule or kind, wildcards))

    def runtime(wildcards, attempt):
        key = f"{step}/{wildcards.name}"
        return minutes(PLAN, PLAN.folder(key), attempt, MOST_SECONDS.get(key))

    return {"mem_mb": mem_mb, "runtime": runtime} | (
        {"gpu": processes(kind)} if KINDS[kind].gpu else {}
    )


def processes(kind):
    """How many processes a job of this kind has: a training has one for each of its GPUs."""
    return GPUS_PER_RUN if KINDS[kind].together else 1


def slurm_logs(rule, wildcards):
    """Where Snakemake's executor for Slurm keeps the logs of a job's failed attempts; nothing is there elsewhere."""
    logs = Path(workflow.persistence.path) / "slurm_logs"
    return logs / f"rule_{rule}" / wildcards.name


def cost(wildcards):
    """What orders trainings, the dearest first: a long one that starts last leaves the other cores idle."""
    run = PLAN.folder(f"runs/{wildcards.name}").specification
    fraction = PLAN.folder(run["fraction"]).specification
    size = fraction.get("percent") or fraction["records"]
    return run["source_tokens"] * run["target_tokens"] * size
