"""Chen & Bansal (2018): sentences are extracted one after another, and each is rewritten by itself."""

import math
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import torch
from torch import Tensor

from sumcurve.capabilities.extract_rewrite.model import Document, ExtractRewrite, collate, read_document
from sumcurve.capabilities.extract_rewrite.settings import ExtractRewriteSettings
from sumcurve.corpora.tokens import cut
from sumcurve.decoding.decoder import SummarizerDecoder
from sumcurve.models.batch import Batch, Example, batches, encode
from sumcurve.models.batch import collate as collate_examples
from sumcurve.models.summarizer import score
from sumcurve.models.vocabulary import Vocabulary
from sumcurve.settings.search import Search
from sumcurve.store.records import Record

SENTENCES = {"cpu": 128, "cuda": 512}  # rewritten together
PAIRS = 64  # scored together
DOCUMENTS = 50  # extracted from together; results depend on none of the three


def rewriter(model: ExtractRewrite, vocabulary: Vocabulary, search: Search) -> SummarizerDecoder:
    """The abstractor with the search, for one sentence of 1 to `rewrite_tokens` tokens."""
    limits = {"min_tokens": 1, "max_tokens": model.settings.rewrite_tokens}
    return SummarizerDecoder(model.abstractor, vocabulary, search.model_copy(update=limits))


def rewrite(system: SummarizerDecoder, sentences: Iterable[str], device: torch.device) -> dict[str, str]:
    """Every distinct sentence and its rewrite, both blank-separated tokens; a rewrite may be empty.

    A corpus has millions of sentences: only those of one batch are examples at a time.
    """
    distinct = sorted(set(sentences), key=lambda sentence: (sentence.count(" "), sentence))
    written: list[str] = []
    together = SENTENCES[device.type]
    for start in range(0, len(distinct), together):
        examples = [_pair(sentence, "", system.vocabulary, 1) for sentence in distinct[start : start + together]]
        summaries = system.summarize(collate_examples(examples).to(device))
        written += [" ".join(word for part in summary for word in part) for summary in summaries]
    return dict(zip(distinct, written, strict=True))


def _pair(source: str, target: str, vocabulary: Vocabulary, target_tokens: int) -> Example:
    """One sentence as source and one as target."""
    return encode(Record("", [source], [target]), vocabulary, source.count(" ") + 1, target_tokens)


@torch.no_grad()
def extract(model: ExtractRewrite, documents: Sequence[Document], stops: bool, device: torch.device) -> list[list[int]]:
    """The sentences extracted from each document, in the order of their extraction.

    With `stops` until the policy stops, at least one; without, `settings.sentences` of them, or all if they are fewer.
    """
    model.eval()
    extracted: list[list[int]] = []
    for start in range(0, len(documents), DOCUMENTS):
        slots = model.extractor.encode(collate(documents[start : start + DOCUMENTS]).to(device))
        if stops:
            extracted += model.extract(model.with_stop(slots))
        else:
            extracted += model.extract(slots, model.settings.sentences)
    return extracted


def chosen(documents: Sequence[Document], extracted: Sequence[list[int]]) -> Iterator[str]:
    """The extracted sentences of all documents."""
    for document, choices in zip(documents, extracted, strict=True):
        yield from (document.sentences[choice] for choice in choices)


def compose(
    document: Document, choices: Sequence[int], rewrites: dict[str, str], settings: ExtractRewriteSettings, most: int
) -> list[str]:
    """The summary: rewrites of the chosen sentences in their order, `most` tokens in all, the last one cut.

    Where no rewrite has a word, the document's first `settings.sentences` sentences as they are.
    """
    written = [rewrites[document.sentences[choice]] for choice in choices]
    return cut([text for text in written if text] or document.sentences[: settings.sentences], most)


class ExtractRewriteDecoder:
    """A trained model, its vocabulary and a search; it puts the model into evaluation mode.

    It reads the batch's records; the batch's tensors are for other models. Of a record it reads `source_tokens`
    tokens, at most `settings.max_sentences` sentences. `stops` is True where the extractor has learned to stop. The
    search is that of one rewrite, with `settings.rewrite_tokens` for its longest; `search.max_tokens` cuts the whole
    summary, and `search.min_tokens` is not applied, since the extractor determines the length.
    """

    def __init__(
        self,
        model: ExtractRewrite,
        vocabulary: Vocabulary,
        search: Search,
        source_tokens: int,
        target_tokens: int,
        stops: bool,
    ) -> None:
        self.model, self.vocabulary, self.search, self.stops = model.eval(), vocabulary, search, stops
        self.source_tokens, self.target_tokens = source_tokens, target_tokens
        self.rewriter = rewriter(model, vocabulary, search)

    def _read(self, batch: Batch) -> list[Document]:
        most = self.model.settings.max_sentences
        return [read_document(record, self.vocabulary, self.source_tokens, most) for record in batch.records]

    def summarize(self, batch: Batch) -> list[list[list[str]]]:
        documents, device, settings = self._read(batch), batch.src.device, self.model.settings
        extracted = extract(self.model, documents, self.stops, device)
        rewrites = rewrite(self.rewriter, chosen(documents, extracted), device)
        return [
            [sentence.split(" ") for sentence in compose(document, choices, rewrites, settings, self.search.max_tokens)]
            for document, choices in zip(documents, extracted, strict=True)
        ]

    @torch.no_grad()
    def logp(self, batch: Batch) -> Tensor:
        """Log-probability [B] of each record's target under the abstractor, its first `target_tokens` words.

        The sum over reference sentences of log p(sentence | its source sentence), at the best assignment of one
        source sentence to each; where references outnumber sources, each source may serve ceil(references / sources)
        times. The extractor's probability of that choice is not included. Raises ValueError for an empty target.
        """
        pairs: list[Example] = []
        shapes: list[tuple[int, int]] = []
        for document in self._read(batch):
            references = _within(document.record, self.target_tokens)
            shapes.append((len(references), len(document.sentences)))
            pairs += [
                _pair(source, target, self.vocabulary, tokens)
                for target, tokens in references
                for source in document.sentences
            ]
        order = sorted(range(len(pairs)), key=lambda index: (len(pairs[index].target), len(pairs[index].source)))
        logps = np.empty(len(pairs))
        for start in range(0, len(order), PAIRS):
            part = order[start : start + PAIRS]
            (together,) = batches([pairs[index] for index in part], PAIRS)
            logps[part] = score(self.model.abstractor, together.to(batch.src.device)).sum(1).cpu().numpy()
        from scipy.optimize import linear_sum_assignment  # half a second to import, which other methods do not need

        totals, first = [], 0
        for rows, columns in shapes:
            matrix = logps[first : first + rows * columns].reshape(rows, columns)
            first += rows * columns
            copies = np.tile(matrix, math.ceil(rows / columns))
            totals.append(copies[linear_sum_assignment(copies, maximize=True)].sum())
        return torch.tensor(totals, dtype=torch.float32, device=batch.src.device)


def _within(record: Record, most: int) -> list[tuple[str, int]]:
    """The target's sentences that begin within its first `most` words, and how many words of each lie there."""
    sentences = []
    for sentence in filter(None, record.target):
        if most <= 0:
            break
        tokens = sentence.count(" ") + 1
        sentences.append((sentence, min(tokens, most)))
        most -= tokens
    if not sentences:
        raise ValueError(f"record {record.id!r} has an empty target; drop it when the corpus is prepared")
    return sentences
