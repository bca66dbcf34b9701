"""The keyword scorer of the set `default`: the classic sum, inflections included, damped by what an entry explains.

score = classic score x coverage, where coverage is the share of the question's idf mass that stands in the entry's
keys, title or file name (a word in no entry counts at full weight). Of n words m matched then weigh like m x m / n: a
long question must be matched by more words to clear the same floor, and a short one is scored as before. An inflection
of a word counts as that word at 0.8 of its weight. The numbers are settled by the tables in docs/benchmarks.md.
"""

from __future__ import annotations

from functools import partial
from itertools import islice, product

from kb.api import KEY, PHRASE, STEM, TITLE, Hit, Library, Place, Query, Ranking, Scorer, bag_of, hookimpl, key_phrase
from kb_plugins.scorers.evidence import FIELD_WEIGHT, PHRASE_WEIGHT, floor_for, idf
from kb_plugins.scorers.inflections import inflections

FUSES_FROM = 0.6   # share of the question that a keyword hit must explain to outrank a text hit
INFLECTED = 0.8    # weight of an inflection of a question's word
_LEAST = 0.05      # an entry found by its purpose alone keeps a trace of its score: a guess, and not nothing
_STRONG = KEY | PHRASE | TITLE | STEM
_SPELLINGS = 16    # spellings of one phrase that are looked up


def rank(library: Library, query: Query) -> Ranking:
    """Every entry that scores, best first, ties by base and path."""
    alike = inflections(library, query.terms)
    spelled = {term: (term, *alike.get(term, ())) for term in query.terms}
    entries = library.size()
    postings = library.postings(word for words in spelled.values() for word in words)
    scores: dict[int, float] = {}
    covered: dict[int, float] = {}
    weights: dict[str, float] = {}
    for term, words in spelled.items():
        gains: dict[int, float] = {}
        strong: set[int] = set()
        for word in words:
            if word in postings:
                share = 1.0 if word == term else INFLECTED
                for number, bits in zip(*postings[word], strict=True):
                    gains[number] = max(gains.get(number, 0.0), share * FIELD_WEIGHT[bits])
                    if bits & _STRONG:
                        strong.add(number)
        weight = weights[term] = idf(len(gains), entries)
        for number, gain in gains.items():
            if gain:
                scores[number] = scores.get(number, 0.0) + weight * gain
        for number in strong:
            covered[number] = covered.get(number, 0.0) + weight
    phrases = _phrases(library, query, {term: [w for w in words if w in postings] for term, words in spelled.items()})
    by_phrase: set[int] = set()
    for asked, declared in phrases.items():
        parts = asked.split(" ")
        gain = PHRASE_WEIGHT * sum(weights[part] for part in parts) / len(parts)
        for number in declared:
            scores[number] = scores.get(number, 0.0) + gain
            by_phrase.add(number)
    mass = sum(weights.values())
    hits = []
    for number, score in scores.items():
        share = covered.get(number, 0.0) / mass
        hits.append(Hit(*library.place(number), score * max(share, _LEAST), share >= FUSES_FROM or number in by_phrase))
    hits.sort(key=lambda hit: (-hit.score, hit.base, hit.path))
    return Ranking(hits, matched=partial(_matched, library, spelled, set(_declared(phrases, spelled))))


def _phrases(library: Library, query: Query, spelled: dict[str, list[str]]) -> dict[str, list[int]]:
    """phrase of the question -> entries that declare it, in any spelling its words have in the library."""
    asked = list(dict.fromkeys(query.phrases(library.longest_phrase(), [term for term, words in spelled.items() if words])))
    spellings = {phrase: [" ".join(words) for words in _spellings(phrase, spelled)] for phrase in asked}
    known = library.phrases(spelling for found in spellings.values() for spelling in found)
    found: dict[str, list[int]] = {}
    for phrase, forms in spellings.items():
        numbers = dict.fromkeys(number for form in forms for number in known.get(form, ()))
        if numbers:
            found[phrase] = list(numbers)
    return found


def _spellings(phrase: str, spelled: dict[str, list[str]]) -> list[tuple[str, ...]]:
    return list(islice(product(*(spelled[word] for word in phrase.split(" "))), _SPELLINGS))


def _declared(phrases: dict[str, list[int]], spelled: dict[str, tuple[str, ...]]) -> list[str]:
    every = {term: list(words) for term, words in spelled.items()}
    return [" ".join(words) for phrase in phrases for words in _spellings(phrase, every)]


def _matched(library: Library, spelled: dict[str, tuple[str, ...]], phrases: set[str], place: Place) -> tuple[str, ...]:
    """Keys whose phrase matched, as written, then the question's words that score in the entry on their own."""
    entry = library.entry(place)
    if entry is None:
        return ()
    words = bag_of(entry.path, entry.title, entry.keys, entry.purpose).words
    alone = (term for term, forms in spelled.items() if any(FIELD_WEIGHT[words.get(form, 0)] for form in forms))
    return (*dict.fromkeys(key for key in entry.keys if key_phrase(key) in phrases), *alone)


@hookimpl
def kb_scorers() -> list[Scorer]:
    return [Scorer("keywords", ("default",), rank, floor=lambda library: floor_for(library.size()))]
