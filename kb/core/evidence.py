"""The sentences that every surface shares: the EVIDENCE line, why an answer falls short, what a suggestion is."""

from __future__ import annotations

from kb.core.values import Answer
from kb.core.verdict import MIN_ENTRIES

_AGREEMENT = {2: "both", 1: "only one", 0: "neither"}
_VERDICT = {
    "hit": "something here matches",
    "guess": "a guess, too weak or too close to the runner-up to tell from a coincidence of vocabulary",
    "nothing": "nothing matched",
}

SPELLING_CAVEAT = "The comparison is of spelling and not of meaning: it finds a typo or a cognate, never a translation."


def evidence_line(answer: Answer) -> str:
    """The EVIDENCE line of the seed page: score and floor to one decimal, margin to two."""
    found = answer.confidence
    return (f"EVIDENCE: keyword score {found.keyword_score:.1f} against a floor of {answer.floor:.1f}; "
            f"{_AGREEMENT[found.agreement]} of the two independent scorers ranked the top file; it leads the runner-up by "
            f"{found.margin:.2f}x. Verdict: {_VERDICT[answer.verdict]}")


def shortfall(answer: Answer) -> list[str]:
    """Why an answer is not a hit, as zero to three sentences; none for an empty library."""
    if answer.entries == 0:
        return []
    told = []
    if answer.entries < MIN_ENTRIES:
        told.append(f"The whole fleet holds {_count(answer.entries, 'entry', 'entries')} across "
                    f"{_count(answer.agents, 'agent', 'agents')}, and nothing can be told apart from chance below "
                    f"{MIN_ENTRIES}: no word is rare in a library of one. Another note changes that, another question does not.")
    files = answer.unreachable.files
    if files:
        told.append(f"{_count(files, 'file has', 'files have')} no Search for line, so every question scores "
                    f"{'it' if files == 1 else 'them'} zero; kb check names {'it' if files == 1 else 'them'}.")
    score = answer.confidence.keyword_score
    if score == 0:
        told.append("No term of the question is a word of any key: this is a vocabulary miss, not a near miss.")
    elif answer.verdict == "guess" and answer.entries >= MIN_ENTRIES:
        told.append(f"The best keyword score is {score:.1f} and the floor for a library of this size is {answer.floor:.1f}.")
    return told


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"
