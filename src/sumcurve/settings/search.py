"""Settings of the search for summaries."""

from typing import Literal, Self

from pydantic import (
    model_validator,
)

from sumcurve.settings.base import NonNegative, NonNegativeFloat, Positive, Settings


class Decoding(Settings):
    """Settings of a search beside the lengths of summaries."""

    beam: Positive = 4
    """Hypotheses at a time; 1 is greedy."""
    length_penalty: Literal["average", "gnmt", "none"] = "average"
    """Comparison of log-probabilities of summaries of different lengths: divided by tokens**alpha (average), by Wu et
    al. 2016's penalty (gnmt), or as they are.
    """
    alpha: NonNegativeFloat = 1.0
    """Exponent of the length penalty."""
    block_ngram: NonNegative = 3
    """Length of n-grams that may not repeat, 0: all may; n-grams that hold a sentence mark are exempt."""
    exempt: tuple[str, ...] = ()
    """Words whose n-grams may repeat, too, where the vocabulary has them."""
    early_stopping: Literal["first", "heuristic", "never"] = "heuristic"
    """When a beam ends: transformers' True (first), False (heuristic) and "never"."""
    unknown: Literal["copy", "ban", "keep"] = "copy"
    """Treatment of an unknown word: the most attended source word (copy), never written (ban), or kept."""
    coverage_penalty: NonNegativeFloat = 0.0
    """Beta of Eyal et al. 2019: on attention beyond 1, at every step."""
    entity_penalty: NonNegativeFloat = 0.0
    """Gamma of Eyal et al. 2019: on salient entities left unattended, at the end."""
    entity_positions: Literal["model", "gold"] = "model"
    """Whose salient entities: the model's, or the reference's (gold), which is a bound and no competitor."""

    @model_validator(mode="after")
    def consistent(self) -> Self:
        if self.exempt and not self.block_ngram:
            raise ValueError(f"exempt {[*self.exempt]} changes nothing where block_ngram is 0; leave it out")
        if self.length_penalty == "none" and self.alpha != 1:
            raise ValueError(f"alpha {self.alpha} changes nothing where length_penalty is none; leave it out")
        return self


class Search(Decoding):
    """Decoding of one corpus. Lengths count tokens without the end mark."""

    min_tokens: NonNegative = 1
    """Tokens of a summary, at least."""
    max_tokens: Positive
    """Tokens of a summary, at most."""

    def signature(self) -> str:
        """All that decides an output beside the model, in one word: `beam4+min6+max20+average1.5+block3+unk-copy`.

        What is off, or is the default of `early_stopping`, is left out.
        """

        def exact(value: float) -> str:
            return repr(value).removesuffix(".0")

        norm = "none" if self.length_penalty == "none" else f"{self.length_penalty}{exact(self.alpha)}"
        parts = [f"beam{self.beam}", f"min{self.min_tokens}", f"max{self.max_tokens}", norm]
        but = "".join(f"-but-{word}" for word in self.exempt)
        parts += [f"block{self.block_ngram}{but}"] if self.block_ngram else []
        parts += [f"unk-{self.unknown}"]
        parts += [f"stop-{self.early_stopping}"] if self.early_stopping != "heuristic" else []
        parts += [f"coverage{exact(self.coverage_penalty)}"] if self.coverage_penalty else []
        if self.entity_penalty:
            gold = "-gold" if self.entity_positions == "gold" else ""
            parts += [f"entity{exact(self.entity_penalty)}{gold}"]
        return "+".join(parts)

    def greedy(self) -> "Search":
        """Greedy decoding under the same limits: what validation decodes with."""
        read = {"min_tokens", "max_tokens", "block_ngram", "exempt", "unknown"}
        return Search(beam=1, **self.model_dump(include=read))


class MethodSearch(Decoding):
    """Settings of decoding in a method's paper, the first three always; lengths alone are the corpus's."""

    beam: Positive
    length_penalty: Literal["average", "gnmt", "none"]
    block_ngram: NonNegative

    def over(self, search: Search) -> Search:
        """This search under the corpus's lengths."""
        return search.model_copy(update=self.model_dump())
