rule runs:
    input:
        manifests("runs"),


# How the folders of this step are made; the rules below take the names of one kind each, and what that kind needs.
use rule folder as runs_folder with:
    input:
        made_from("runs"),
    output:
        update(f"{RESULTS}/runs/{{name}}/manifest.json"),
    log:
        f"{LOGS}/runs/{{name}}.log",


use rule runs_folder as train with:
    wildcard_constraints:
        **only("train"),
    priority: cost
    threads: PLAN.settings.threads
    resources:
        **needs("train"),


use rule runs_folder as train_program with:
    wildcard_constraints:
        **only("train_program"),
    threads: PLAN.settings.threads
    resources:
        **needs("train_program"),


# First of all, because other trainings wait for it.
use rule runs_folder as pretrain with:
    wildcard_constraints:
        **only("pretrain"),
    priority: 1000000
    threads: PLAN.settings.threads
    resources:
        **needs("pretrain"),


# Once for a corpus and seed; no training waits for it.
use rule runs_folder as reader with:
    wildcard_constraints:
        **only("reader"),
    threads: PLAN.settings.threads
    resources:
        **needs("reader"),
