rule scores:
    input:
        manifests("scores", "score"),


rule score:
    input:
        inputs("scores"),
    output:
        update(f"{RESULTS}/scores/{{name}}/manifest.json"),
    log:
        f"{LOGS}/scores/{{name}}.log",
    resources:
        mem_mb=1000,
    shell:
        "python -m sumcurve score {output:q} --log {log:q}"
