# Which folders a step's rules make, and of what: questions to the plan.


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


def manifests(step, verb):
    """The manifests of a step's folders that this verb makes."""
    return [
        f"{RESULTS}/{folder.key}/manifest.json" for folder in PLAN.named(step, verb)
    ]


def inputs(step):
    """The manifests of the folders that a folder of this step is made from."""

    def of_wildcards(wildcards):
        folder = PLAN.folder(f"{step}/{wildcards.name}")
        verified()
        return [f"{RESULTS}/{key}/manifest.json" for key in folder.inputs]

    return of_wildcards


def names(step, verb):
    """A wildcard pattern that matches this verb's folders and nothing else."""
    return "|".join(folder.name for folder in PLAN.named(step, verb)) or "none"


def cost(wildcards):
    """What orders trainings, the dearest first: a long one that starts last leaves the other cores idle."""
    run = PLAN.folder(f"runs/{wildcards.name}").specification
    percent = PLAN.folder(run["fraction"]).specification["percent"]
    return run["source_tokens"] * run["target_tokens"] * percent
