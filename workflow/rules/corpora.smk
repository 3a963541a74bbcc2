# With network, where Snakemake runs: nothing that computes fetches anything. A pretrained model, files of the hub, a folder
# of a git repository (with git, unless a copy lies beside it), or the folder of an origin that a capability brings.
rule fetch:
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


# The same of an origin that is one file, as docstrings of packages.
rule fetch_file:
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
