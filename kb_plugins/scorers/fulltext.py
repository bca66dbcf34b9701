"""The full-text scorer: a file is as good as its best chunk, by BM25 over the whole fleet. It carries no floor."""

from __future__ import annotations

from kb.api import ChunkHit, Hit, Library, Passage, Place, Query, Ranking, Scorer, hookimpl


def rank(library: Library, query: Query) -> Ranking:
    """Every file with a matching chunk, in the order of its best chunk."""
    text = library.text(query)
    chunks: dict[Place, list[ChunkHit]] = {}
    for chunk in text.hits:
        chunks.setdefault(chunk.place, []).append(chunk)

    def passages(place: Place, limit: int) -> tuple[Passage, ...]:
        return library.passages(query, chunks.get(place, [])[:limit])

    return Ranking([Hit(*place, found[0].score) for place, found in chunks.items()], passages=passages,
                   skipped=text.skipped)


@hookimpl
def kb_scorers() -> list[Scorer]:
    return [Scorer("text", ("default", "classic"), rank)]
