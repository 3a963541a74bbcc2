rule corpora:
    input:
        manifests("corpora"),


rule harvest:
    output:
        update(str(Path(HOME) / "data/raw/harvest-{name}.jsonl")),
    log:
        f"{LOGS}/harvest-{{name}}.log",
    threads: 2
    resources:
        mem_mb=2000,
    shell:
        "python -m sumcurve harvest {output:q} --log {log:q}"


# With network, where Snakemake runs: nothing that computes fetches anything.
rule fetch:
    output:
        directory(str(Path(HOME) / "data/raw/model-{name}")),
    log:
        f"{LOGS}/fetch-{{name}}.log",
    resources:
        mem_mb=2000,
    shell:
        "python -m sumcurve fetch {output:q} --log {log:q}"


use rule folder as corpus with:
    wildcard_constraints:
        name=names("corpus"),
    resources:
        **needs("corpus"),


use rule folder as fraction with:
    wildcard_constraints:
        name=names("fraction"),
    resources:
        **needs("fraction"),
