"""The files of a fresh base: a shape to fill in, with not a word about anybody."""

from __future__ import annotations

from kb.core.display import flat, printable
from kb.core.manifest import parse_manifest

FOLDERS = ("knowledge", "inbox", "decisions", "protocols", "templates")

_KEYS = ("operating instructions", "instrucoes de operacao", "agent constitution", "constituicao agente", "reading order",
         "ordem de leitura", "declared limits", "limites declarados", "scope", "escopo", "role", "funcao", "capability",
         "capacidade", "startup file", "arquivo inicial")

_CARD = "# The card that the catalogue reads. A line without a value says nothing.\n"
_PRIVATE = """\
# private folders; these three are private when there is no such line
# private = profile/, projects/, records/
"""
_PLAIN = str.maketrans({"\u2012": "-", "\u2013": "-", "\u2014": "-", "\u2015": "-", **dict.fromkeys("[]<>`", " ")})


def agent_files(name: str) -> dict[str, str]:
    """Every file of a new agent's base, path -> text. The base has no finding for any legal name."""
    title = name[:1].upper() + name[1:]
    keys = [f"agente {name} instrucoes", f"{name} agent instructions", f"funcao agente {name}", f"agent role {name}", *_KEYS]
    return {
        **{f"{folder}/.gitkeep": "" for folder in FOLDERS},
        "AGENTS.md": f"""# {title}

You are {title}. Read index.md before anything else, then agent.txt, then MAP.md.

Standing rules:

- Name the mechanism: say how a thing works, and not only that it does.
- Give two options with the consequences of each, when there is a choice.
- Mark what you did not verify. Never say that something runs unless you ran it.
- Write without dashes between clauses; use a comma, a colon or a full stop.
- Commit with `kb commit <path>... -m <message>`, naming exactly what is yours.
""",
        "index.md": f"""# {title}, operating instructions

> A placeholder until somebody who knows {title}'s work replaces it.

**Search for:** {", ".join(f"`{key}`" for key in keys)}

> Replace the line above with the words that questions to {title} really use.

**Exists to:** say who this agent is, what to read first, and where it stops.

## Who this agent is

Two or three sentences: the work, for whom, with which tools.

## Reading order

1. index.md, this file
2. agent.txt, the card that the catalogue reads
3. MAP.md, what the base holds

## What this agent never does

The limits, one line each. The first of them belongs on the `ends` line of agent.txt too.
""",
        "MAP.md": f"""# {title}, map

> The second file to read, after index.md. A link is `[[file-name]]` and ends at the edge of this base.

| folder | what belongs there |
|---|---|
| knowledge | notes: one subject each, with keys |
| inbox | the deposit: what was dropped and not yet judged |
| decisions | what was decided, and why |
| protocols | how a recurring task is done |
| templates | shapes to copy |

An entry below is a link and one sentence. What makes a note findable is the `Search for:` line in the note itself.

## Current contents
""",
        "agent.txt": f"""{_CARD}name = {title}
# what this agent does, in one line: a question's owner is chosen among these
role =
{_PRIVATE}# where this agent stops
ends =
""",
        "blocks.txt": """# The constitution as blocks, the most stable first: a prompt is reused up to the first token that differs.
[identity]
AGENTS.md
index.md
[user]
../person/core.md
[map]
MAP.md
[session] on-demand
""",
        "kb-aliases.txt": """# alias = canonical, one a line. The words on the right are added to a question that holds those on the left;
# nothing is taken away. Add a line after a real question missed (kb misses), and not before.
""",
        ".gitignore": """# the index is disposable, and so is the lock of a file
.kb/
.*.lock
# the private layer
profile/
records/
projects/
# the deposit: nothing is published unless it is a note
inbox/**
!inbox/*.md
!inbox/**/
!inbox/**/.gitkeep
!inbox/**/SOURCES.md
""",
    }


def adopted_files(name: str) -> dict[str, str]:
    """MAP.md and agent.txt for a folder of notes that is called `name`, which may be any name that a folder can have.

    The map has no finding, so its title is short and holds neither links nor dashes. A name that agent.txt cannot carry is
    left out of it: the folder's own name is shown then.
    """
    name = printable(flat(name))
    line = f"name = {name[:1].upper()}{name[1:]}"
    if f"name = {parse_manifest(line).last('name')}" != line:
        line = "# a # in the folder's name would begin a comment here; without a value that name is shown as it is\nname ="
    return {
        "MAP.md": f"# {flat(name.translate(_PLAIN)[:60]) or 'Notes'}, map\n\nA reading list for a person. `kb write` adds to it.\n",
        "agent.txt": f"""{_CARD}{line}
# what this base is for, in one line
role =
{_PRIVATE}# your own line takes the place of these three: what it does not name is open
# links mean what they meant to the program that wrote them; without this line they name a file exactly
links = vault
""",
    }


def person_files() -> dict[str, str]:
    """Every file of the person's base, path -> text. It has no agent.txt, so it is read and can never be elected."""
    core = ("owner", "dono", "profile", "perfil", "language", "idioma", "timezone", "fuso", "machine", "computador",
            "preferences", "preferencias", "working agreement", "acordo trabalho")
    work = ("job", "emprego", "stack", "ferramentas", "seniority", "senioridade", "projects", "projetos", "career", "carreira",
            "employer", "empregador", "responsibilities", "responsabilidades")
    presence = ("public profile", "perfil publico", "website", "site", "audience", "audiencia", "goals", "objetivos",
                "publishing", "publicacao", "biography", "biografia", "social accounts", "contas sociais")
    return {
        "MAP.md": """# The person, map

This base says who the agents work for. All of it is private, and it never answers as an agent.

- **[[core]]** who the person is, resident in every agent's constitution
- **[[work]]** what the person does
- **[[presence]]** what the public may see
""",
        ".gitignore": ".kb/\n",
        "core.md": _page("Core", core, "say who the person is, in the few lines that every agent carries.", """
> Resident in every constitution: keep it short.

| | |
|---|---|
| name | |
| role here | |
| languages | |
| machine | |

## How to work with this person

## Where the rest is
"""),
        "work.md": _page("Work", work, "say what the person does, with what, at which level.", """
## Job

## Stack

## Projects
"""),
        "presence.md": _page("Presence", presence, "say what the public may see, and what may never be published.", """
## Public surface

## Goals

## Never published
"""),
    }


def _page(title: str, keys: tuple[str, ...], purpose: str, body: str) -> str:
    return (f"# {title}\n\n**Search for:** {', '.join(f'`{key}`' for key in keys)}\n\n**Exists to:** {purpose}\n{body}")
