# How every folder is made. The rules of the steps use it.
rule folder:
    wildcard_constraints:
        name=NOTHING,
    params:
        together="",
    shell:
        "python -m sumcurve make {params.together} {output:q} --log {log:q}"
