"""`kb blocks`: what a base's constitution costs, and the constitution itself."""

from __future__ import annotations

import os
from dataclasses import dataclass

from kb.core.blocks import Block, parse_blocks, split_bytes, tokens_of, without_keys
from kb.errors import KbError
from kb.store.files import read_text
from kb.store.fleet import real_folder


@dataclass(frozen=True, slots=True)
class SizedBlock:
    """A block with its texts as they are sent. Sizes are bytes of UTF-8; `missing` are files that cannot be read."""

    block: Block
    texts: tuple[str, ...]
    on_disk: int
    missing: tuple[str, ...]

    @property
    def sent(self) -> int:
        return sum(split_bytes(self.texts))

    @property
    def tokens(self) -> int:
        return tokens_of(self.texts)


def read_blocks(path: str) -> list[SizedBlock]:
    """The blocks of the base at `path`, read. Raises KbError when it has no blocks.txt.

    A block may name a file of another base of the fleet (`../person/core.md`), and nothing outside the fleet's folder.
    """
    root = real_folder(path)
    file = os.path.join(root, "blocks.txt")
    try:
        text = read_text(file)
    except FileNotFoundError:
        raise KbError(f"there is no {file}", hint="name the folder of an agent; kb init writes one there") from None
    except (OSError, UnicodeDecodeError):
        raise KbError(f"{file} cannot be read as UTF-8") from None
    return [_read(root, block) for block in parse_blocks(text)]


def constitution(path: str) -> str:
    """The assembled resident blocks, as a model is sent them: what `--emit` prints."""
    parts = []
    for sized in read_blocks(path):
        if sized.block.resident:
            stripped = sized.sent != sized.on_disk
            note = " (key lines are left out)" if stripped else ""
            parts.append(f"\n<!-- block: {sized.block.name}{note} -->\n\n")
            parts += [text + ("" if text.endswith("\n") else "\n") + "\n" for text in sized.texts]
    return "".join(parts)


def resident_tokens(path: str) -> int:
    """What booting the base's agent costs: the tokens of all its resident blocks."""
    return sum(sized.tokens for sized in read_blocks(path) if sized.block.resident)


def _read(root: str, block: Block) -> SizedBlock:
    texts, missing, on_disk = [], [], 0
    around = os.path.dirname(root)
    for name in block.files:
        real = os.path.realpath(os.path.join(root, name))
        try:
            if os.path.isabs(name) or not real.startswith(around + os.sep):
                raise FileNotFoundError(name)
            text = read_text(real)
        except (OSError, UnicodeDecodeError):
            missing.append(name)
            continue
        on_disk += len(text.encode())
        texts.append(without_keys(text))
    return SizedBlock(block, tuple(texts), on_disk, tuple(missing))
