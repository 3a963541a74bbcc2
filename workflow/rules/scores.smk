rule scores:
    input:
        manifests("scores"),


# How the folders of this step are made; the rules below take the names of one kind each, and what that kind needs.
use rule folder as scores_folder with:
    input:
        made_from("scores"),
    output:
        update(f"{RESULTS}/scores/{{name}}/manifest.json"),
    log:
        f"{LOGS}/scores/{{name}}.log",
    params:
        arguments=arguments("scores"),


# All that a method says of a corpus at one size: of a study of hundreds of trainings the most folders are scores, which take less
# time than a process takes to start.
use rule scores_folder as score with:
    wildcard_constraints:
        **only("score"),
    resources:
        **needs("score"),


# All outputs of a corpus, where the scorer asks for it: what it reads of the corpus is read once.
use rule scores_folder as score_corpus with:
    wildcard_constraints:
        name=named_by(OF_CORPORA),
    resources:
        **needs("score", "score_corpus"),
