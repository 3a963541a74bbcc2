# How every folder is made. The rules of the steps use it: each takes the names of one kind, and what that kind needs.
rule folder:
    input:
        inputs,
    output:
        update(f"{RESULTS}/{{step}}/{{name}}/manifest.json"),
    log:
        f"{LOGS}/{{step}}/{{name}}.log",
    wildcard_constraints:
        name=NOTHING,
    shell:
        "python -m sumcurve make {output:q} --log {log:q}"
