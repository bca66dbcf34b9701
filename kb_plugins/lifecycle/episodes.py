"""Episodes: open files, the pointer to the newest, which of them is mine, and opening one."""

from __future__ import annotations

import os
from dataclasses import dataclass

from kb_plugins.lifecycle import clock, layout, yaml_subset
from kb_plugins.lifecycle.disk import Disk
from kb_plugins.lifecycle.exits import conflict, invalid
from kb_plugins.lifecycle.git import Checkout
from kb_plugins.lifecycle.layout import safe_key
from kb_plugins.lifecycle.ledger import Ledger
from kb_plugins.lifecycle.text import clean

_PROVIDER_VARIABLES = ("MAJORDOMUS_PROVIDER_SESSION", "CLAUDE_CODE_SESSION_ID")
FIELDS = ("session_id", "started_at", "owner", "worker", "provider", "provider_session", "repository_id", "worktree",
          "branch", "start_head", "start_working_tree")


@dataclass(frozen=True)
class Episode:
    """One open file. `key` is the provider's session id in its safe form, or `hand`."""

    key: str
    fields: dict[str, str]
    foreign: bool

    @property
    def id(self) -> str:
        return self.fields["session_id"]

    @property
    def started_at(self) -> str:
        return self.fields["started_at"]

    @property
    def path(self) -> str:
        return f"{layout.OPEN}/{self.key}.yaml"

    def shown(self) -> dict[str, object]:
        """The open file as JSON shows it."""
        said: dict[str, object] = {name: self.fields[name] for name in FIELDS if name in self.fields}
        return {**said, "foreign": True} if self.foreign else said


class Episodes:
    """The episodes that are open in one checkout."""

    def __init__(self, disk: Disk) -> None:
        self.disk = disk

    def all(self) -> list[Episode]:
        """Every open file that parses, oldest first."""
        found = [episode for name in self.disk.names(layout.OPEN, ".yaml")
                 if (episode := self._read(name.removesuffix(".yaml"))) is not None]
        return sorted(found, key=lambda episode: (episode.started_at, episode.id))

    def here(self) -> list[Episode]:
        """Those of this checkout."""
        return [episode for episode in self.all() if not episode.foreign]

    def keyed(self, provider_session: str) -> Episode | None:
        """The episode of a provider's session, here or foreign."""
        return self._read(safe_key(provider_session))

    def mine(self, provider_session: str | None = None) -> Episode | None:
        """The episode that an act belongs to: the named session's or none; else the environment's; else the pointer's."""
        if provider_session is not None:
            named = self.keyed(provider_session)
            return named if named and not named.foreign else None
        for variable in _PROVIDER_VARIABLES:
            value = os.environ.get(variable, "")
            if value and (own := self.keyed(value)) and not own.foreign:
                return own
        return self._pointed()

    def _pointed(self) -> Episode | None:
        text = self.disk.text(layout.POINTER)
        if text is None:
            return None
        try:
            named = yaml_subset.parse(text).get("session_id", "")
        except yaml_subset.SubsetError:
            return None
        return next((episode for episode in self.here() if episode.id == named), None)

    def _read(self, key: str) -> Episode | None:
        text = self.disk.text(f"{layout.OPEN}/{key}.yaml")
        if text is None:
            return None
        try:
            fields = {name: value for name, value in yaml_subset.parse(text).items() if isinstance(value, str)}
        except yaml_subset.SubsetError:
            return None
        if not fields.get("session_id") or "started_at" not in fields:
            return None
        return Episode(key, fields, fields.get("worktree", self.disk.root) != self.disk.root)

    # -- opening and closing ---------------------------------------------------------------------------------------

    def start(self, ledger: Ledger, *, owner: str = "", worker: str = "", provider: str = "",
              provider_session: str = "", keep: bool = False) -> tuple[Episode, bool]:
        """Open an episode; (it, whether it is new). One per key: a second is refused (15), or kept with `keep`."""
        key = safe_key(provider_session)
        with self.disk.lock("episodes"):
            path = f"{layout.OPEN}/{key}.yaml"
            there = self._read(key)
            if there is None and self.disk.exists(path):
                raise invalid(f"{path} does not parse", hint="mend or remove it")
            if there is not None:
                if keep and not there.foreign:
                    return there, False
                whose = f"by another checkout, {there.fields.get('worktree', '')}" if there.foreign else "already"
                raise conflict(f"the episode {there.id} is open {whose}",
                               hint=f"close it first, or remove {path}" if there.foreign else "close it first")
            episode = self._new(ledger, key, owner, worker, provider, provider_session)
            self.disk.write(path, _document(episode.fields), mode=0o600)
            self.point_at(episode)
        payload = {"worker": clean(worker)} if worker else {}
        ledger.append("session.started", episode.id, owner=episode.fields["owner"], **payload)
        return episode, True

    def _new(self, ledger: Ledger, key: str, owner: str, worker: str, provider: str, provider_session: str) -> Episode:
        moment = clock.now()
        taken = {episode.id for episode in self.all()}
        name = ""
        while not name or name in taken or ledger.mentions(name):
            name = f"s-{clock.digits(moment)}-{os.urandom(2).hex()}"
        checkout = self.disk.checkout
        fields = {"session_id": name, "started_at": clock.instant(moment), "owner": clean(owner) or user(checkout),
                  "worker": clean(worker), "provider": clean(provider), "provider_session": clean(provider_session),
                  "repository_id": checkout.common, "worktree": checkout.root, "branch": checkout.branch,
                  "start_head": checkout.head, "start_working_tree": "dirty" if checkout.dirty() else "clean"}
        return Episode(key, {key_: value for key_, value in fields.items() if value}, False)

    def point_at(self, episode: Episode) -> None:
        """Aim the pointer: a relative link, or a copy where links cannot be made."""
        pointer = os.path.join(self.disk.root, layout.POINTER)
        temporary = f"{pointer}.{os.getpid()}.{os.urandom(4).hex()}.tmp"
        try:
            os.symlink(os.path.relpath(episode.path, layout.STATE), temporary)
            os.replace(temporary, pointer)
        except OSError:
            if os.path.islink(pointer):
                os.unlink(pointer)
            self.disk.write(layout.POINTER, _document(episode.fields), mode=0o600)

    def end(self, episode: Episode) -> None:
        """Forget an open file, and aim the pointer at the one episode that is left, if it is one."""
        with self.disk.lock("episodes"):
            pointed = self._pointed()
            self.disk.remove(episode.path)
            if pointed is None or pointed.id == episode.id:
                left = self.here()
                if len(left) == 1:
                    self.point_at(left[0])
                else:
                    self.disk.remove(layout.POINTER)


def _document(fields: dict[str, str]) -> str:
    return "".join(f"{name}: {yaml_subset.scalar(fields[name])}\n" for name in FIELDS if name in fields)


def user(checkout: Checkout) -> str:
    """Who runs this: the author that git would name, else the system's user."""
    return clean(checkout.line("var", "GIT_AUTHOR_IDENT").partition(" <")[0]) or os.environ.get("USER", "") or "unknown"
