rule annotations:
    input:
        manifests("annotations"),


use rule folder as annotate with:
    wildcard_constraints:
        name=names("annotate"),
    resources:
        **needs("annotate"),


use rule folder as entities with:
    wildcard_constraints:
        name=names("entities"),
    resources:
        **needs("entities"),


use rule folder as questions with:
    wildcard_constraints:
        name=names("questions"),
    resources:
        **needs("questions"),


use rule folder as contrasts with:
    wildcard_constraints:
        name=names("contrasts"),
    resources:
        **needs("contrasts"),


use rule folder as prove with:
    wildcard_constraints:
        name=names("prove"),
    resources:
        **needs("prove"),


use rule folder as subwords with:
    wildcard_constraints:
        name=names("subwords"),
    resources:
        **needs("subwords"),
