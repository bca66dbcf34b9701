"""The outbox: on the trunk, records wait in the local state until a branch episode carries them into the tracked tree."""

from __future__ import annotations

from collections.abc import Callable

from kb.api import KbError
from kb_plugins.lifecycle import layout
from kb_plugins.lifecycle.derive import standing
from kb_plugins.lifecycle.disk import Disk
from kb_plugins.lifecycle.git import DETACHED
from kb_plugins.lifecycle.records import RecordFile, is_contract
from kb_plugins.lifecycle.session_records import session_fields


def counts(disk: Disk) -> tuple[int, int]:
    """(session records, candidates) that wait, misfits included."""
    return len(disk.names(layout.OUTBOX_SESSIONS, "")), len(disk.names(layout.OUTBOX_CANDIDATES, ""))


def notice(disk: Disk) -> str:
    """What waits, as one phrase; "" when nothing does."""
    sessions, candidates = counts(disk)
    if not sessions + candidates:
        return ""
    return (f"{sessions} session record(s), {candidates} knowledge candidate(s) in {layout.OUTBOX}/, "
            "waiting for a branch episode to carry them")


def drain(disk: Disk, say: Callable[[str], None]) -> None:
    """Carry what waits, if this checkout stands on a branch beside a trunk. Each file is one line to `say`."""
    checkout = disk.checkout
    if not checkout.trunk or checkout.on_trunk or checkout.branch == DETACHED or not any(counts(disk)):
        return
    with disk.lock("knowledge"):
        stay = sum(not _carry_session(disk, name, say) for name in disk.names(layout.OUTBOX_SESSIONS, ""))
        stay += sum(not _carry_candidate(disk, name, say) for name in disk.names(layout.OUTBOX_CANDIDATES, ""))
    if stay:
        say(f"outbox: {stay} file(s) stay in {layout.OUTBOX}/ (run: majordomus doctor)")


def _carry_session(disk: Disk, name: str, say: Callable[[str], None]) -> bool:
    source, target = f"{layout.OUTBOX_SESSIONS}/{name}", f"{layout.SESSIONS}/{name}"
    data = _staged(disk, source, say)
    if data is None:
        return False
    episode = str(session_fields(data).get("session_id", ""))
    if not episode or not name.endswith(".md"):
        say(f"outbox: {source} is no session record and stays")
        return False
    if any(_names(disk, other, episode) for other in disk.names(layout.SESSIONS)):
        disk.remove(source)
        say(f"outbox: {episode} is already tracked; the staged copy is retired")
        return True
    if disk.exists(target):
        say(f"outbox: {source} stays: another episode's record has its name")
        return False
    return _move(disk, source, target, data, 0o600, say)


def _carry_candidate(disk: Disk, name: str, say: Callable[[str], None]) -> bool:
    source, target = f"{layout.OUTBOX_CANDIDATES}/{name}", f"{layout.CANDIDATES}/{name}"
    data = _staged(disk, source, say)
    if data is None:
        return False
    record = None if not name.endswith(".md") or is_contract(data) else RecordFile(source, data)
    if record is None or record.field("schema") != "knowledge/v1" or record.field("id") != record.stem:
        say(f"outbox: {source} is no knowledge record and stays")
        return False
    if standing(disk, record.stem) or disk.read(target) == data:
        disk.remove(source)
        say(f"outbox: {record.stem} is already tracked; the staged copy is retired")
        return True
    return _move(disk, source, target, data, 0o644, say)


def _staged(disk: Disk, source: str, say: Callable[[str], None]) -> bytes | None:
    """What waits, or None when it cannot be read: then it stays, and the others are carried."""
    try:
        return disk.read(source) or b""
    except KbError as error:
        say(f"outbox: {error.message}, so it stays")
        return None


def _move(disk: Disk, source: str, target: str, data: bytes, mode: int, say: Callable[[str], None]) -> bool:
    disk.write_bytes(target, data, mode=mode)
    disk.remove(source)
    say(f"outbox: carried {target}")
    return True


def _names(disk: Disk, other: str, episode: str) -> bool:
    if episode not in other and "--s-" in other:
        return False
    return session_fields(disk.read(f"{layout.SESSIONS}/{other}") or b"").get("session_id") == episode
