"""Which commands of which fleet a person approved. A fleet arrives with a clone; what it names runs only after that.

An approval is a digest over the command line and the bytes of every file of the fleet that the line names or starts,
kept by the fleet's real path in `trust.json` of the user's configuration folder. Any change of either asks again.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from kb.errors import KbError, UsageError
from kb.store.clock import today
from kb.store.files import config_home, locked, read_bytes, read_text, write_atomic

ADAPTERS = "tools/extract"
_FORMAT = 1


class Untrusted(UsageError):
    """Something that a fleet would have run, and that nobody approved: exit 2."""


@dataclass(frozen=True, slots=True)
class Runnable:
    """What a fleet would have run. `name` is a role (`answerer`) or an adapter's path inside the fleet.

    files:  the files of the fleet that it names, as POSIX paths inside it. Their bytes are part of `digest`.
    """

    name: str
    command: str
    files: tuple[str, ...]
    digest: str


@dataclass(frozen=True, slots=True)
class Approval:
    """What was approved, and on which day (UTC)."""

    root: str
    name: str
    command: str
    digest: str
    day: str


def runnable(root: str, name: str, command: str) -> Runnable:
    """The command line `command` of the fleet at `root` (real path), with the files of the fleet that it names."""
    from kb.store.commands import CommandFailed, resolve_program, split_command
    from kb.store.named_files import files_named

    words, program = [], None
    try:
        words = split_command(command)
        program = resolve_program(words[0], root)
    except CommandFailed:
        pass
    files = files_named(root, words, program)
    return Runnable(name, command, files, _digest(root, name, command, files))


def adapter(root: str, place: str) -> Runnable:
    """The adapter at `place`, a POSIX path inside the fleet at `root`. The document is its only argument."""
    from kb.store.named_files import files_named

    files = tuple(sorted({place, *files_named(root, (), os.path.join(root, place))}))
    return Runnable(place, place, files, _digest(root, place, place, files))


def adapters(root: str) -> list[Runnable]:
    """Every file of `tools/extract/` of the fleet at `root`."""
    try:
        names = sorted(os.listdir(os.path.join(root, ADAPTERS)))
    except OSError:
        return []
    return [adapter(root, f"{ADAPTERS}/{name}") for name in names
            if not name.startswith(".") and os.path.isfile(os.path.join(root, ADAPTERS, name))]


def is_approved(root: str, item: Runnable) -> bool:
    """Whether this very item was approved, or KB_TRUST=1 approves whatever this process needs."""
    if os.environ.get("KB_TRUST") == "1":
        return True
    try:
        kept = _read().get(root, {}).get(item.name, {})
    except KbError:  # what cannot be read approves nothing
        return False
    return bool(kept) and kept.get("digest") == item.digest


def require(root: str, *items: Runnable) -> None:
    """Refuse what nobody approved. Raises Untrusted."""
    unknown = [item for item in items if not is_approved(root, item)]
    if unknown:
        raise Untrusted("nobody approved " + " and ".join(_shown(item) for item in unknown),
                        hint=f"read it, then approve it with: kb trust {root}")


def require_adapter(root: str, path: str) -> None:
    """Refuse the adapter at the absolute `path` inside the fleet at `root` unless it was approved. Raises Untrusted."""
    require(root, adapter(root, os.path.relpath(path, root).replace(os.sep, "/")))


def approve(root: str, items: Iterable[Runnable]) -> None:
    """Record that a person approved `items`. What was approved under another name of the fleet stays."""
    with locked(_path()):
        fleets = _read()
        mine = fleets.setdefault(root, {})
        for item in items:
            mine[item.name] = {"command": item.command, "digest": item.digest, "day": today()}
        _write(fleets)


def forget(root: str) -> list[str]:
    """Take back everything that was approved for the fleet at `root`; the names of what it was."""
    with locked(_path()):
        fleets = _read()
        gone = fleets.pop(root, {})
        if gone:
            _write(fleets)
    return sorted(gone)


def approvals() -> list[Approval]:
    """Everything that was approved, of every fleet. Raises KbError when the record cannot be read."""
    return [Approval(root, name, str(row.get("command", "")), str(row.get("digest", "")), str(row.get("day", "")))
            for root, rows in sorted(_read().items()) for name, row in sorted(rows.items())]


def _shown(item: Runnable) -> str:
    return f"`{item.name} = {item.command}`" if item.name != item.command else item.name


def _digest(root: str, name: str, command: str, files: tuple[str, ...]) -> str:
    import hashlib

    total = hashlib.blake2b(digest_size=32)
    for text in (name, command):
        data = text.encode("utf-8", "surrogateescape")
        total.update(b"%d:" % len(data) + data)
    for place in files:
        data = _bytes(os.path.join(root, place))
        label = place.encode("utf-8", "surrogateescape")
        total.update(b"%d:" % len(label) + label + b"%d:" % len(data) + data)
    return total.hexdigest()


def _bytes(path: str) -> bytes:
    """What stands in a file; where a link to a folder outside leads."""
    try:
        return os.fsencode(os.readlink(path)) if os.path.isdir(path) else read_bytes(path)
    except OSError:
        return b""


def _path() -> str:
    return os.path.join(config_home(), "trust.json")


def _read() -> dict[str, dict[str, Mapping[str, Any]]]:
    import json

    try:
        data = json.loads(read_text(_path()))
        fleets = data["fleets"]
        return {str(root): {str(name): dict(row) for name, row in rows.items()} for root, rows in fleets.items()}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        raise KbError(f"the record of approvals cannot be read: {_path()}", hint="mend it or remove it") from None


def _write(fleets: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> None:
    import json

    kept = {root: rows for root, rows in sorted(fleets.items()) if rows}
    write_atomic(_path(), json.dumps({"format": _FORMAT, "fleets": kept}, indent=1) + "\n", mode=0o600)
