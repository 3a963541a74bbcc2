rule annotations:
    input:
        manifests("annotations"),


use rule folder as annotate with:
    wildcard_constraints:
        **only("annotate"),
    resources:
        **needs("annotate"),


use rule folder as entities with:
    wildcard_constraints:
        **only("entities"),
    resources:
        **needs("entities"),


use rule folder as questions with:
    wildcard_constraints:
        **only("questions"),
    resources:
        **needs("questions"),


use rule folder as contrasts with:
    wildcard_constraints:
        **only("contrasts"),
    resources:
        **needs("contrasts"),


use rule folder as prove with:
    wildcard_constraints:
        **only("prove"),
    resources:
        **needs("prove"),


use rule folder as subwords with:
    wildcard_constraints:
        **only("subwords"),
    resources:
        **needs("subwords"),
