"""An extractive question-answering model of Hugging Face transformers as a reader of cloze questions.

It is not trained: entities stand in documents and questions as the words of their markers would not, by a name of their
own ("entity3"), and the hidden one as `placeholder`. Of the entities that the document names the answer is the one with
the mention whose first and last subword the model likes best, as start and end of a span.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file

from sumcurve.capabilities.apes.answers import Text
from sumcurve.capabilities.apes.questions import entity_in
from sumcurve.capabilities.apes.settings import SpanReaderSettings
from sumcurve.corpora.entities import PLACEHOLDER

MODEL = "model"  # the folder of a run that holds the model's files
TOGETHER = 32  # questions of a batch


class ReaderError(ValueError):
    """A model that cannot read questions; the message names the folder and what it lacks."""


class SpanAnswers:
    """Answers of a model that finds spans. What has no positions of a document is cut."""

    def __init__(self, folder: Path, settings: SpanReaderSettings) -> None:
        """ReaderError for a folder without such a model in safetensors, or without a fast tokenizer."""
        from transformers import AutoConfig, AutoModelForQuestionAnswering, AutoTokenizer

        if not list(folder.glob("*.safetensors")):
            raise ReaderError(f"{folder}: no *.safetensors; a reader's weights are read from nothing else")
        local: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}
        try:
            self.tokenizer = AutoTokenizer.from_pretrained(folder, **local)
            config = AutoConfig.from_pretrained(folder, **local)
            self.model = AutoModelForQuestionAnswering.from_pretrained(
                folder, config=config, use_safetensors=True, **local
            ).eval()
        except (OSError, ValueError) as error:
            raise ReaderError(f"{folder}: no model that answers questions by spans ({error})") from error
        if not self.tokenizer.is_fast:
            raise ReaderError(f"{folder}: no fast tokenizer (tokenizer.json): spans cannot be found in words")
        stored = {name for path in folder.glob("*.safetensors") for name in load_file(path)}
        if missing := [
            name for name in self.model.state_dict() if name.startswith("qa_outputs") and name not in stored
        ]:
            raise ReaderError(
                f"{folder}: its weights lack {missing[0]}: the model has never learned to answer; name one that has"
            )
        self.placeholder = settings.placeholder
        most = getattr(config, "max_position_embeddings", None) or 512
        self.most = min(int(most), int(self.tokenizer.model_max_length))

    def answers(self, documents: Sequence[Text], questions: Sequence[Sequence[Text]]) -> list[list[int | None]]:
        """See `capabilities.apes.answers.Answering`."""
        answers: list[list[int | None]] = [[None] * len(texts) for texts in questions]
        places = [
            (place, number)
            for place, (document, texts) in enumerate(zip(documents, questions, strict=True))
            if any(entity_in(word) is not None for word in document)
            for number in range(len(texts))
        ]
        places.sort(key=lambda pair: (len(documents[pair[0]]), pair))
        for first in range(0, len(places), TOGETHER):
            part = places[first : first + TOGETHER]
            given = self._answered([(questions[place][number], documents[place]) for place, number in part])
            for (place, number), answer in zip(part, given, strict=True):
                answers[place][number] = answer
        return answers

    def _said(self, text: Text) -> list[str]:
        return [self.placeholder if word == PLACEHOLDER else word.removeprefix("@") for word in text]

    @torch.no_grad()
    def _answered(self, pairs: Sequence[tuple[Text, Text]]) -> Iterator[int | None]:
        read = self.tokenizer(
            [self._said(question) for question, _ in pairs],
            [self._said(document) for _, document in pairs],
            is_split_into_words=True,
            truncation="only_second",
            max_length=self.most,
            padding=True,
            return_tensors="pt",
        )
        out = self.model(**read)
        for row, (_, document) in enumerate(pairs):
            spans: dict[int, tuple[int, int]] = {}  # of each word of the document: its first and last subword
            for place, (side, word) in enumerate(zip(read.sequence_ids(row), read.word_ids(row), strict=True)):
                if side == 1 and word is not None:
                    spans[word] = (spans.get(word, (place, place))[0], place)
            best: dict[int, float] = {}
            for word, (start, end) in spans.items():
                number = entity_in(document[word])
                if number is not None:
                    liked = float(out.start_logits[row, start] + out.end_logits[row, end])
                    best[number] = max(liked, best.get(number, liked))
            yield max(best, key=best.__getitem__) if best else None
