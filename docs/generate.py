"""The generated pages of docs/reference. `python docs/generate.py` writes them, `--check` names those that are stale and exits 1.

A page is a function that returns its whole text, registered in PAGES under its path. It tells what the code says about itself:
docstrings, the help of click commands, the tables of the host. Only the built-in plugins are asked, whatever is installed.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click

from kb import api, hookspecs, specs
from kb.cli.verbs import VERBS
from kb.host import Host, open_host
from kb.specs import Check, Command

DOCS = Path(__file__).resolve().parent
_NOTICE = "<!-- Written by docs/generate.py from the code. Change the code, then run `make docs`. -->\n"


def _host() -> Host:
    return open_host(lambda failure: sys.exit(str(failure)), {"KB_PLUGINS_ONLY": "builtin"})


def _page(title: str, introduction: str, sections: Iterator[str]) -> str:
    return "\n".join([_NOTICE, f"# {title}\n", introduction.strip() + "\n", *(section.strip() + "\n" for section in sections)])


# -- check codes -------------------------------------------------------------------------------------------------------


def checks() -> str:
    """Every code of `kb check`, from the docstring of its module."""
    found = _host().owned_specs("kb_checks", Check, lambda check: check.code)
    found.sort(key=lambda pair: (pair[1].code.startswith("K"), pair[1].code))
    table = "\n".join(f"| [{check.code}](#{_anchor(f'{check.code} {check.slug}')}) | {check.slug} | {check.level} |" for _, check in found)
    introduction = f"""
`kb check` asks every base each of these codes. An error fails the run, a warning does under `--strict`. `--select E0,W03` keeps the
codes that begin so, `--ignore W` drops them, and both may repeat. `--format text|json|github|sarif` chooses how findings are printed.

| code | name | level |
|---|---|---|
{table}

Markdown is read as CommonMark has it: what stands in fences, indented code, code spans, comments or blocks of HTML is an example,
also inside lists and quotes. E03, E07 and W02 are retired.
How to add a code of your own: [write a check](../plugins/writing-a-check.md)."""
    return _page("Check codes", introduction, (_code(plugin, check) for plugin, check in found))


def _code(plugin: str, check: Check) -> str:
    first, _, rest = inspect.cleandoc(check.doc).partition("\n")
    sentence = first.partition(": ")[2]
    where = "" if check.code.startswith("K") else f", plugin `{plugin}`"
    return f"## {check.code} {check.slug}\n\n*{check.level}{where}*. {sentence[:1].upper()}{sentence[1:]}\n{rest}"


def _anchor(title: str) -> str:
    return title.lower().replace(" ", "-")


# -- verbs -------------------------------------------------------------------------------------------------------------


def verbs() -> str:
    """Every verb with its options, from the help of its command."""
    added = _host().specs("kb_commands", Command, lambda command: command.name)
    known = [(verb.name, verb.target, verb.usage) for verb in VERBS] + [(c.name, c.target, c.usage) for c in added]
    return _page("Verbs", "What `kb VERB --help` prints, for every verb. `kb --help` has the same usages on one page.",
                 (_verb(name, target, usage) for name, target, usage in known))


def _verb(name: str, target: str, usage: tuple[str, ...]) -> str:
    module, _, attribute = target.partition(":")
    command = getattr(importlib.import_module(module), attribute)
    usages = "\n".join(usage)
    return "\n".join([f"## kb {name}\n", *([f"```\n{usages}\n```\n"] if usages else []), *_helps(command, f"kb {name}")])


def _helps(command: click.Command, path: str) -> Iterator[str]:
    """The help of a command, then of its subcommands."""
    context = click.Context(command, info_name=path, terminal_width=100, max_content_width=100, help_option_names=["-h", "--help"])
    yield f"```\n{command.get_help(context).rstrip()}\n```\n"
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            if below is not None and not below.hidden:
                yield f"### {path} {name}\n"
                yield from _helps(below, f"{path} {name}")


# -- hooks and specs ---------------------------------------------------------------------------------------------------


def hooks() -> str:
    """The hooks and what they return, from their docstrings."""
    users = {plugin.name: plugin.hooks or () for plugin in _loaded().plugins if plugin.built_in}
    introduction = """
A plugin is a module that an entry point of the group `kb.plugins` names. It has a function marked `@hookimpl` for each hook that it
implements, and imports `kb.api` and nothing else of kb. A text backend is no hook but a driver of the group `kb.text`:
[write a text backend](../plugins/text-backends.md)."""
    return _page("Hooks", introduction, _hook_sections(users))


def _loaded() -> Host:
    host = _host()
    host.load_all()
    return host


def _hook_sections(users: dict[str, tuple[str, ...]]) -> Iterator[str]:
    for name, function in _defined(hookspecs, inspect.isfunction):
        by = ", ".join(f"`{plugin}`" for plugin, theirs in sorted(users.items()) if name in theirs)
        head = f"{name}{_signature(function)}"
        yield f"## {name}\n\n```python\n{head}\n```\n\n{inspect.getdoc(function)}\n\nBuilt in: {by or 'none'}."
    yield "# What hooks return\n\nNamed tuples of `kb.api`: data plus a function."
    for name, kind in _defined(specs, inspect.isclass):
        rows = "\n".join(f"{name}: {of.__forward_arg__}" for name, of in kind.__annotations__.items())
        yield f"## {name}\n\n```python\n{rows}\n```\n\n{_prose(inspect.getdoc(kind) or '')}"
    yield "# What the host gives\n\nTo a check a `BaseUnderCheck`, to a scorer a `Library`."
    yield from map(_given, (api.BaseUnderCheck, api.NoteUnderCheck, api.Library))


def _given(kind: Any) -> str:
    """A protocol of kb.api that the host implements: its members with what they say."""
    rows = [f"{name}: {annotation}" for name, annotation in inspect.get_annotations(kind).items()]
    for name, member in vars(kind).items():
        function = member.fget if isinstance(member, property) else member
        if inspect.isfunction(function) and not name.startswith("_"):
            hint = f": {inspect.signature(function).return_annotation}" if isinstance(member, property) else _signature(function, own=True)
            rows.append(f"{name}{hint}" + "".join(f"\n    # {line}" for line in (inspect.getdoc(function) or "").splitlines()))
    return f"## {kind.__name__}\n\n{inspect.getdoc(kind)}\n\n```python\n" + "\n".join(rows) + "\n```"


def _defined(module: Any, wanted: Callable[[Any], bool]) -> list[tuple[str, Any]]:
    """What a module itself defines, in the order of its source."""
    found = [(name, value) for name, value in vars(module).items()
             if wanted(value) and value.__module__ == module.__name__ and not name.startswith("_")]
    return sorted(found, key=lambda pair: inspect.getsourcelines(pair[1])[1])


def _signature(function: Any, own: bool = False) -> str:
    """`own` leaves out self."""
    taken = list(inspect.signature(function).parameters.values())[int(own):]
    parameters = ", ".join(f"{p.name}: {p.annotation}" for p in taken)
    return f"({parameters}) -> {inspect.signature(function).return_annotation}"


def _prose(text: str) -> str:
    """A docstring as markdown: a table of `name: meaning` lines is kept as it is written."""
    return "\n\n".join(f"```\n{part}\n```" if "\n  " in part or ":  " in part else part for part in text.split("\n\n"))


# -- the public API ----------------------------------------------------------------------------------------------------


def public_api() -> str:
    """Every name of kb.api with the first line of what its home says about it."""
    return _page("The public API", "`kb.api` is the only module of kb that a plugin imports. What stands there stays.", _api_sections())


def _api_sections() -> Iterator[str]:
    homes: dict[str, list[str]] = {}
    for name, home in api._HOME_OF.items():
        homes.setdefault(home, []).append(name)
    for home, names in sorted(homes.items()):
        rows = "\n".join(f"| `{name}` | {_first_line(name, home)} |" for name in sorted(names))
        yield f"## From {home}\n\n| name | what it is |\n|---|---|\n{rows}"


def _first_line(name: str, home: str) -> str:
    value = getattr(api, name)
    if inspect.isclass(value) or inspect.isfunction(value):
        text = (inspect.getdoc(value) or "").split("\n\n")[0]
        return " ".join(text.split()).replace("|", "\\|")
    for node in ast.walk(ast.parse(Path(inspect.getfile(importlib.import_module(home))).read_text(encoding="utf-8"))):
        if name != "__version__" and isinstance(node, (ast.Assign, ast.AnnAssign)) and name in ast.unparse(node).partition(" = ")[0]:
            return f"`{ast.unparse(node)}`" if len(ast.unparse(node)) < 100 else "a constant"
    return "a constant"


PAGES: dict[str, Callable[[], str]] = {
    "reference/checks.md": checks,
    "reference/verbs.md": verbs,
    "reference/hooks.md": hooks,
    "reference/api.md": public_api,
}


def main(words: list[str]) -> int:
    """Write every page, or with --check only compare. Returns the exit code."""
    stale = []
    for place, render in PAGES.items():
        path, text = DOCS / place, render()
        if path.exists() and path.read_text(encoding="utf-8") == text:
            continue
        stale.append(place)
        if "--check" not in words:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    for place in stale:
        print(("stale: " if "--check" in words else "written: ") + place)
    return int("--check" in words and bool(stale))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
