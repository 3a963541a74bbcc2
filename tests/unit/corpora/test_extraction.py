import random

from rouge_score import rouge_scorer

from sumcurve.corpora.extraction import annotate, best_sentence, read_best
from sumcurve.rouge_engine.rewards import words
from sumcurve.store.records import Record, read_jsonl, write_jsonl

SCORER = rouge_scorer.RougeScorer(["rouge1", "rouge2", "rougeL"], use_stemmer=False)


def articles(count: int) -> list[Record]:
    """Records of few words, so that ties, empty overlaps and repeated sentences are frequent."""
    rng = random.Random(5)

    def sentences(most: int) -> list[str]:
        return [
            " ".join(
                rng.choice(["a", "b", "c", "d", "e", "otter", "heron", ".", ",", "-"])
                for _ in range(rng.randrange(1, 8))
            )
            for _ in range(rng.randrange(1, most))
        ]

    return [Record(str(number), sentences(8), sentences(5)) for number in range(count)]


def test_the_best_sentence_has_the_highest_rouge_1_then_rouge_2_then_comes_first() -> None:
    for record in articles(300):
        target = " ".join(record.target)
        scores = [SCORER.score(target, sentence) for sentence in record.source]
        keys = [(round(s["rouge1"].fmeasure, 9), round(s["rouge2"].fmeasure, 9)) for s in scores]
        assert best_sentence(list(map(words, record.source)), words(target)) == keys.index(max(keys))


def test_every_test_record_gets_a_line_in_order(tmp_path) -> None:
    corpus, folder = tmp_path / "corpus", tmp_path / "annotation"
    corpus.mkdir()
    folder.mkdir()
    records = articles(30)
    write_jsonl(corpus / "test.jsonl", (record.as_dict() for record in records))
    annotate(corpus, folder)
    assert [row["id"] for row in read_jsonl(folder / "best.jsonl")] == [record.id for record in records]
    for best, record in zip(read_best(folder), records, strict=True):
        every = [SCORER.score(" ".join(record.target), sentence)["rouge1"].fmeasure for sentence in record.source]
        assert abs(every[best] - max(every)) < 1e-9


def test_a_target_without_words_takes_the_first_sentence() -> None:
    assert best_sentence([["a"], ["b"]], []) == 0
