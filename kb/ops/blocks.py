"""`kb blocks`: what a base's constitution costs, and the constitution itself."""

from __future__ import annotations

import os
from dataclasses import dataclass

from kb.core.blocks import Block, parse_blocks, split_bytes, tokens_of, without_keys
from kb.errors import KbError
from kb.store.declared import is_private
from kb.store.files import is_inside, read_text
from kb.store.fleet import is_base, open_fleet, real_folder


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

    A block may name a file of the base or of another one beside it (`../person/core.md`), and nothing else.
    """
    root = real_folder(path)
    file = os.path.join(root, "blocks.txt")
    if not is_inside(os.path.realpath(file), root):
        raise KbError(f"{file} is a link that leaves its base, so it is not followed")
    try:
        text = read_text(file)
    except FileNotFoundError:
        raise KbError(f"there is no {file}", hint="name the folder of an agent; kb init writes one there") from None
    except UnicodeDecodeError:
        raise KbError(f"{file} is not UTF-8") from None
    except OSError as error:
        raise KbError(f"{file} cannot be read: {error.strerror}") from None
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
    for name in block.files:
        try:
            real = os.path.realpath(os.path.join(root, name))
            if os.path.isabs(name) or not _may_be_sent(real, root):
                raise FileNotFoundError(name)
            text = read_text(real)
        except (OSError, ValueError):  # not there, not to be read, no UTF-8, or no path at all: one with a NUL
            missing.append(name)
            continue
        on_disk += len(text.encode())
        texts.append(without_keys(text))
    return SizedBlock(block, tuple(texts), on_disk, tuple(missing))


def _may_be_sent(real: str, root: str) -> bool:
    """Whether a file may stand in a constitution of the base at `root`: a clone must not send a file of its reader to a model.

    Its own files may, private ones too, because who keeps the base named them; of a base beside it the public ones, and all of
    the person's, which the skeleton names. A name that begins with a dot (`.env`, `.git/config`) never may: no clone brings these,
    and what they hold was not written to be read.
    """
    around = os.path.dirname(root)
    inside = os.path.relpath(real, root if is_inside(real, root) else around)
    if any(part.startswith(".") for part in inside.split(os.sep)):
        return False
    if is_inside(real, root):
        return True
    name, _, inner = inside.partition(os.sep)
    beside = os.path.join(around, name)
    if not inner or not (os.path.basename(around) == "fleet" or is_base(beside)):
        return False
    if name.casefold() == "person":
        return True
    try:
        bases = open_fleet([beside]).bases
    except KbError:  # it is gone, no folder, or may not be read: what it keeps private is not known
        return False
    return all(base.root == beside and not is_private(base, inner.replace(os.sep, "/")) for base in bases)
