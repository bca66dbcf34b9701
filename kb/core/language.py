"""Which language a note is written in, by the share of its commonest words: cheap, and enough to choose a stemmer."""

from __future__ import annotations

import re
from collections.abc import Sequence

from kb.core.words import fold

# Function words that tell one language from the others, folded. What two of them share says little.
_MARKS: dict[str, frozenset[str]] = {language: frozenset(words.split()) for language, words in {
    "english": "the and of to is in it that for was with are this not be have from or which by an as at you we they has"
               " its when what how there their will can if but only so than then these one all who your",
    "portuguese": "que nao uma com para os em do da dos das no na nos nas mais ao como mas foi pelo pela isso ele ela"
                  " voce sao ou ser quando muito tambem ja esta seu sua aos um",
    "spanish": "el los las una que con para del por es y lo como mas pero sus fue esta hay muy cuando al son donde"
               " este un se su",
    "french": "le les des une et est dans pour qui que pas sur avec ce au aux du plus par sont cette nous vous ou mais"
              " ses il elle un",
    "german": "der die und das ist nicht den von mit ein eine zu auf im des dem sich auch fur es wird oder sind wie als"
              " bei nach wenn werden",
    "italian": "il che di e la per una non con sono del della dei gli le nel alla piu anche come questo essere da un"
               " ha si",
    "russian": "и в не на что с как это по но из у за то все так его для же от был она они мы вы или если чтобы когда"
               " только может быть было были к о",
}.items()}

_ANY: frozenset[str] = frozenset().union(*_MARKS.values())
LANGUAGES: tuple[str, ...] = tuple(_MARKS)
_CODES = {"en": "english", "pt": "portuguese", "es": "spanish", "fr": "french", "de": "german", "it": "italian",
          "nl": "dutch", "sv": "swedish", "no": "norwegian", "nb": "norwegian", "da": "danish", "fi": "finnish",
          "ru": "russian", "ro": "romanian", "hu": "hungarian", "tr": "turkish", "ar": "arabic", "el": "greek",
          "eng": "english", "por": "portuguese", "spa": "spanish", "fra": "french", "deu": "german", "ita": "italian"}
_SAMPLE = 1000
_LEAST_SHARE = 0.06
_WORDS = re.compile(r"[^\W\d_]+")
_ASCII_WORDS = re.compile(r"[a-z]+")


def declared_languages(value: str | None) -> tuple[str, ...]:
    """The languages that `language =` names, as Snowball names: codes (`pt-BR`) and names, separated by commas."""
    found = []
    for part in (value or "").replace(";", ",").split(","):
        name = part.strip().lower()
        code = re.split(r"[-_]", name)[0]
        if name:
            found.append(_CODES.get(code, name))
    return tuple(dict.fromkeys(found))


def detect(text: str, among: Sequence[str] = LANGUAGES) -> str:
    """The language of `text` out of `among`, or "" when its words do not tell. Looks at the first 1,000 characters."""
    folded = fold(text[:_SAMPLE])
    words = (_ASCII_WORDS if folded.isascii() else _WORDS).findall(folded)
    telling = list(filter(_ANY.__contains__, words))
    best, most = "", 0
    for language in among if telling else ():
        marks = _MARKS.get(language, frozenset())
        count = sum(map(marks.__contains__, telling))
        if count > most:
            best, most = language, count
    return best if most >= max(1, _LEAST_SHARE * len(words)) else ""


def language_of(text: str, declared: Sequence[str] = ()) -> str:
    """The stemmer's language for one note: the only declared one, else the detected one, else a fallback.

    The fallback is the first declared language; without any it is English for text in Latin letters, else "".
    """
    if len(declared) == 1:
        return declared[0]
    found = detect(text, declared or LANGUAGES)
    if found or declared:
        return found or declared[0]
    sample = text[:_SAMPLE]
    foreign = 0 if sample.isascii() else sum(c >= "\u0250" for c in sample)
    return "english" if foreign * 2 < len(sample) else ""
