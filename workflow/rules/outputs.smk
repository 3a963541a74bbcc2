rule outputs:
    input:
        manifests("outputs", "decode"),
        manifests("outputs", "trivial"),


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


rule trivial:
    input:
        inputs("outputs"),
    output:
        update(f"{RESULTS}/outputs/{{name}}/manifest.json"),
    log:
        f"{LOGS}/outputs/{{name}}.log",
    wildcard_constraints:
        name=names("outputs", "trivial"),
    resources:
        mem_mb=1000,
    shell:
        "python -m sumcurve trivial {output:q} --log {log:q}"
