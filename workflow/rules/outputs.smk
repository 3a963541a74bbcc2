rule outputs:
    input:
        manifests("outputs"),


# How the folders of this step are made; the rules below take the names of one kind each, and what that kind needs.
use rule folder as outputs_folder with:
    input:
        made_from("outputs"),
    output:
        update(f"{RESULTS}/outputs/{{name}}/manifest.json"),
    log:
        f"{LOGS}/outputs/{{name}}.log",
    params:
        arguments=arguments("outputs"),


# All searches of a run, and all parts that it is asked of, in one process.
use rule outputs_folder as decode with:
    wildcard_constraints:
        **only("decode"),
    threads: PLAN.settings.threads
    resources:
        **needs("decode"),


use rule outputs_folder as untrained with:
    wildcard_constraints:
        **only("untrained"),
    threads: PLAN.settings.threads
    resources:
        **needs("untrained"),


use rule outputs_folder as decode_program with:
    wildcard_constraints:
        **only("decode_program"),
    threads: PLAN.settings.threads
    resources:
        **needs("decode_program"),


use rule outputs_folder as baseline with:
    wildcard_constraints:
        **only("baseline"),
    resources:
        **needs("baseline"),


use rule outputs_folder as system with:
    wildcard_constraints:
        **only("system"),
    resources:
        **needs("system"),


# All sizes and seeds of a method in one process.
use rule outputs_folder as judge with:
    wildcard_constraints:
        **only("judge"),
    threads: PLAN.settings.threads
    resources:
        **needs("judge"),


use rule outputs_folder as judge_words with:
    wildcard_constraints:
        **only("judge_words"),
    resources:
        **needs("judge_words"),


use rule outputs_folder as labels with:
    wildcard_constraints:
        **only("labels"),
    threads: PLAN.settings.threads
    resources:
        **needs("labels"),
