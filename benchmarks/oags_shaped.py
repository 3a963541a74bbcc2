"""An invented collection of the shape of OAGS: a zip of `part_A_B.txt`, JSON lines of title and abstract.

    python benchmarks/oags_shaped.py 2000000 scratch/oags.zip
    python benchmarks/oags_shaped.py 100000 scratch/oags --form folder     # or gz: a folder of .txt.gz

A record has about 1.5 kB, as OAGS has. Its words are invented from stems and endings, between real function words, so
that identifiers of languages know them; how often a word stands follows Zipf's law. Records are written in several
languages, some repeat an earlier one to the letter or almost, and some lines are damaged in the ways that collections
are: `SHARES` says how many. What was planted is printed as JSON. The same count and seed give the same bytes, and the
first lines of a larger collection are those of a smaller one.
"""

import argparse
import gzip
import json
import random
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import accumulate
from pathlib import Path

import numpy as np

LINES_A_PART = 200_000
REMEMBERED = 4_000  # earlier records that a copy is drawn from
DRAWN = 50_000  # words at a time

LANGUAGES = {"en": 0.86, "de": 0.08, "fr": 0.02, "es": 0.02, "zh": 0.02}
SHARES = {  # of all lines, what is planted in them; the rest is as it should be
    "exact copy": 0.05,
    "near copy": 0.02,
    "empty abstract": 0.01,
    "short abstract": 0.01,
    "markup": 0.005,
    "no abstract": 0.004,
    "mojibake": 0.003,
    "empty title": 0.002,
    "no object": 0.0001,
    "broken JSON": 0.0001,
    "invalid UTF-8": 0.0001,
    "NUL bytes": 0.0001,
    "empty line": 0.0001,
}
DAMAGED = ("no object", "broken JSON", "invalid UTF-8", "NUL bytes", "empty line")

STEMS = {
    "en": "absorb adapt align anneal bind bond branch calibr captur circul cluster coat collaps compet condens conduct "
    "conserv contract converg coupl crystal decay deform degrad deliver deriv detect diffus discharg dispers distort "
    "embed emit encod equilibr erod estim evolv excit extract ferment filtr fluctu fractur gener grow harvest heat "
    "hybrid ignit immun implant infect inhibit inject integr interact invert irradi isol label leach locat magnet "
    "market migrat mitigat modul monitor mutat neur optim oscill oxid perturb plasm polar pollut polym predict "
    "propag purif quant radi react recogn recover refract regul relax replic reson respond rotat sampl saturat scatt "
    "segment sequenc simul sort spectr stabil stimul storag strain stress structur surviv symmetr synthes therm toler "
    "tract transfer translat transmit transport treat tumor turbul urban vaccin valid vapor vibr weld wetland",
    "de": "absicht anlag anpass anwend arbeit aufnahm auswert bedeut befund beobacht bericht beschreib bestimm "
    "bewegung bild boden einfluss entwickl ergebn erkrank ernähr forsch funktion gesellschaft gewebe gleichung grund "
    "haushalt knochen kraft krankheit landschaft leistung lösung messung muster nachweis ordnung patient pflanz prüf "
    "quell rechnung sicherheit spannung sprach steuer stoff strahl struktur theor träger umwelt unterricht ursach "
    "verfahr vergleich verhalt versuch wachstum wasser wirkung zelle zustand zeitraum",
    "fr": "accord analys appareil apprentiss approch capacit cellul compar comport concept conserv construct demand "
    "développ donné échantill écolog économ éduc énerg enfant équilibr étud évalu explor expos fonct form gestion "
    "hypoth image langag lumi matéri mesur méthod modèl mouv organis parol patient phénom politiqu popul pratiqu "
    "problèm produc qualit recherch régul résult sant sociét solut structur systèm températ territoir traitem",
    "es": "análisi aplic aprendiz atenc calid caracter células clasific comport comunic concept conserv construcc "
    "crecim desarroll diagnóst educ efect empres enferm ensay equilibr escuel estrateg estruct estudi evalu factor "
    "famil formac gestión gobiern habit histor imag investig lengu medic método model muestr niñ paciente poblac "
    "polític problem proces produc propuest region resultad salud sistem social soluc tecnolog tratam",
}
ENDINGS = {
    "en": "ation ing ed er ers ity ities ive al ally ance ances ment ments able ion ions ized ization ic ics ure",
    "de": "ung ungen lich liche lichen keit er ern en e isch ischen bar baren ens heit",
    "fr": "ation ations ement ements ique iques eur eurs if ive ives age ages able ité ités",
    "es": "ación aciones amiento amientos ico icos ica icas idad idades ivo ivos ante antes able ables",
}
SENTENCES = {  # {} is an invented word
    "en": [
        "We present a {} method for the {} of {} {}, and show that it isn't sensitive to the {} of the {}.",
        "The {} of {} in {} {} was studied by {} and {} at 37.5 °C (n = {#}; P < 0.05).",
        "In this paper, a new {}-based {} is proposed, which does not need any {} of the {}, {}, or {}.",
        "Results indicate that {} increased by {#} % when the {} was {}, i.e. more than Smith et al. (19{#}) found.",
        'These "{}" {} are known to be {} by their {}; however, little is known about the {} of {} {}.',
        "It has been suggested that the {} of a {} can be {} from its {} alone, without {} [12, {#}].",
        "Moreover, {} and {} were {} to 1,{#}00 {} in the U.S. and in the EU between 2001 and 20{#}.",
        "Finally, we discuss the {} of {} for {} {}, and what the {}'s {} would cost in practice.",
        "There's evidence for both {} and {}: the {} of the {} {} rises with {}, while that of {} {} doesn't.",
        "Data and code are at http://www.{}.org/{}/{#} and on request.",
        "A total of {#} patients with {} {} (mean age {#}.4 years) underwent {} after {} of the {} {}.",
        "Our {} outperforms the {} {} by a factor of {#}, and it can't be explained by {} of the {}...",
    ],
    "de": [
        "In dieser Arbeit wird die {} der {} und der {} unter dem {} von {} untersucht, und zwar für {#} {}.",
        "Die {} zeigen, dass eine {} {} nicht von der {} abhängt, sondern von ihrer {} und der {}.",
        "Es wurde eine {} {} entwickelt, mit der sich {} und {} ohne {} bestimmen lassen (vgl. {} 19{#}).",
        "Dabei ist zu beachten, dass {} in {#} % der {} keine {} {} aufwiesen, obwohl sie eine {} hatten.",
    ],
    "fr": [
        "Dans cet article, nous étudions la {} de la {} et l'{} des {} dans le cadre d'une {} {} ({#} cas).",
        "Les {} montrent que la {} n'est pas une {} de la {}, mais qu'elle dépend de son {} et de ses {}.",
        "Cette {} a été réalisée auprès de {#} {} afin de mieux comprendre les {} et la {} de leur {}.",
    ],
    "es": [
        "En este trabajo se estudia la {} de los {} y el {} de la {} en una {} de {#} {}.",
        "Los {} muestran que la {} no depende de la {}, sino de su {} y de las {} de cada {}.",
        "Se realizó un {} con {#} {} para conocer los {} y la {} de las {} que tienen más {}.",
    ],
}
TITLES = {
    "en": ["{} of {} {} by {}", "A {} approach to {} {}", "On the {} of {} in {} {}: a {} study", "{} {} and {}"],
    "de": ["Zur {} der {} bei {}", "{} und {}: eine {} {}"],
    "fr": ["La {} des {} et l'{} de la {}", "{} et {} : une {} {}"],
    "es": ["La {} de los {} en la {}", "{} y {}: un {} de {}"],
}
CHINESE = "研究分析方法结果表明系统模型数据结构材料性能温度环境影响作用机制提高实验设计应用技术控制过程"


class Words:
    """Invented words of a language, drawn as often as Zipf's law says of their ranks."""

    def __init__(self, language: str, generator: random.Random) -> None:
        stems, endings = STEMS[language].split(), ENDINGS[language].split()
        simple = [stem + ending for stem in stems for ending in endings]
        joined = [f"{generator.choice(stems)}o{word}" for word in simple for _ in range(10)]
        generator.shuffle(simple)
        generator.shuffle(joined)
        self.words = np.array(simple + joined, dtype=object)
        weights = np.cumsum(1 / (np.arange(len(self.words)) + 10))
        self.shares = weights / weights[-1]
        self.generator = np.random.default_rng(generator.getrandbits(64))
        self.drawn: list[str] = []

    def draw(self, count: int) -> list[str]:
        if len(self.drawn) < count:
            places = np.searchsorted(self.shares, self.generator.random(DRAWN), side="right")
            self.drawn = self.words[places].tolist()
        start = len(self.drawn) - count
        words = self.drawn[start:]
        del self.drawn[start:]
        return words


def lines(count: int, seed: int, planted: Counter[str]) -> Iterator[bytes]:
    """So many lines without their ends; `planted` counts what stands in them."""
    generator = random.Random(seed)
    words = {language: Words(language, generator) for language in STEMS}
    forms = {
        language: [
            (form.replace("%", "%%").replace("{#}", "{{#}}").replace("{}", "%s"), form.count("{}"))
            for form in SENTENCES[language]
        ]
        for language in STEMS
    }
    titles = {
        language: [(form.replace("{}", "%s"), form.count("{}")) for form in TITLES[language]] for language in STEMS
    }
    kinds, weights = ["", *SHARES], list(accumulate([1 - sum(SHARES.values()), *SHARES.values()]))
    languages, shares = list(LANGUAGES), list(accumulate(LANGUAGES.values()))
    earlier: list[dict[str, str]] = []

    def chinese() -> dict[str, str]:
        parts = ["".join(generator.choices(CHINESE, k=generator.randint(8, 24))) for _ in range(24)]
        return {"title": parts[0], "abstract": "，".join(parts[1:12]) + "。" + "，".join(parts[12:]) + "。"}

    def written(language: str) -> dict[str, str]:
        if language == "zh":
            return chinese()
        drawn = words[language]
        sentences = []
        for form, holes in generator.choices(forms[language], k=generator.randint(6, 14)):
            text = form % tuple(drawn.draw(holes))
            sentences.append(text.replace("{{#}}", str(generator.randint(10, 99))))
        form, holes = generator.choice(titles[language])
        topics = [word for word in " ".join(sentences[:2]).split() if len(word) > 6][:holes]  # of the abstract
        title = form % tuple(topics + drawn.draw(holes - len(topics)))
        abstract = " ".join(sentence[0].upper() + sentence[1:] for sentence in sentences)
        return {"title": title[0].upper() + title[1:], "abstract": abstract}

    for _ in range(count):
        (kind,) = generator.choices(kinds, cum_weights=weights)
        (language,) = generator.choices(languages, cum_weights=shares)
        row = written(language)
        if kind in ("exact copy", "near copy") and earlier:
            row = dict(generator.choice(earlier))
            if kind == "near copy":
                first, *rest = row["abstract"].split(". ")
                row["abstract"] = ". ".join(rest) or first + " Again."
                row["title"] += " II"
        elif kind == "" and len(earlier) < REMEMBERED:
            earlier.append(row)
        elif kind == "":
            earlier[generator.randrange(REMEMBERED)] = row
        planted[kind or f"good, {language}"] += 1
        yield damaged(planting(row, kind), kind)


def planting(row: dict[str, str], kind: str) -> dict[str, str]:
    """The record with what is to be planted in its texts."""
    title, abstract = row["title"], row["abstract"]
    changes: dict[str, Callable[[], dict[str, str]]] = {
        "empty abstract": lambda: {"title": title, "abstract": ""},
        "short abstract": lambda: {"title": title, "abstract": " ".join(abstract.split()[:3])},
        "no abstract": lambda: {"title": title},
        "empty title": lambda: {"title": " ", "abstract": abstract},
        "markup": lambda: {"title": title, "abstract": f"<jats:p>{abstract.replace(' ', '&nbsp;', 2)}</jats:p>"},
        "mojibake": lambda: {"title": title, "abstract": mojibake("“" + abstract.replace(" ", " – ", 3) + "”")},
    }
    return changes.get(kind, lambda: row)()


def mojibake(text: str) -> str:
    """UTF-8 that was read as Windows-1252."""
    return "".join(sign.encode().decode("cp1252", "ignore") if ord(sign) < 0x3000 else sign for sign in text)


def damaged(row: dict[str, str], kind: str) -> bytes:
    """The line of a record, damaged where `kind` says so."""
    line = json.dumps(row, ensure_ascii=False).encode()
    if kind not in DAMAGED:
        return line
    return {
        "no object": json.dumps(list(row.values()), ensure_ascii=False).encode(),
        "broken JSON": line[: len(line) // 2].decode(errors="ignore").encode(),
        "invalid UTF-8": line[:40] + b"\xff\xfe" + line[40:],
        "NUL bytes": b"\0" * len(line),
        "empty line": b"",
    }[kind]


def write(count: int, path: Path, form: str, seed: int) -> Counter[str]:
    """Write a collection of so many lines to `path`; what is planted in it, and the bytes of its lines."""
    planted: Counter[str] = Counter()
    made = lines(count, seed, planted)
    with parts(path, form) as part:
        for number in range(-(-count // LINES_A_PART)):
            with part(f"part_{number // 10}_{number % 10}.txt") as stream:
                for _, line in zip(range(LINES_A_PART), made, strict=False):
                    planted["bytes"] += stream.write(line + b"\n")
    return planted


@contextmanager
def parts(path: Path, form: str) -> Iterator[Callable]:
    """What opens the parts of a collection by their names."""
    if form == "zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:

            def member(name: str):
                info = zipfile.ZipInfo(name)
                info.compress_type = zipfile.ZIP_DEFLATED
                return archive.open(info, "w", force_zip64=True)

            yield member
    else:
        path.mkdir(parents=True, exist_ok=True)
        if form == "gz":
            yield lambda name: gzip.GzipFile(path / f"{name}.gz", "wb", compresslevel=1, mtime=0)
        else:
            yield lambda name: (path / name).open("wb")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("count", type=int, help="lines")
    parser.add_argument("path", type=Path, help="the archive, or the folder")
    parser.add_argument("--form", choices=["zip", "folder", "gz"], default="zip")
    parser.add_argument("--seed", type=int, default=1)
    told = parser.parse_args()
    print(json.dumps(write(told.count, told.path, told.form, told.seed), indent=1, ensure_ascii=False))
