"""One base as `kb check` reads it: walked once, every note parsed at most once, and not at all when `kb index` has just done so."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, partial
from typing import Any

from kb.core.content import Content, content_of, decode_content, encode_content
from kb.core.header import parse_header
from kb.core.inline import WikiLink
from kb.core.manifest import parse_manifest
from kb.core.markdown import lines_of
from kb.core.shelves import KNOWLEDGE_FOLDERS, is_exempt, map_of
from kb.core.sources import BrokenRecord, Record
from kb.core.values import Base, Header, stem
from kb.store.files import NOT_UTF8, read_text
from kb.store.link_resolver import LinkResolver
from kb.store.shares import in_shares
from kb.store.sources import Sources, sources_in_scope
from kb.store.walk import walk_base

_PROBES = ("kb-probe", "kb-probe/kb-probe")  # no rule names these: what covers them covers whatever a folder holds

Parsed = tuple[Header, Content]


class CheckedNote:
    """One readable file. Implements `kb.core.ports.NoteUnderCheck`."""

    __slots__ = ("_map_name", "_root", "bibliography", "citations", "dashes", "dead_keys", "has_front_matter", "header", "in_knowledge",
                 "links", "names_sources", "path")

    def __init__(self, root: str, path: str, parsed: Parsed, map_name: str | None, in_knowledge: bool) -> None:
        self.path = path
        self.in_knowledge = in_knowledge
        self.header, content = parsed
        (self.dead_keys, self.has_front_matter, self.names_sources, self.links, self.citations, self.bibliography,
         self.dashes) = content
        self._root = root
        self._map_name = map_name

    @property
    def exempt(self) -> bool:
        return is_exempt(self.path, self._map_name)

    @property
    def text(self) -> str:
        try:
            return read_text(f"{self._root}/{self.path}")
        except (OSError, UnicodeDecodeError):  # it was readable when it was parsed
            return ""

    def lines(self) -> list[str]:
        return lines_of(self.text)


def _parse(root: str, paths: Sequence[str]) -> list[Parsed | str]:
    """Read and parse files of a base: (header, content) of each, or why it cannot be read."""
    found: list[Parsed | str] = []
    for path in paths:
        try:
            text = read_text(f"{root}/{path}")
        except UnicodeDecodeError:
            found.append(NOT_UTF8)
        except OSError as error:
            found.append(str(error.strerror))
        else:
            header = parse_header(text)
            found.append((header, content_of(text, header)))
    return found


def _pack(parsed: Parsed | str) -> Any:
    return parsed if isinstance(parsed, str) else (tuple(parsed[0]), encode_content(parsed[1]))


def _unpack(packed: Any) -> Parsed | str:
    return packed if isinstance(packed, str) else (Header(*packed[0]), decode_content(packed[1]))


class CheckedBase:
    """Implements `kb.core.ports.BaseUnderCheck`.

    The whole base is walked, private layer included, because a link may lead there; what is out of scope is read only
    where it may cite a source. `publishers` maps a folded stem to the bases of this run that publish it, in order; `run` is
    what checks keep for the length of the run.
    """

    def __init__(self, base: Base, include_private: bool, publishers: Callable[[str], Sequence[str]] = lambda target: (),
                 run: dict[str, Any] | None = None) -> None:
        self.base = base
        self.run = {} if run is None else run
        self.include_private = include_private
        self._publishers = publishers
        self._indexed = os.path.isdir(os.path.join(base.root, ".kb"))
        self._walk = walk_base(base, True, measure=self._indexed)
        self.map_name = map_of(frozenset(os.listdir(base.root)))
        folder = next((name for name in KNOWLEDGE_FOLDERS if os.path.isdir(os.path.join(base.root, name))), None)
        self._knowledge = f"{folder}/" if folder else None
        self._private = {stat.path for stat in self._walk.files if stat.private}
        self.unreadable = [(one.path, one.reason) for one in (*self._walk.unnamed, *self._walk.skipped)
                           if base.holds(one.path) and (include_private or not one.private)]

    @property
    def declared(self) -> bool:
        """Whether the folder says that it is a base. One that does not is read as its own tools read it."""
        return self.map_name is not None or self.base.routable or os.path.isfile(os.path.join(self.base.root, "agent.txt"))

    @cached_property
    def as_vault(self) -> bool:
        """Whether links may carry a path or `.md`, case aside: a folder that is no base yet, or `links = vault` in agent.txt."""
        if not self.declared:
            return True
        try:
            return parse_manifest(read_text(os.path.join(self.base.root, "agent.txt"))).last("links") == "vault"
        except (OSError, UnicodeDecodeError):
            return False

    @cached_property
    def notes(self) -> list[CheckedNote]:
        knowledge = self._knowledge
        found = []
        for path, parsed in self._parsed([
            stat.path for stat in self._walk.files if self.base.holds(stat.path) and (self.include_private or not stat.private)]):
            if isinstance(parsed, str):
                self.unreadable.append((path, parsed))
            else:
                found.append(CheckedNote(self.base.root, path, parsed, self.map_name, knowledge is not None and path.startswith(knowledge)))
        return found

    def _parsed(self, paths: Sequence[str]) -> Iterator[tuple[str, Parsed | str]]:
        """What stands in some files, in their order; those that are unchanged since `kb index` are not read."""
        fresh = [path for path in paths if path not in self._kept]
        read = dict(zip(fresh, in_shares(fresh, partial(_parse, self.base.root), _pack, _unpack), strict=True))
        return ((path, self._kept.get(path) or read[path]) for path in paths)

    @cached_property
    def _kept(self) -> dict[str, Parsed]:
        """What `kb index` kept of the files that are unchanged since, and could be read today as well."""
        if not self._indexed:
            return {}
        from kb.store.shelf import unchanged_notes

        kept = unchanged_notes(self.base.root, self._walk.files)
        if os.geteuid() == 0:  # who may read everything need not ask
            return kept
        return {path: parsed for path, parsed in kept.items() if os.access(f"{self.base.root}/{path}", os.R_OK)}

    def public_stems(self) -> list[str]:
        return [stem(stat.path) for stat in self._walk.files if not stat.private]

    # -- sources ---------------------------------------------------------------------------------------------------

    @cached_property
    def _sources(self) -> Sources | None:
        return sources_in_scope(self.base, self.include_private)

    @property
    def records(self) -> Sequence[Record] | None:
        known = self._sources is not None and all(item.name for item in self._sources.broken)
        return self._sources.records if known and self._sources else None

    @property
    def broken_records(self) -> Sequence[BrokenRecord]:
        return self._sources.broken if self._sources else ()

    @property
    def withheld_records(self) -> frozenset[str]:
        return self._sources.withheld if self._sources else frozenset()

    @cached_property
    def private_citations(self) -> frozenset[str]:
        if self.include_private:
            return frozenset()
        private = [stat.path for stat in self._walk.files if stat.private]
        return frozenset(citation.token for _, parsed in self._parsed(private) if not isinstance(parsed, str)
                         for citation in parsed[1].citations)

    # -- links -----------------------------------------------------------------------------------------------------

    @cached_property
    def _links(self) -> LinkResolver:
        return LinkResolver(self.base.root, [stat.path for stat in self._walk.files], self._walk.twins, self.as_vault)

    def resolve(self, link: WikiLink) -> Sequence[str]:
        return self._links.resolve(link.target)

    def is_private(self, path: str) -> bool:
        return path in self._private or self.base.privacy.covers(path)

    def elsewhere(self, target: str) -> str | None:
        return next((name for name in self._publishers(target.lower()) if name != self.base.name), None)

    # -- git -------------------------------------------------------------------------------------------------------

    def unignored_folders(self) -> Sequence[str]:
        privacy = self.base.privacy
        if privacy.whole:
            return ()
        try:
            rules = read_text(os.path.join(self.base.root, ".gitignore"))
        except (OSError, UnicodeDecodeError):
            return ()
        from pathspec import GitIgnoreSpec

        spec = GitIgnoreSpec.from_lines(rules.splitlines())
        return [folder for folder in privacy.folders if not all(spec.match_file(f"{folder}/{place}") for place in _PROBES)]
