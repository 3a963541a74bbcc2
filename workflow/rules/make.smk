# One rule for every kind of folder, of one body, called as the kind is: what differs stands in the kind's row
# (`sumcurve.study.kinds`). A training has the priority of its cost.
for KIND, ROW in KINDS.items():

    rule:
        name:
            KIND
        input:
            made_from(ROW.step),
        output:
            update(f"{RESULTS}/{ROW.step}/{{name}}/manifest.json"),
        log:
            f"{LOGS}/{ROW.step}/{{name}}.log",
        wildcard_constraints:
            **only(KIND),
        priority: cost if KIND == "train" else 0
        group:
            with_run(KIND)
        threads: processes(KIND) * PLAN.settings.threads if ROW.gpu else 1
        resources:
            **needs(KIND),
        params:
            plan=PLAN_FILE,
            arguments=arguments(ROW.step),
        shell:
            "python -m sumcurve make --plan {params.plan:q} {params.arguments} {output:q} --log {log:q}"

    workflow.get_rule(KIND).docstring = ROW.about


# All outputs of a corpus, where the scorer asks for it: what it reads of the corpus is read once.
use rule score as score_corpus with:
    """Write the per-item values of all outputs of a corpus under one scorer."""
    wildcard_constraints:
        name=named_by(OF_CORPORA),
    resources:
        **needs("score", "score_corpus"),


# All folders of a step, by the step's name.
for STEP in STEPS[:-1]:

    rule:
        name:
            STEP
        input:
            manifests(STEP),

    workflow.get_rule(STEP).docstring = f"All folders of results/{STEP}."
