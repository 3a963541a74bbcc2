rule annotations:
    input:
        manifests("annotations"),


# How the folders of this step are made; the rules below take the names of one kind each, and what that kind needs.
use rule folder as annotations_folder with:
    input:
        made_from("annotations"),
    output:
        update(f"{RESULTS}/annotations/{{name}}/manifest.json"),
    log:
        f"{LOGS}/annotations/{{name}}.log",


use rule annotations_folder as annotate with:
    wildcard_constraints:
        **only("annotate"),
    resources:
        **needs("annotate"),


use rule annotations_folder as entities with:
    wildcard_constraints:
        **only("entities"),
    resources:
        **needs("entities"),


use rule annotations_folder as questions with:
    wildcard_constraints:
        **only("questions"),
    resources:
        **needs("questions"),


use rule annotations_folder as contrasts with:
    wildcard_constraints:
        **only("contrasts"),
    resources:
        **needs("contrasts"),


use rule annotations_folder as prove with:
    wildcard_constraints:
        **only("prove"),
    resources:
        **needs("prove"),


use rule annotations_folder as subwords with:
    wildcard_constraints:
        **only("subwords"),
    resources:
        **needs("subwords"),
