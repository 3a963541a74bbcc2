# With network, where Snakemake runs: nothing that computes fetches anything.
rule fetch:
    """Fetch a pretrained model, files of the hub, a folder of a git repository, or a folder of another origin."""
    output:
        directory(str(Path(HOME) / "data/raw/{origin}-{name}")),
    log:
        f"{LOGS}/fetch-{{origin}}-{{name}}.log",
    wildcard_constraints:
        origin="[a-z]+",
        name="[0-9a-f]{8,16}|not-pinned",
    resources:
        mem_mb=2000,
    shell:
        "python -m sumcurve fetch {output:q} --log {log:q}"


rule fetch_file:
    """Fetch the records of an origin that is one file, as docstrings of packages."""
    output:
        update(str(Path(HOME) / "data/raw/{origin}-{name}.jsonl")),
    log:
        f"{LOGS}/fetch-{{origin}}-{{name}}.log",
    wildcard_constraints:
        origin="[a-z]+",
        name="[0-9a-f]{12}",
    threads: 2
    resources:
        mem_mb=2000,
    shell:
        "python -m sumcurve fetch {output:q} --log {log:q}"
