from sumcurve.tables import TABLES as RANKED

TABLES = f"{RESULTS}/tables/{STUDY}"


rule tables:
    input:
        f"{TABLES}/manifest-{PLAN.tables}.json",


# The name of the manifest ends in a digest, as every folder's does: changed settings are a missing file here, too.
# A table without rows is not written, so that the pages are known by their folder alone.
rule compare:
    input:
        rules.corpora.input,
        rules.annotations.input,
        rules.runs.input,
        rules.outputs.input,
        rules.scores.input,
    output:
        report(
            directory(f"{TABLES}/pages"),
            patterns=["{rank}-{table}.html"],
            category="Tables",
            labels={"rank": "{rank}", "table": "{table}"},
        ),
        report(
            f"{TABLES}/curves.svg",
            category="Figures",
            labels={"figure": "learning curves"},
        ),
        manifest=f"{TABLES}/manifest-{PLAN.tables}.json",
    log:
        f"{LOGS}/tables/{STUDY}.log",
    resources:
        mem_mb=2000,
    shell:
        "python -m sumcurve tables {output.manifest} --log {log}"
