"""Bases of any size, the same bytes for the same seed: notes with keys, a purpose and sections of Zipf-like prose."""

from __future__ import annotations

import os
import random
from pathlib import Path

_SYLLABLES = ["ba", "ce", "di", "fo", "gu", "la", "me", "ni", "po", "ru", "sa", "te", "vi", "zo", "qua", "bre", "cli", "dro", "fle", "gri"]


def make_base(root: Path, notes: int, seed: int = 7) -> Path:
    """Write a base of `notes` notes (about 2 KB each, twelve keys) under `root` and age its files by a minute."""
    rng = random.Random(seed)
    vocabulary = ["".join(rng.choices(_SYLLABLES, k=rng.randint(2, 4))) for _ in range(20_000)]
    weights = [1 / (rank + 10) for rank in range(len(vocabulary))]
    (root / "knowledge").mkdir(parents=True, exist_ok=True)
    (root / "agent.txt").write_text(f"name = {root.name.title()}\nrole = holds {notes} notes\n", encoding="utf-8")
    (root / "MAP.md").write_text("# Map\n", encoding="utf-8")
    for number in range(notes):
        words = rng.choices(vocabulary, weights, k=320)
        keys = [*rng.choices(vocabulary, k=8), *(" ".join(rng.choices(vocabulary, k=2)) for _ in range(4))]
        sections = [f"## {words[i].title()} {words[i + 1]}\n\n{' '.join(words[i + 2:i + 80])}.\n" for i in range(0, 320, 80)]
        folder = root / "knowledge" / f"{number // 500:03}"
        folder.mkdir(exist_ok=True)
        (folder / f"note-{number:05}.md").write_text(
            f"# {keys[0].title()} {keys[1]}\n\n**Search for:** {', '.join(f'`{key}`' for key in keys)}\n\n"
            f"**Exists to:** say how {keys[2]} meets {keys[3]}.\n\n" + "\n".join(sections), encoding="utf-8")
    age(root)
    return root


def age(root: Path, seconds: float = 60) -> None:
    """Set every file's times back, so that none was written `just now` (see the entry cache's two seconds)."""
    for path in root.rglob("*.md"):
        stat = path.stat()
        os.utime(path, (stat.st_atime - seconds, stat.st_mtime - seconds))


def questions(root: Path, count: int, seed: int = 11) -> list[str]:
    """Questions of six words each, from the keys and the text of random notes."""
    rng = random.Random(seed)
    paths = sorted((root / "knowledge").rglob("*.md"))
    found = []
    for path in rng.choices(paths, k=count):
        words = path.read_text(encoding="utf-8").replace("`", " ").replace(",", " ").replace(".", " ").split()
        found.append(" ".join(rng.sample(words[4:16], 3) + rng.sample(words[30:], 3)))
    return found
