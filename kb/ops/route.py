"""`kb route`: ask a question, count it when it was not answered, and say both as one object."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kb.core.values import Answer, Miss
from kb.ops.ask import ask, record_miss

if TYPE_CHECKING:
    from kb.app import App


def route(app: App, question: str, top: int = 5) -> tuple[Answer, Miss | None]:
    """The answer to `question`, and the miss when it was refused and counted."""
    answer = ask(app, question, top)
    return answer, record_miss(app, answer)


def as_object(answer: Answer, miss: Miss | None) -> dict[str, Any]:
    """The answer as the JSON of the reference: every key in its order, nothing computed here."""
    found = answer.confidence
    owner = answer.owner
    return {
        "question": answer.question,
        "verdict": answer.verdict,
        "gate": {"served": answer.served, "ranked_by_text_only": answer.ranked_by_text_only, "floor": answer.floor},
        "confidence": {"agreement": found.agreement, "keyword_score": found.keyword_score, "margin": found.margin},
        "agent": None if owner is None else {
            "name": owner.name, "score": owner.score, "files": owner.files, "margin": owner.margin,
            "contenders": owner.contenders, "totals": owner.totals,
        },
        "keyword_top": None if answer.keyword_top is None else str(answer.keyword_top),
        "indexed": {"entries": answer.entries, "agents": answer.agents, "aliases": answer.aliases},
        "unreachable": answer.unreachable,
        "skipped": answer.skipped,
        "index_was_rebuilt": answer.index_was_rebuilt,
        "suggestions": answer.suggestions,
        "miss": miss,
        "results": [{
            "base": result.base, "path": result.path, "memory": result.memory, "title": result.title,
            "purpose": result.purpose, "score": result.score, "keyword_score": result.keyword_score, "why": result.why,
            "matched": result.matched,
            "passages": [{
                "heading_path": passage.heading_path, "text": passage.text, "excerpt": passage.excerpt,
                "provenance": passage.provenance, "stage": passage.stage,
            } for passage in result.passages],
        } for result in answer.results],
    }
