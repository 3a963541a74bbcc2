# How every folder is made. The rules of the steps use it.
rule folder:
    output:
        update(f"{RESULTS}/{{step}}/{{name}}/manifest.json"),
    log:
        f"{LOGS}/{{step}}/{{name}}.log",
    wildcard_constraints:
        name=NOTHING,
    params:
        arguments=f"--study {STUDY}",
    shell:
        "python -m sumcurve make {params.arguments} {output:q} --log {log:q}"
