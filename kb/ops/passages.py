"""Which text of a file is shown for a question: the chunks that matched, or how the file begins."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kb.core.values import Answer, Passage, Place

if TYPE_CHECKING:
    from kb.app import App


def telling(passages: Sequence[Passage]) -> list[Passage]:
    """The passages that say more than the note's purpose line, which is shown with the file anyway."""
    from kb.core.header import split_label

    return [passage for passage in passages
            if any(line.strip() and split_label(line)[0] != "purpose" for line in passage.text.split("\n"))]


def vouched(answer: Answer) -> Place | None:
    """The file that a hit is about."""
    return answer.keyword_top if answer.verdict == "hit" else None


def beginning(app: App, place: Place) -> list[Passage]:
    """The chunks of a file as it stands on disk, from its beginning; none when it cannot be read."""
    from kb.core.chunks import chunk

    text = app.catalogue.text_of(place)
    if text is None:
        return []
    header = app.catalogue.header(place)
    origin = header.front.get("captured_from") if header else None
    return [Passage(path, body, body, captured_from=origin) for path, body in chunk(text)]
