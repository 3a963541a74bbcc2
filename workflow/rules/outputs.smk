rule outputs:
    input:
        manifests("outputs", "decode"),
        manifests("outputs", "summarize"),


rule decode:
    input:
        inputs("outputs"),
    output:
        update(f"{RESULTS}/outputs/{{name}}/manifest.json"),
    log:
        f"{LOGS}/outputs/{{name}}.log",
    wildcard_constraints:
        name=names("outputs", "decode"),
    threads: PLAN.settings.threads
    resources:
        gpu=1,
        mem_mb=3000,
    shell:
        "python -m sumcurve decode {output:q} --log {log:q}"


rule summarize:
    input:
        inputs("outputs"),
    output:
        update(f"{RESULTS}/outputs/{{name}}/manifest.json"),
    log:
        f"{LOGS}/outputs/{{name}}.log",
    wildcard_constraints:
        name=names("outputs", "summarize"),
    resources:
        mem_mb=1000,
    shell:
        "python -m sumcurve summarize {output:q} --log {log:q}"
