rule runs:
    input:
        manifests("runs", "train"),


rule train:
    input:
        inputs("runs"),
    output:
        update(f"{RESULTS}/runs/{{name}}/manifest.json"),
    log:
        f"{LOGS}/runs/{{name}}.log",
    priority: cost
    threads: PLAN.settings.threads
    resources:
        gpu=1,
        mem_mb=3000,
    shell:
        "python -m sumcurve train {output:q} --log {log:q}"
