# How every folder is made. The rules of the steps use it.
rule folder:
    output:
        update(f"{RESULTS}/{{step}}/{{name}}/manifest.json"),
    log:
        f"{LOGS}/{{step}}/{{name}}.log",
    wildcard_constraints:
        name=NOTHING,
    params:
        together="",
    shell:
        "python -m sumcurve make --study {STUDY} {params.together} {output:q} --log {log:q}"
