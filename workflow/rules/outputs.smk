rule outputs:
    input:
        manifests("outputs"),


use rule folder as decode with:
    wildcard_constraints:
        name=names("decode"),
    threads: PLAN.settings.threads
    resources:
        **needs("decode"),


use rule folder as untrained with:
    wildcard_constraints:
        name=names("untrained"),
    threads: PLAN.settings.threads
    resources:
        **needs("untrained"),


use rule folder as decode_program with:
    wildcard_constraints:
        name=names("decode_program"),
    threads: PLAN.settings.threads
    resources:
        **needs("decode_program"),


use rule folder as baseline with:
    wildcard_constraints:
        name=names("baseline"),
    resources:
        **needs("baseline"),


use rule folder as system with:
    wildcard_constraints:
        name=names("system"),
    resources:
        **needs("system"),


# All sizes and seeds of a method in one process.
use rule folder as judge with:
    wildcard_constraints:
        name=names("judge"),
    threads: PLAN.settings.threads
    resources:
        **needs("judge"),


use rule folder as judge_words with:
    wildcard_constraints:
        name=names("judge_words"),
    resources:
        **needs("judge_words"),


use rule folder as labels with:
    wildcard_constraints:
        name=names("labels"),
    threads: PLAN.settings.threads
    resources:
        **needs("labels"),
