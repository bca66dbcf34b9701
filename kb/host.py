"""The plugin host: stevedore finds, pluggy calls, and what went wrong is kept by name.

Discovery is remembered in the user's cache folder, because importing stevedore and importlib.metadata costs more than
answering a question. The memory also holds which hooks each plugin implements, so that `kb route` imports the scorers
and nothing else. It is valid while the entry_points.txt files of all import folders are the same ones with the same modification
times, and, plugin by plugin, while its module has the one it had then.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from types import ModuleType
from typing import Any, NamedTuple, TypeVar

import pluggy

from kb import hookspecs
from kb.blame import ENDINGS, reason
from kb.errors import PluginError
from kb.store.files import cache_home, write_atomic

Spec = TypeVar("Spec")

PLUGINS = "kb.plugins"
DRIVERS = "kb.text"
OURS = "kb-catalogue"
_MEMORY_FORMAT = 1
_UNREADABLE = "?"  # the value of a plugin that stands for a distribution whose entry points cannot be read


class Plugin(NamedTuple):
    """One entry point: where it comes from and, once it was imported, which hooks it implements (None: not known)."""

    group: str
    name: str
    value: str
    distribution: str
    version: str
    hooks: tuple[str, ...] | None = None
    file: str = ""
    mtime_ns: int = 0

    @property
    def built_in(self) -> bool:
        return self.distribution == OURS


class PluginFailure(NamedTuple):
    """A plugin that is off because it is broken: at which stage (`import`, `register`, a hook's name) and why."""

    plugin: str
    stage: str
    reason: str

    def __str__(self) -> str:
        return f"plugin {self.plugin} is off: {self.stage}: {self.reason}"


class Host:
    """Discovered plugins, loaded when a hook they implement is first called.

    `report` is told each failure once, when it happens.
    """

    def __init__(self, plugins: list[Plugin], report: Callable[[PluginFailure], None] = lambda failure: None,
                 disabled: frozenset[str] = frozenset()) -> None:
        self.plugins = plugins
        self.report = report
        self.disabled = disabled
        self.failures: list[PluginFailure] = []
        self._manager = pluggy.PluginManager("kb")
        self._manager.add_hookspecs(hookspecs)
        self._seen: set[str] = set()
        self._learned = False

    # -- calling ---------------------------------------------------------------------------------------------------

    def gather(self, hook: str, **arguments: Any) -> list[tuple[str, Any]]:
        """Call `hook` on every plugin that implements it; (plugin name, result) in the order of the names.

        A plugin that raises is recorded, reported and left out. A broken built-in raises PluginError.
        """
        results: list[tuple[str, Any]] = []
        for plugin in self._load_for(hook):
            others = [module for name, module in self._manager.list_name_plugin() if name != plugin.name]
            call = self._manager.subset_hook_caller(hook, others)
            try:
                with _no_output():
                    found = call(**arguments)
                if not found and hook not in hookspecs.LISTENERS:
                    raise TypeError("returned None")
            except ENDINGS:
                raise
            except BaseException as error:  # noqa: BLE001 - a plugin may raise anything; it is named and the verb goes on
                self._fail(plugin, hook, error)
            else:
                results.extend((plugin.name, result) for result in found)
        return results

    def specs(self, hook: str, kind: type[Spec], key: Callable[[Spec], str | Sequence[str]]) -> list[Spec]:
        """Gather a list of specs from `hook`, checked: every item is a `kind`, and no two share a `key`."""
        return [item for _, item in self.owned_specs(hook, kind, key)]

    def owned_specs(self, hook: str, kind: type[Spec], key: Callable[[Spec], str | Sequence[str]]) -> list[tuple[str, Spec]]:
        """The same, each with the name of the plugin that it came from."""
        found: list[tuple[str, Spec]] = []
        owner: dict[str, str] = {}
        for plugin, items in self.gather(hook):
            try:
                with _no_output():
                    checked = [(item, _names(item, kind, key)) for item in items]
            except ENDINGS:
                raise
            except BaseException as error:  # noqa: BLE001 - it may be a generator that raises anything
                self._fail(self._named(plugin), hook, error)
                continue
            for item, names in checked:
                for name in names:
                    if name in owner:
                        raise PluginError(f"two plugins provide {name}: {owner[name]} and {plugin}",
                                          hint=f"turn one off with KB_DISABLE_PLUGINS={plugin}")
                    owner[name] = plugin
                found.append((plugin, item))
        return found

    def require(self, hook: str, verb: str) -> None:
        """Refuse with exit 3 when a plugin that may feed `hook` is broken: what it would have said is unknown.

        A hook that fails when it is called is known only after the call: gather the specs first.
        """
        self._load_for(hook)
        names = {plugin.name for plugin in self.plugins if plugin.hooks is None or hook in plugin.hooks}
        broken = [failure for failure in self.failures if failure.plugin in names]
        if broken:
            raise PluginError(f"kb {verb} needs every plugin that feeds it, and {broken[0].plugin} is off "
                              f"({broken[0].stage}: {broken[0].reason})",
                              hint="mend it, or turn it off on purpose with KB_DISABLE_PLUGINS")

    def driver(self, group: str, name: str) -> Any:
        """The one object that entry point `name` of `group` names; KeyError when there is none, PluginError when broken."""
        module, _, attribute = self.driver_plugin(group, name).value.partition(":")
        try:
            return getattr(_import(module), attribute)
        except ENDINGS:
            raise
        except BaseException as error:
            raise PluginError(f"the {group} driver {name} does not load: {reason(error)}") from error

    def driver_plugin(self, group: str, name: str) -> Plugin:
        """The one entry point `name` of `group`; KeyError when there is none, PluginError when there are two."""
        candidates = [p for p in self.plugins if p.group == group and p.name == name and p.name not in self.disabled]
        if not candidates:
            raise KeyError(name)
        if len(candidates) > 1:
            raise PluginError(f"two plugins provide {group} {name}: "
                              + " and ".join(p.distribution for p in candidates))
        return candidates[0]

    def drivers(self, group: str) -> list[str]:
        """Names of the drivers of `group`, sorted."""
        return sorted({p.name for p in self.plugins if p.group == group and p.name not in self.disabled})

    # -- loading ---------------------------------------------------------------------------------------------------

    def load_all(self) -> None:
        """Import every plugin: what `kb plugins` shows, and what a first discovery learns from."""
        for plugin in list(self.plugins):
            if plugin.group == PLUGINS:
                self._load(plugin)

    def _load_for(self, hook: str) -> list[Plugin]:
        for plugin in list(self.plugins):
            if plugin.group == PLUGINS and (plugin.hooks is None or hook in plugin.hooks):
                self._load(plugin)
        if self._learned:
            self._learned = False
            remember(self.plugins)
        callers = {impl.plugin_name for impl in getattr(self._manager.hook, hook).get_hookimpls()}
        return sorted((p for p in self.plugins if p.group == PLUGINS and p.name in callers), key=lambda p: p.name)

    def _load(self, plugin: Plugin) -> None:
        if plugin.name in self._seen or plugin.name in self.disabled:
            return
        self._seen.add(plugin.name)
        stage = "import"
        try:
            if plugin.value == _UNREADABLE:
                raise ImportError("its entry_points.txt cannot be read")
            with _no_output():
                module = _import(plugin.value)
            stage = "register"
            unknown = [n for n, v in vars(module).items() if getattr(v, "kb_impl", None) and not hasattr(hookspecs, n)]
            if unknown:
                raise AttributeError(f"{unknown[0]} is no hook of kb")
            self._manager.register(module, plugin.name)
        except ENDINGS:
            raise
        except BaseException as error:  # noqa: BLE001 - as above
            if self._manager.has_plugin(plugin.name):  # pluggy keeps the hooks that it took before the one it refused
                self._manager.unregister(name=plugin.name)
            self._fail(plugin, stage, error)
            return
        self._learn(plugin, module)

    def _learn(self, plugin: Plugin, module: ModuleType) -> None:
        callers = self._manager.get_hookcallers(module) or []
        hooks = tuple(sorted(caller.name for caller in callers))
        file = getattr(module, "__file__", None) or ""
        if plugin.hooks != hooks:
            learned = Plugin(plugin.group, plugin.name, plugin.value, plugin.distribution, plugin.version, hooks, file,
                             _mtime(file))
            self.plugins[self.plugins.index(plugin)] = learned
            self._learned = True

    def _named(self, name: str) -> Plugin:
        return next(p for p in self.plugins if p.name == name and p.group == PLUGINS)

    def _fail(self, plugin: Plugin, stage: str, error: BaseException) -> None:
        failure = PluginFailure(plugin.name, stage, reason(error))
        if plugin.built_in:
            raise PluginError(f"the built-in plugin {plugin.name} is broken: {stage}: {failure.reason}") from error
        if failure not in self.failures:
            self.failures.append(failure)
            self.report(failure)


def open_host(report: Callable[[PluginFailure], None], environ: dict[str, str] | os._Environ[str] = os.environ) -> Host:
    """The host of this process: remembered or fresh discovery, less what the environment turns off.

    KB_DISABLE_PLUGINS=a,b turns plugins off; KB_PLUGINS_ONLY=a,b keeps only those, where `builtin` stands for ours.
    """
    plugins = recall()
    if plugins is None:
        plugins = discover()
        remember(plugins)
    off = _words(environ.get("KB_DISABLE_PLUGINS", ""))
    only = _words(environ.get("KB_PLUGINS_ONLY", ""))
    if only:
        off |= {p.name for p in plugins if p.name not in only and not (p.built_in and "builtin" in only)}
    host = Host(plugins, report, frozenset(off))
    _refuse_twins([plugin for plugin in plugins if plugin.group == PLUGINS and plugin.name not in off])
    return host


def discover() -> list[Plugin]:
    """Ask stevedore for the entry points of both groups. Slow (about 0.1 s); `remember` spares the next run."""
    from importlib.metadata import distributions

    from stevedore._cache import Cache

    points = Cache(cache_dir=os.path.join(os.devnull, "off"))  # stevedore's own disk cache goes stale for minutes
    origin: dict[tuple[str, str, str], tuple[str, str]] = {}
    spoiled = []
    for dist in distributions(path=_folders()):
        try:
            origin |= {(point.group, point.name, point.value): (dist.name, dist.version) for point in dist.entry_points
                       if point.group in (PLUGINS, DRIVERS)}
        except Exception:  # noqa: BLE001 - importlib.metadata raises whatever its parser stumbles over
            spoiled.append(Plugin(PLUGINS, str(dist.name), _UNREADABLE, str(dist.name), str(dist.version)))
    # One spoiled list makes stevedore fail on all: then what was read above must do.
    named = origin if spoiled else [(group, point.name, point.value) for group in (PLUGINS, DRIVERS)
                                    for point in points.get_group_all(group)]
    found = [Plugin(*point, *origin[point]) for point in named if point in origin] + spoiled
    return sorted(found, key=lambda p: (p.group, p.name, p.distribution))


# -- the memory of discovery -------------------------------------------------------------------------------------------


def recall() -> list[Plugin] | None:
    """The remembered plugins, or None when anything they were read from changed since."""
    try:
        with open(_memory_path(), encoding="utf-8") as file:
            data = json.load(file)
        if data["format"] != _MEMORY_FORMAT or data["key"] != _key():
            return None
        plugins = [Plugin(**{**row, "hooks": None if row["hooks"] is None else tuple(row["hooks"])})
                   for row in data["plugins"]]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return [p if p.hooks is None or _mtime(p.file) == p.mtime_ns
            else Plugin(p.group, p.name, p.value, p.distribution, p.version) for p in plugins]


def remember(plugins: list[Plugin]) -> None:
    """Keep what discovery found and loading learned. A cache folder that cannot be written costs time, not an answer."""
    data = {"format": _MEMORY_FORMAT, "key": _key(), "plugins": [p._asdict() for p in plugins]}
    try:
        write_atomic(_memory_path(), json.dumps(data).encode())
    except OSError:
        return


def _memory_path() -> str:
    place = "".join(c if c.isalnum() else "_" for c in sys.prefix)[-80:]
    return os.path.join(cache_home(), f"plugins-{sys.version_info[0]}{sys.version_info[1]}-{place}.json")


def _key() -> list[list[Any]]:
    """Every entry_points.txt that an import folder holds, with its modification time."""
    key: list[list[Any]] = []
    for folder in _folders():
        try:
            with os.scandir(folder) as entries:
                infos = sorted(e.path for e in entries if e.name.endswith((".dist-info", ".egg-info")))
        except OSError:
            continue
        for info in infos:
            points = os.path.join(info, "entry_points.txt")
            try:
                key.append([points, os.stat(points).st_mtime_ns])
            except OSError:
                continue
    return key


def _folders() -> list[str]:
    """The import folders that may hold plugins: never the current one, which may be a base, and a base is only data."""
    try:
        here = os.getcwd()
    except OSError:  # it is gone, and so holds nothing
        here = ""
    own = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    return [folder for folder in dict.fromkeys(sys.path) if folder and (folder != here or folder == own)]


# -- small things ------------------------------------------------------------------------------------------------------


def _import(name: str) -> ModuleType:
    import importlib

    return importlib.import_module(name.partition(":")[0])


def _no_output() -> redirect_stdout[Any]:
    """What a plugin prints when it is loaded or asked for its specs goes to stderr: it is no output of the verb."""
    return redirect_stdout(sys.stderr)


def _names(item: Any, kind: type[Spec], key: Callable[[Spec], str | Sequence[str]]) -> tuple[str, ...]:
    """What a spec is called. Raises TypeError when it is no `kind`, or its name is not a text."""
    if not isinstance(item, kind):
        raise TypeError(f"returned {type(item).__name__} where {kind.__name__} was due")
    found = key(item)
    names: tuple[Any, ...] = tuple(found) if isinstance(found, (tuple, list)) else (found,)
    if not names or not all(isinstance(name, str) and name for name in names):
        raise TypeError(f"returned a {kind.__name__} whose name is {names!r}")
    return names


def _mtime(path: str) -> int:
    try:
        return os.stat(path).st_mtime_ns
    except OSError:
        return 0


def _words(text: str) -> set[str]:
    return {word for word in text.replace(",", " ").split() if word}


def _refuse_twins(plugins: Sequence[Plugin]) -> None:
    first: dict[str, Plugin] = {}
    for plugin in plugins:
        twin = first.setdefault(plugin.name, plugin)
        if twin is not plugin:
            raise PluginError(f"two plugins are called {plugin.name}: {twin.distribution} and {plugin.distribution}")
