rule annotations:
    input:
        manifests("annotations", "annotate"),
        manifests("annotations", "entities"),
        manifests("annotations", "prove"),


rule annotate:
    input:
        inputs("annotations"),
    output:
        update(f"{RESULTS}/annotations/{{name}}/manifest.json"),
    log:
        f"{LOGS}/annotations/{{name}}.log",
    wildcard_constraints:
        name=names("annotations", "annotate"),
    resources:
        mem_mb=1000,
    shell:
        "python -m sumcurve annotate {output:q} --log {log:q}"


rule entities:
    input:
        inputs("annotations"),
    output:
        update(f"{RESULTS}/annotations/{{name}}/manifest.json"),
    log:
        f"{LOGS}/annotations/{{name}}.log",
    wildcard_constraints:
        name=names("annotations", "entities"),
    resources:
        mem_mb=2000,
    shell:
        "python -m sumcurve entities {output:q} --log {log:q}"


rule prove:
    input:
        inputs("annotations"),
    output:
        update(f"{RESULTS}/annotations/{{name}}/manifest.json"),
    log:
        f"{LOGS}/annotations/{{name}}.log",
    wildcard_constraints:
        name=names("annotations", "prove"),
    resources:
        mem_mb=2000,
    shell:
        "python -m sumcurve prove {output:q} --log {log:q}"
