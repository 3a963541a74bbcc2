"""The smoke study with what capabilities add to it."""

from unit.study.test_plan import edit, smoke


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


def of_two_corpora(config, methods, **changes):
    """The plan of the smoke study with these methods on both corpora, and these keys of a corpus."""

    def change(content):
        content["methods"] = methods
        content["corpora"]["tales"].pop("methods", None)
        for corpus, keys in changes.items():
            content["corpora"][corpus] |= keys

    edit(config / "studies" / "smoke.yaml", change)
    return smoke(config)
