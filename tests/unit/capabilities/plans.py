"""The smoke study with what capabilities add to it."""

from unit.study.test_plan import edit


def add_apes(config, corpora=("modules",), **told):
    """Questions about corpora of the smoke study, and readers that answer them."""

    def change(study):
        for name in corpora:
            study["corpora"][name]["cloze"] = {}
        study["scores"]["apes"] = told

    edit(config / "studies" / "smoke.yaml", change)


def add_judged(config):
    """Contrasts of the smoke study's tales, which its systems are scored by, and labels of a method."""

    def change(study):
        study["corpora"]["tales"]["contrasts"] = {"golds": 5, "each": 3}
        study["scores"] |= {"dodged": {}, "escaped": {}}
        study["labels"] = {"methods": ["pcov"]}

    edit(config / "studies" / "smoke.yaml", change)
