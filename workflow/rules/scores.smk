rule scores:
    input:
        manifests("scores"),


use rule folder as score with:
    wildcard_constraints:
        **only("score"),
    resources:
        **needs("score"),


# All outputs of a corpus in one process, where the scorer asks for it: what it reads of the corpus is read once.
for corpus_and_scorer, keys in PLAN.together.items():

    rule:
        name:
            f"score_{corpus_and_scorer}"
        input:
            verified,
            [inputs_of(key) for key in keys],
        output:
            [update(f"{RESULTS}/{key}/manifest.json") for key in keys],
        log:
            f"{LOGS}/scores/{corpus_and_scorer}.log",
        resources:
            mem_mb=KINDS["score"].mem_mb,
        shell:
            "python -m sumcurve make {output:q} --log {log:q}"
