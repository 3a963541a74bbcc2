rule scores:
    input:
        manifests("scores"),


use rule folder as score with:
    wildcard_constraints:
        name=names("score"),
    resources:
        **needs("score"),
