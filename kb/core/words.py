"""The one analyser: how text becomes words, for questions, keys, titles and every text backend.

A word is a maximal run of letters and digits, folded, of more than one character. Runs of Han, kana and Hangul have
no blanks between their words, so each becomes its overlapping pairs of characters.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache, lru_cache
from typing import NamedTuple

_ENGLISH = """
a about after all also am an and any are as at be been before being between but by can could did do does for from had
has have he her here him his how i if in into is it its just let lets like may me might mine more most must my no not
now of off on or our ours out over own shall she should so some than that the their theirs them then there these they
this those through to too under up us very was we were what when where which who why will with would yes you your yours
bad best big false first full good high large last long low new next old real short small true worst
"""
_PORTUGUESE = """
agora ai ainda ali ao aos apenas aqui aquilo as assim ate com como da dar das de deve devo do dos e ela elas ele eles em
entao entre era essa essas esse esses esta estao estas estava este estes estou eu faz fazer foi hoje isso isto ja la lhe
mais mas me menos meu meus mim minha minhas muita muitas muito muitos na nao nas no nos nossa nossas nosso nossos num
numa o onde os ou outra outro para pela pelas pelo pelos pode podemos por porque posso quais qual quando quanta quantas
quanto quantos que quem quer quero sao se sem ser seu seus sim so sobre sou sua suas tambem te tem tenho ter teu tinha
toda todas todo todos tua tudo um uma umas uns vai vamos voce voces vou
alta alto baixa baixo boa bom certo cheio curto errado grande grandes longo melhor nova novas novo novos pequena pequeno
pior primeira primeiro proxima proximo real ruim ultima ultimo vazio velha velho
"""
STOP_WORDS = frozenset((_ENGLISH + _PORTUGUESE).split())

_ASCII_WORD = re.compile(r"[a-z0-9]{2,}")
_NOT_ASCII = re.compile(r"[^\x00-\x7f]+")
# Han, kana, Hangul and their compatibility blocks: text that is written without blanks between words.
UNSPACED = ("\u1100-\u11ff\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3038-\u303b\u3041-\u3096\u309d-\u309f"
            "\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f\u3131-\u318e\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
            "\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff66-\uff9f\U0001b000-\U0001b16f\U00020000-\U0003fffd")
# Marks that belong to the letter before them (Indic vowels, Hebrew points, Thai tones): \w does not know them.
_MARKS = ("\u0300-\u036f\u0483-\u0489\u0591-\u109f\u135d-\u135f\u1712-\u1dff\u20d0-\u20f0\u302a-\u302f\u3099\u309a"
          "\ua66f-\ua69f\ua6f0\ua6f1\ua802-\uabed\ufb1e\ufe00-\ufe0f\ufe20-\ufe2f\U00010000-\U000e01ef")


class _Patterns(NamedTuple):
    word: re.Pattern[str]
    longer_word: re.Pattern[str]
    marked: re.Pattern[str]
    runs: re.Pattern[str]
    unspaced: re.Pattern[str]


@cache
def _patterns() -> _Patterns:
    """What only text outside ASCII needs: compiled on first use, because compiling costs as much as a small question."""
    return _Patterns(re.compile(r"[^\W_]+"), re.compile(r"[^\W_]{2,}"), re.compile(f"[{_MARKS}]"),
                     re.compile(f"[{UNSPACED}]+|[^{UNSPACED}]+"),
                     re.compile(f"[{UNSPACED}]"))


def normalise(text: str) -> list[str]:
    """The words of `text` in order, repeats kept, stop words dropped."""
    return [word for word in analyse(text) if word not in STOP_WORDS]


def analyse(text: str) -> list[str]:
    """The words of `text` in order, repeats and stop words kept: what a text backend indexes."""
    folded = fold(text)
    if folded.isascii():
        return _ASCII_WORD.findall(folded)
    patterns = _patterns()
    marked = patterns.marked.search(folded) is not None
    if not marked and not patterns.unspaced.search(folded):
        return patterns.longer_word.findall(folded)
    words: list[str] = []
    for run in _marked_words(folded) if marked else patterns.word.findall(folded):
        if run.isascii():
            if len(run) > 1:
                words.append(run)
        else:
            words.extend(_split(run))
    return words


def _split(run: str) -> list[str]:
    words = []
    patterns = _patterns()
    for part in patterns.runs.findall(run):
        if patterns.unspaced.match(part):
            words.extend([part] if len(part) == 1 else [part[i:i + 2] for i in range(len(part) - 1)])
        elif len(part) > 1:
            words.append(part)
    return words


def _marked_words(text: str) -> list[str]:
    kept = "".join(c if c.isalnum() or unicodedata.category(c)[0] == "M" else " " for c in text)
    return [word for word in kept.split() if any(c.isalnum() for c in word)]


def fold(text: str) -> str:
    """Case and accents removed: NFKD, marks dropped after Latin, Greek and Cyrillic letters only, casefold, recomposed."""
    if text.isascii():
        return text.lower()
    return _NOT_ASCII.sub(lambda run: _fold_run(run[0]), text.lower())


@lru_cache(maxsize=65536)
def _fold_run(run: str) -> str:
    decomposed = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", run).casefold())
    kept = []
    accents_drop = True  # a mark that opens the run stands after an ASCII letter
    for c in decomposed:
        if unicodedata.combining(c):
            if accents_drop:
                continue
        else:
            accents_drop = _has_dropped_accents(c)
        kept.append(c)
    return unicodedata.normalize("NFC", "".join(kept))


@lru_cache(maxsize=4096)
def _has_dropped_accents(c: str) -> bool:
    return c.isalpha() and unicodedata.name(c, "").startswith(("LATIN", "GREEK", "CYRILLIC"))


def is_unspaced(word: str) -> bool:
    """Whether a word of the analyser comes from a script without blanks between words."""
    return not word.isascii() and _patterns().unspaced.match(word) is not None
