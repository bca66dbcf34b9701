"""The composition root: from path arguments to one object that holds the fleet, its catalogue and the plugins."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from kb.blame import BlamedBackend, blamed, blaming
from kb.core.display import named, printable
from kb.core.values import Ranking
from kb.errors import PluginError, UsageError
from kb.host import DRIVERS, Host, PluginFailure, open_host
from kb.specs import Scorer
from kb.store.fleet import open_fleet

if TYPE_CHECKING:
    from kb.core.ports import Library, TextBackend
    from kb.core.query import Query
    from kb.core.values import Fleet
    from kb.store.catalogue import Catalogue

_shared: Host | None = None


def shared_host(quiet: bool = False) -> Host:
    """The plugin host of this process. Unless `quiet`, a broken plugin is named on stderr once."""
    global _shared
    if _shared is None:
        _shared = open_host(_tell)
    if quiet:
        _shared.report = lambda failure: None
    return _shared


def _tell(failure: PluginFailure) -> None:
    sys.stderr.write(f"kb: {printable(str(failure))}\n")


class App:
    """One opened fleet, in one scope. Operations take it as their world.

    host:            the plugins.
    fleet:           bases, manifest, root of fleet-level files, what was skipped on opening.
    include_private: whether --all was given.
    catalogue:       the notes as they are today, read on first use and taken over by `refreshed()`.
    """

    def __init__(self, host: Host, fleet: Fleet, include_private: bool, *, scorers: str | None = None,
                 text: str | None = None) -> None:
        """`scorers` and `text` stand before what the environment and fleet.txt choose: names as they would have them."""
        self.host = host
        self.fleet = fleet
        self.include_private = include_private
        self._chosen_scorers = scorers
        self._chosen_text = text

    @cached_property
    def catalogue(self) -> Catalogue:
        from kb.store.catalogue import Catalogue

        return Catalogue(self.fleet, self.include_private, self.text_backend, self.text_choice)

    @cached_property
    def scorers(self) -> tuple[Scorer, ...]:
        """The selected scorers, the one with the floor first. Raises UsageError for an unknown name.

        What one of them raises when it is asked is a PluginError that names its plugin.
        """
        every = self._owned_scorers()
        named = self._chosen_scorers or os.environ.get("KB_SCORERS") or self.fleet.manifest.last("scorers") or "default"
        wanted = named.replace(",", " ").split()
        known = {name for _, scorer in every for name in scorer.names}
        unknown = [name for name in wanted if name not in known]
        if unknown == ["default"]:
            raise PluginError("the scorers are off or broken", hint="see kb plugins")
        if unknown and every:
            raise UsageError(f"there is no scorer or set of scorers called {unknown[0]}",
                             hint="known: " + ", ".join(sorted(known)))
        chosen = [_blamed_scorer(plugin, scorer) for plugin, scorer in every if not scorer.names.isdisjoint(wanted)]
        gates = [scorer for scorer in chosen if scorer.floor is not None]
        if len(gates) != 1:
            raise PluginError(f"exactly one scorer must carry the floor, and {' '.join(wanted)} selects {len(gates)}",
                              hint="see kb plugins")
        return (gates[0], *(scorer for scorer in chosen if scorer is not gates[0]))

    def known_scorers(self) -> list[Scorer]:
        """Every scorer of every plugin. Two may share a name in different sets, as `keywords` does, but not in one."""
        return [scorer for _, scorer in self._owned_scorers()]

    def _owned_scorers(self) -> list[tuple[str, Scorer]]:
        return self.host.owned_specs("kb_scorers", Scorer,
                                     lambda scorer: [f"{scorer.name}/{one}" for one in scorer.sets or (scorer.name,)])

    @property
    def text_choice(self) -> str:
        """The text backend that was asked for: KB_TEXT_BACKEND, else `text_backend =` in fleet.txt, else `auto`."""
        return (self._chosen_text or os.environ.get("KB_TEXT_BACKEND") or self.fleet.manifest.last("text_backend")
                or "auto")

    def text_backend(self, name: str) -> TextBackend:
        """The text backend called `name`. Raises UsageError when no plugin provides it, PluginError when its plugin is off."""
        if name in self.host.disabled:
            raise PluginError(f"the text backend {name} is turned off", hint="KB_DISABLE_PLUGINS names it; choose another, or auto")
        try:
            driver = self.host.driver(DRIVERS, name)
        except KeyError:
            raise UsageError(f"there is no text backend called {named(name)}",
                             hint="known: auto, " + ", ".join(self.host.drivers(DRIVERS))) from None
        plugin = self.host.driver_plugin(DRIVERS, name)
        if plugin.built_in:  # it says itself what is wrong with its index, and `kb index` mends by the errors of its database
            backend: TextBackend = driver()
            return backend
        what = f"the text backend {name} of {plugin.distribution}"
        with blamed(what):
            return BlamedBackend(what, driver())

    def variant(self, *, scorers: str | None = None, text: str | None = None) -> App:
        """The same fleet with other scorers or another text backend, for comparing them."""
        return App(self.host, self.fleet, self.include_private, scorers=scorers or self._chosen_scorers,
                   text=text or self._chosen_text)

    def reopened(self, include_private: bool | None = None) -> App:
        """The same paths opened again, as the disk has them now."""
        return App(self.host, open_fleet(self.fleet.paths),
                   self.include_private if include_private is None else include_private,
                   scorers=self._chosen_scorers, text=self._chosen_text)


    def refreshed(self) -> App:
        """The same paths as the disk has them now; notes whose files are unchanged are not read again."""
        fresh = self.reopened()
        if "catalogue" in self.__dict__:
            fresh.__dict__["catalogue"] = self.catalogue.refreshed(fresh.fleet)
        return fresh


def _blamed_scorer(plugin: str, scorer: Scorer) -> Scorer:
    """The scorer, whose every fault names its plugin."""
    what = f"the scorer {scorer.name} of plugin {plugin}"

    def rank(library: Library, query: Query) -> Ranking:
        with blamed(what):
            found = scorer.rank(library, query)
            if not isinstance(found, Ranking):
                raise TypeError(f"it returned {type(found).__name__} where Ranking was due")
        return found._replace(matched=blaming(what, found.matched), passages=blaming(what, found.passages))

    def floor(library: Library) -> float:
        with blamed(what):
            assert scorer.floor is not None
            return float(scorer.floor(library))

    return scorer._replace(rank=rank, floor=None if scorer.floor is None else floor)


def open_app(paths: Sequence[str], include_private: bool = False, *, host: Host | None = None) -> App:
    """Open the fleet that `paths` name. Raises KbError when it cannot be opened."""
    return App(host or shared_host(), open_fleet(paths), include_private)
