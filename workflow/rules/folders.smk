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
            begin(PLAN, Path(RESULTS), Path(workflow.persistence.path))
        except (DriverError, ManifestError) as error:
            raise WorkflowError(str(error)) from None
    return []


def manifests(step):
    """The manifests of all folders of a step."""
    return [f"{RESULTS}/{folder.key}/manifest.json" for folder in PLAN.named(step)]


def inputs_of(key):
    """The manifests and files that a folder is made from."""
    folder = PLAN.folder(key)
    made = [f"{RESULTS}/{one}/manifest.json" for one in folder.inputs]
    return made + places(folder) + pieces(folder)


def places(folder):
    """Where the files lie that a folder is made from, those of the checkout and those below the study's home."""
    return [str(CHECKOUT / file.at(Path(HOME))) for file in folder.files]


def inputs(wildcards):
    """As `inputs_of`, of the folder of a job."""
    verified()
    return inputs_of(f"{wildcards.step}/{wildcards.name}")


def pieces(folder):
    """What the shards of a corpus are asked for; nothing where it is finished and was made elsewhere, without them."""
    count = PLAN.shards.get(folder.name, 0)
    elsewhere = not Path(SHARDS, f"{folder.name}-of-{count}").exists()
    if elsewhere and Path(RESULTS, folder.key, "manifest.json").exists():
        return []
    return [
        f"{SHARDS}/{folder.name}-of-{count}/finish-{number:05d}.json"
        for number in range(count)
    ]


def mapped(wildcards):
    """What all shards of a corpus were read to."""
    work = f"{SHARDS}/{wildcards.name}-of-{wildcards.shards}"
    return [f"{work}/map-{number:05d}.json" for number in range(int(wildcards.shards))]


def raw_files(wildcards):
    """The raw content of a corpus."""
    return places(PLAN.folder(f"corpora/{wildcards.name}"))


def only(kind):
    """Wildcard patterns that match the folders of this kind that have a job each, and no other that is planned.

    They stand in every file's name that Snakemake compares: of a step's most frequent kind the others are named, so
    that they are short.
    """
    step = KINDS[kind].step
    together = {key for keys in PLAN.together.values() for key in keys}
    alone = [one for one in PLAN.named(step) if one.key not in together]
    counts = Counter(one.kind for one in alone)
    if not counts[kind]:
        return {"step": step, "name": NOTHING}
    others = together.union(one.key for one in alone if one.kind != kind)
    if kind == max(sorted(counts), key=counts.__getitem__):
        told = "|".join(sorted(key.partition("/")[2] for key in others))
        return {
            "step": step,
            "name": f"(?!(?:{told})/)[a-z0-9_-]+" if told else "[a-z0-9_-]+",
        }
    return {
        "step": step,
        "name": "|".join(one.name for one in alone if one.kind == kind),
    }


def needs(kind):
    """What a job that makes such a folder needs of a machine (`sumcurve.needs`); `runtime` are minutes."""

    def mem_mb(wildcards):
        asked = memory_mb(PLAN, PLAN.folder(f"{wildcards.step}/{wildcards.name}"))
        return doubled(asked, slurm_logs(kind, wildcards))

    def runtime(wildcards, attempt):
        folder = PLAN.folder(f"{wildcards.step}/{wildcards.name}")
        return minutes(PLAN, folder, attempt)

    return {"mem_mb": mem_mb, "runtime": runtime} | (
        {"gpu": 1} if KINDS[kind].gpu else {}
    )


def slurm_logs(rule, wildcards):
    """Where Snakemake's executor for Slurm keeps the logs of a job's failed attempts; nothing is there elsewhere."""
    logs = Path(workflow.persistence.path) / "slurm_logs"
    return logs / f"rule_{rule}" / f"{wildcards.step}_{wildcards.name}"


def cost(wildcards):
    """What orders trainings, the dearest first: a long one that starts last leaves the other cores idle."""
    run = PLAN.folder(f"runs/{wildcards.name}").specification
    fraction = PLAN.folder(run["fraction"]).specification
    size = fraction.get("percent") or fraction["records"]
    return run["source_tokens"] * run["target_tokens"] * size


def fetched(wildcards):
    """The lists of archives, fetched, that a file is harvested from; none where its packages are installed."""
    names = {
        raw.harvest.archives
        for raw in PLAN.raws
        if raw.harvest and str(raw.sha256).startswith(wildcards.name)
    }
    folder = Path(HOME) / "data/raw/archives"
    return [str(folder / f"{name}.csv") for name in names if name]
