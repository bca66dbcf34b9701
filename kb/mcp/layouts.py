"""What the tools return: an answer, a proposal or a list as the text a model reads."""

from __future__ import annotations

import re
from collections.abc import Sequence

from kb.core.display import flat
from kb.core.evidence import SPELLING_CAVEAT, evidence_line, shortfall
from kb.core.values import Answer, Passage, Result
from kb.ops.listing import ListedFile, row_text
from kb.ops.remember import Remembered

_OURS = re.compile(r"^[ \t]*(?:EVIDENCE:|NOTE:|#{1,6}[ \t]|ranked by:|Passages for:|Files to open for:|Nothing matched)", re.MULTILINE)
_DEPOSIT = "  [short memory: recent, not distilled, not yet in the library]"


def files_to_open(answer: Answer) -> str:
    """kb_route: ranked paths with the words that matched, and no contents."""
    if not answer.keyword_list:
        return nothing_found(answer)
    lines = [f"Files to open for: {answer.question}", "", evidence_line(answer) + ".", ""]
    for number, hit in enumerate(answer.keyword_list, start=1):
        lines.append(f"{number}. {hit.base}/{hit.path}" + (f"  ({flat(hit.title)})" if hit.title else ""))
        lines.append(f"   matched: {', '.join(hit.matched)}")
        if hit.purpose:
            lines.append(f"   {flat(hit.purpose)}")
    return "\n".join(lines) + "\n"


def passages(answer: Answer, beginning: Sequence[Passage] = ()) -> str:
    """kb_retrieve: the passages themselves, under the evidence. `beginning` is how the file that a hit is about begins, when its keys
    matched and nothing in its text did."""
    if not answer.results:
        return nothing_found(answer)
    parts = [f"Passages for: {answer.question}\n\n{evidence_line(answer)}.\n\n"]
    if all(len(result.why) < 2 for result in answer.results):
        parts.append("NOTE: no file was ranked by both scorers, so take these as leads. Agreement never decides the verdict.\n\n")
    if not any(result.passages for result in answer.results):
        lost = answer.unreachable.unindexed or answer.skipped
        why = "the text index is missing or stale. Run kb index" if lost else "the words of the question stand in keys alone"
        parts.append(f"NOTE: no file has a passage to show: {why}.\n\n")
    return "".join([*parts, *(_file(result, beginning if (result.base, result.path) == answer.keyword_top else ())
                              for result in answer.results)])


def _file(result: Result, beginning: Sequence[Passage]) -> str:
    head = f"## {result.base}/{result.path}" + (f"  ({flat(result.title)})" if result.title else "")
    head += _DEPOSIT if result.memory == "short" else ""
    body = "".join(_passage(passage) for passage in beginning or result.passages)
    if beginning:
        body = f"   (its keys matched, and this is how it begins)\n{body}"
    elif not body:
        body = "   (ranked by keywords only; open the file for its text)\n"
    return f"{head}\n   ranked by: {' + '.join(result.why)}\n{body}\n"


def _passage(passage: Passage) -> str:
    origin = "/".join(part for part in (passage.provenance, passage.stage) if part)
    return f"\n### {flat(passage.heading_path)}" + (f"  [{flat(origin)}]" if passage.provenance else "") + f"\n{quoted(passage.text)}\n"


def quoted(text: str) -> str:
    """A passage whose lines cannot be taken for ours: one that imitates the layout is quoted with `> `."""
    return _OURS.sub(r"> \g<0>", text)


def nothing_found(answer: Answer) -> str:
    """A refusal: what was asked, why it falls short, and keys that are spelled alike."""
    if answer.entries == 0:
        return _empty_library(answer)
    told = [f'Nothing matched "{answer.question}".', "The library does not hold this, or its key lines lack these words. "
            "Do not answer from it; say that it is not there."]
    told += shortfall(answer)
    if answer.suggestions:
        told.append(f"These keys look like words you used: {', '.join(answer.suggestions)}. {SPELLING_CAVEAT}")
    return "\n\n".join(told) + "\n"


def _empty_library(answer: Answer) -> str:
    told = ["There are no knowledge files yet: no note has a Search for line. kb init makes a base and kb write adds a note."]
    files = answer.unreachable.files
    if files:
        told.append("1 markdown file is there without such a line." if files == 1
                    else f"{files} markdown files are there without such a line.")
    return " ".join([*told, "kb_fleet works regardless."]) + "\n"


def proposal(found: Remembered) -> str:
    """kb_remember: the proposal, its evidence and the notice."""
    lines = [f"claim: {flat(found.claim)}", f"proposal: {found.proposal}", f"reason: {found.reason}", ""]
    lines += ["evidence, closest first:"] if found.evidence else ["Nothing in the library overlaps with it."]
    for item in found.evidence:
        lines += ["", f"  {item.containment:.2f} contained  {item.base}/{item.path}  {flat(item.heading_path)}",
                  f"    shared: {', '.join(item.shared) or '-'}", f"    new: {', '.join(item.missing) or '-'}",
                  f"    {flat(item.excerpt)}"]
    return "\n".join([*lines, "", "---", found.notice, "", "Nothing was written."]) + "\n"


def listing(rows: Sequence[ListedFile], limit: int) -> str:
    """kb_list: one line a file, and how many the limit cut."""
    if not rows:
        return "0 files. That is a fact about the filter: no file in scope has these facets.\n"
    lines = [f"{len(rows)} files. Nothing here is ranked.", "", *(row_text(row) for row in rows[:limit])]
    if len(rows) > limit:
        lines += ["", f"{len(rows) - limit} more not shown. Narrow the facets, or raise limit."]
    return "\n".join(lines) + "\n"
