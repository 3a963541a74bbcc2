TABLES = f"{RESULTS}/tables/{STUDY}"


rule tables:
    """The study's tables, report and metrics."""
    input:
        f"{TABLES}/manifest-{PLAN.tables}.json",
        f"{TABLES}/pages",  # not in git: beside pulled tables they are made once more, to the same bytes
        f"{TABLES}.json",


# The name of the manifest ends in a digest, as every folder's does: changed settings are a missing file here, too.
# A table without rows is not written, so that pages and figures are known by their folders alone.
rule compare:
    """Tables, figures and the report, from the scores of all systems."""
    input:
        [manifests(step) for step in STEPS[:-1]],
    output:
        report(
            directory(f"{TABLES}/pages"),
            patterns=["{rank}-{table}.html"],
            category="Tables",
            labels={"rank": "{rank}", "table": "{table}"},
        ),
        report(
            directory(f"{TABLES}/figures"),
            patterns=["{figure}.svg"],
            category="Figures",
            labels={"figure": "{figure}"},
        ),
        manifest=f"{TABLES}/manifest-{PLAN.tables}.json",
    log:
        f"{LOGS}/tables/{STUDY}.log",
    resources:
        mem_mb=2000,
    shell:
        "python -m sumcurve tables {output.manifest:q} --log {log:q}"


rule metrics:
    """Metrics of the study, which `dvc metrics diff` compares between commits."""
    input:
        rules.compare.output.manifest,
    output:
        f"{TABLES}.json",
    log:
        f"{LOGS}/tables/{STUDY}-metrics.log",
    params:
        results=lambda wildcards, output: Path(output[0]).parents[1],
        study=STUDY,
    shell:
        "python -m sumcurve metrics {params.results:q} --study {params.study:q} > {log:q} 2>&1"
