"""E01 broken-link: a wikilink leads to no file of its base.

A link `[[target#heading|label]]` ends at the edge of its base: its target is the name of a file, without folder and without
`.md`. Links in fences, indented code, code spans, HTML, comments (`<!-- -->` and Obsidian's `%% %%`), formulas and the root's
templates/ folder are examples and are not asked; `[[{{date}}]]` is filled in by a template, and `[[x]](url)` or a `[[x]]` that the note
defines with `[x]: path` is an ordinary link.
When another base of the same run publishes a file of that name, the finding says so: write its path in prose.

    See [[rollback]].          # and no file called rollback.md anywhere in the base

Mend it by naming a file that is there, or by writing the missing note. An embed such as `![[plan.png]]` may name any
file of the base. A folder that is no base yet (no map, no agent.txt), or whose agent.txt says `links = vault` as `kb init --adopt`
writes it, is read as Obsidian and Foam read it: a link may carry a path or `.md` there, and case does not matter.
"""

from __future__ import annotations

from collections.abc import Iterator

from kb.api import BaseUnderCheck, Check, Problem, hookimpl


def broken_links(view: BaseUnderCheck) -> Iterator[Problem]:
    for note in view.notes:
        if note.path.startswith("templates/"):
            continue
        for link in note.links:
            if view.resolve(link):
                continue
            other = view.elsewhere(link.target)
            if other is not None:
                message = (f"[[{link.target}]] is broken here: {other} has a {link.target}.md, and a wikilink ends at the edge of "
                           "its base; write the path instead")
            else:
                message = f"[[{link.target}]] is broken: {_why(link.target, view.as_vault)}"
            yield Problem(note.path, link.line, message)


def _why(target: str, as_vault: bool) -> str:
    name = target.rpartition("/")[2]
    ending = name.rpartition(".")[2].lower() if "." in name else ""
    if ending == "md" and not as_vault:
        return f"a link names a file without .md, so there is no {name}.md in this base"
    if ending not in ("", "md"):
        return f"there is no {name} and no {name}.md in this base"
    if "/" in target and not as_vault:
        return f"a link names a file without its folder, so there is no {target}.md in this base"
    return f"there is no {target.removesuffix('.md')}.md in this base"


@hookimpl
def kb_checks() -> list[Check]:
    return [Check("E01", "broken-link", "error", broken_links, doc=__doc__ or "")]
