rule annotations:
    input:
        manifests("annotations", "annotate"),


rule annotate:
    input:
        inputs("annotations"),
    output:
        update(f"{RESULTS}/annotations/{{name}}/manifest.json"),
    log:
        f"{LOGS}/annotations/{{name}}.log",
    resources:
        mem_mb=1000,
    shell:
        "python -m sumcurve annotate {output} --log {log}"
