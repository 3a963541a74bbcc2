rule corpora:
    input:
        manifests("corpora", "corpus"),
        manifests("corpora", "fraction"),


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


rule corpus:
    input:
        lambda wildcards: str(PLAN.raw_path(wildcards.name, Path(HOME))),
    output:
        update(f"{RESULTS}/corpora/{{name}}/manifest.json"),
    log:
        f"{LOGS}/corpora/{{name}}.log",
    wildcard_constraints:
        name=names("corpora", "corpus"),
    resources:
        mem_mb=3000,
    shell:
        "python -m sumcurve corpus {output:q} --log {log:q}"


rule fraction:
    input:
        inputs("corpora"),
    output:
        update(f"{RESULTS}/corpora/{{name}}/manifest.json"),
    log:
        f"{LOGS}/corpora/{{name}}.log",
    wildcard_constraints:
        name=names("corpora", "fraction"),
    resources:
        mem_mb=1000,
    shell:
        "python -m sumcurve fraction {output:q} --log {log:q}"
