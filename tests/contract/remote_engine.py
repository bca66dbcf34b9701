"""A text engine that lives somewhere else: one index a base by name, batched writes, and a connection that can fail."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from kb.api import Base, Changes, Chunk, KbError, analyse
from kb_plugins.stems import StemmerSet

MOST_IN_A_REQUEST = 2_500


@dataclass
class Server:
    """What the service holds: index name -> (generation, row -> words with their counts)."""

    reachable: bool = True
    indexes: dict[str, tuple[int, dict[int, Counter[str]]]] = field(default_factory=dict)
    requests: list[int] = field(default_factory=list)
    languages: set[str] = field(default_factory=set)


class RemoteEngine:
    """A driver for `Server`, in the shape that one for a real service would have."""

    name = "remote"

    def __init__(self, server: Server) -> None:
        self._server = server
        self._stems = StemmerSet()

    def _call(self) -> Server:
        if not self._server.reachable:
            raise KbError("the search service at 127.0.0.1:9200 cannot be reached",
                          hint="start it, or set text_backend = auto")
        return self._server

    def generation(self, base: Base) -> int | None:
        found = self._call().indexes.get(base.root)
        return None if found is None else found[0]

    def apply(self, base: Base, generation: int, changes: Changes, *, fresh: bool) -> None:
        server = self._call()
        rows = {} if fresh else dict(server.indexes[base.root][1])
        for first, end in changes.removed:
            for row in [row for row in rows if first <= row < end]:
                del rows[row]
        for batch in changes.added:
            assert len(batch) <= MOST_IN_A_REQUEST
            server.requests.append(len(batch))
            server.languages.update(chunk.language for chunk in batch)
            rows.update((chunk.row, self._words(chunk)) for chunk in batch)
        server.indexes[base.root] = (generation, rows)

    def open(self, base: Base, generation: int) -> RemoteIndex:
        stands_at, rows = self._call().indexes.get(base.root, (None, {}))
        if stands_at != generation:
            raise KbError("the remote index is out of step", hint="run kb index")
        return RemoteIndex(rows, self._stems, sorted(self._server.languages))

    def _words(self, chunk: Chunk) -> Counter[str]:
        words: Counter[str] = Counter()
        for text, times in ((chunk.heading_path, 2), (chunk.text, 1)):
            for word in analyse(text):
                words[self._stems[chunk.language][word]] += times
        return words


class RemoteIndex:
    def __init__(self, rows: Mapping[int, Counter[str]], stems: StemmerSet, languages: Sequence[str]) -> None:
        self._languages = languages
        self._rows = rows
        self._stems = stems
        self._average = sum(map(Counter.total, rows.values())) / max(1, len(rows))

    def size(self) -> int:
        return len(self._rows)

    def _forms(self, word: str) -> tuple[str, ...]:
        return self._stems.every(word, self._languages)

    def frequencies(self, words: Sequence[str]) -> Sequence[int]:
        return [sum(any(form in held for form in self._forms(word)) for held in self._rows.values()) for word in words]

    def search(self, weights: Mapping[str, float], limit: int,
               allowed: Callable[[int], bool]) -> list[tuple[int, float]]:
        found = []
        for row, held in self._rows.items():
            score = 0.0
            norm = 1.2 * (0.25 + 0.75 * held.total() / self._average)
            for word, weight in weights.items():
                count = sum(held[form] for form in self._forms(word))
                score += weight * 2.2 * count / (count + norm)
            if score > 0 and allowed(row):
                found.append((row, score))
        return sorted(found, key=lambda hit: (-hit[1], hit[0]))[:limit]

    def close(self) -> None:
        assert math.isfinite(self._average)
