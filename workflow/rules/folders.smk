# Which folders a step's rules make, and of what: questions to the plan.


def manifests(step, verb):
    """The manifests of a step's folders that this verb makes."""
    return [
        f"{RESULTS}/{folder.key}/manifest.json" for folder in PLAN.named(step, verb)
    ]


def inputs(step):
    """The manifests of the folders that a folder of this step is made from."""

    def of_wildcards(wildcards):
        folder = PLAN.folder(f"{step}/{wildcards.name}")
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
