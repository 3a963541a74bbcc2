TABLES = f"{RESULTS}/tables/{STUDY}"


rule tables:
    input:
        f"{TABLES}/manifest-{PLAN.tables}.json",


# The name of the manifest ends in a digest, as every folder's does: changed settings are a missing file here, too.
rule compare:
    input:
        rules.corpora.input,
        rules.annotations.input,
        rules.runs.input,
        rules.outputs.input,
        rules.scores.input,
    output:
        report(
            f"{TABLES}/curves.svg",
            caption="../report/curves.rst",
            category="Learning curves",
        ),
        report(
            f"{TABLES}/oracle.svg",
            caption="../report/oracle.rst",
            category="Extracts",
        ),
        *(
            report(
                f"{TABLES}/{table}.html",
                caption=f"../report/{table}.rst",
                category="Tables",
                labels={"table": table},
            )
            for table in (
                "scores",
                "intervals",
                "comparisons",
                "differences",
                "sigma",
                "efficiency",
                "stopping",
                "seeds",
                "families",
                "verdicts",
                "oracle_corpora",
                "oracle_scores",
                "oracle_pairs",
                "oracle_features",
                "oracle_timings",
                "searches",
                "methods",
                "timings",
                "corpora",
                "dropped",
            )
        ),
        manifest=f"{TABLES}/manifest-{PLAN.tables}.json",
    log:
        f"{LOGS}/tables/{STUDY}.log",
    resources:
        mem_mb=2000,
    shell:
        "python -m sumcurve tables {output.manifest:q} --log {log:q}"
