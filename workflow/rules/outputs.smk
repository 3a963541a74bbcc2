rule outputs:
    input:
        manifests("outputs"),


use rule folder as decode with:
    wildcard_constraints:
        name=names("decode"),
    threads: PLAN.settings.threads
    resources:
        **needs("decode"),


use rule folder as trivial with:
    wildcard_constraints:
        name=names("trivial"),
    resources:
        **needs("trivial"),
