rule outputs:
    input:
        manifests("outputs"),


use rule folder as decode with:
    wildcard_constraints:
        **only("decode"),
    threads: PLAN.settings.threads
    resources:
        **needs("decode"),


use rule folder as untrained with:
    wildcard_constraints:
        **only("untrained"),
    threads: PLAN.settings.threads
    resources:
        **needs("untrained"),


use rule folder as decode_program with:
    wildcard_constraints:
        **only("decode_program"),
    threads: PLAN.settings.threads
    resources:
        **needs("decode_program"),


use rule folder as baseline with:
    wildcard_constraints:
        **only("baseline"),
    resources:
        **needs("baseline"),


use rule folder as system with:
    wildcard_constraints:
        **only("system"),
    resources:
        **needs("system"),


# All sizes and seeds of a method in one process.
use rule folder as judge with:
    wildcard_constraints:
        **only("judge"),
    threads: PLAN.settings.threads
    resources:
        **needs("judge"),


use rule folder as judge_words with:
    wildcard_constraints:
        **only("judge_words"),
    resources:
        **needs("judge_words"),


use rule folder as labels with:
    wildcard_constraints:
        **only("labels"),
    threads: PLAN.settings.threads
    resources:
        **needs("labels"),
