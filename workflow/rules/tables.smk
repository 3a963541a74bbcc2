TABLES = f"{RESULTS}/tables/{STUDY}"


rule tables:
    input:
        f"{TABLES}/manifest-{PLAN.tables}.json",


# The name of the manifest ends in a digest, as every folder's does: changed settings are a missing file here, too.
# A table without rows is not written, so that pages and figures are known by their folders alone.
rule compare:
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
