rule runs:
    input:
        manifests("runs"),


use rule folder as train with:
    wildcard_constraints:
        **only("train"),
    priority: cost
    threads: PLAN.settings.threads
    resources:
        **needs("train"),


use rule folder as train_program with:
    wildcard_constraints:
        **only("train_program"),
    threads: PLAN.settings.threads
    resources:
        **needs("train_program"),


# First of all, because other trainings wait for it.
use rule folder as pretrain with:
    wildcard_constraints:
        **only("pretrain"),
    priority: 1000000
    threads: PLAN.settings.threads
    resources:
        **needs("pretrain"),


# Once for a corpus and seed; no training waits for it.
use rule folder as reader with:
    wildcard_constraints:
        **only("reader"),
    threads: PLAN.settings.threads
    resources:
        **needs("reader"),
