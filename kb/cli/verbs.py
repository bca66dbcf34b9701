"""The host's verbs: name, where its click command is, one line about it, and its usages as `kb --help` prints them."""

from __future__ import annotations

from typing import NamedTuple


class Verb(NamedTuple):
    """One row of the table. `usage` holds one line per mode; a wrapped usage is one line here."""

    name: str
    target: str
    summary: str
    usage: tuple[str, ...]


VERBS: tuple[Verb, ...] = (
    Verb("check", "kb.cli.check:check", "lint every base; each finding has a code",
         ("kb check [path]... [--strict] [--all]",)),
    Verb("index", "kb.cli.index:index", "build one SQLite file per base from its markdown",
         ("kb index [path]... [--json] [--all]",)),
    Verb("list", "kb.cli.list:list_", "list what the shelves hold, narrowed by facet, nothing ranked",
         ("kb list [path]... [--base B] [--folder F] [--kind K] [--stage S] [--provenance P] [--json] [--all]",)),
    Verb("route", "kb.cli.route:route", "ask which files a question should open, and whether the library holds it",
         ("kb route <question> [path]... [--top N] [--hybrid] [--json] [--all]",)),
    Verb("answer", "kb.cli.answer:answer", "answer a question from the passages that the catalogue serves",
         ("kb answer <question> [path]... [--top N] [--all] [--expanded | --complete]",)),
    Verb("remember", "kb.cli.remember:remember", "measure a claim against what the library already holds",
         ("kb remember <claim> [path]... [--all] [--json]",)),
    Verb("init", "kb.cli.init:init", "make a base in the shape that the catalogue needs",
         ("kb init <name> [fleet-root]", "kb init --person [fleet-root]")),
    Verb("write", "kb.cli.write:write", "write a note from stdin, with the keys that let it be found",
         ("kb write <agent> <slug> [fleet-root] --keys <a, b> --summary <one line> [--folder F] [--captured-from PATH]",)),
    Verb("source", "kb.cli.source:source", "mint a record of something that was read",
         ("kb source add [path] --type T --title X --retrieved-on DATE --retrieval-status S [--author A]... [--year Y] "
          "[--container C] [--volume V] [--pages P] [--publisher P] [--url U] [--doi D] [--isbn I] [--lang L] "
          "[--replaces KEY] [--note N]",)),
    Verb("sources", "kb.cli.sources:sources", "list what a base has read, or export it as CSL JSON",
         ("kb sources [path]... [--json] [--all]",)),
    Verb("fleet", "kb.cli.fleet:fleet", "print the fleet's name and roster",
         ("kb fleet [path]... [--all]",)),
    Verb("blocks", "kb.cli.blocks:blocks", "price each block of a constitution in tokens",
         ("kb blocks [path] [--emit]",)),
    Verb("eval", "kb.cli.eval:eval_", "grade the catalogue against a gold file of questions",
         ("kb eval <gold.tsv> [path]... [--top N] [--all] [--classify] [--triad]",)),
    Verb("commit", "kb.cli.commit:commit", "commit exactly the paths named",
         ("kb commit <path>... -m <message>",)),
    Verb("boot", "kb.cli.boot:boot", "a prompt hook: name the agent that a message belongs to, and brief the model",
         ("kb boot [path]... [--top N] [--all] [--session ID] [--cwd DIR] [--text]",)),
    Verb("ingest", "kb.cli.ingest:ingest", "turn a document into notes in one step",
         ("kb ingest <file> [path]... [--agent NAME] [--keep] [--dry-run] [--top N] [--all]",)),
    Verb("promote", "kb.cli.promote:promote", "offer each inbox to the promoters; only a unanimous accept writes",
         ("kb promote [path]... [--top N] [--all] [--dry-run] [--max N] [--lock]",)),
    Verb("consolidate", "kb.cli.consolidate:consolidate", "look for what several past sessions have in common",
         ("kb consolidate <agent> [path] [--sessions N] [--top N] [--dry-run] [--json]",)),
    Verb("handoff", "kb.cli.handoff:handoff", "hand work over from one session to the next",
         ("kb handoff save <agent> --task <task> [--decision <d>]... [--blocker <b>]... [--next <n>]... [--ref <r>]... "
          "[--session ID] [path]",
          "kb handoff claim <agent> [--session ID] [path]",
          "kb handoff complete [--session ID] [path]",
          "kb handoff [path] [--session ID] [--show] [--json]")),
    Verb("ui", "kb.cli.ui:ui", "the reading room: a local page over the same catalogue",
         ("kb ui [path]... [--port N] [--all]",)),
    Verb("capture", "kb.cli.capture:capture", "turn a session's record into a deposit",
         ("kb capture [path] [--session ID] [--conclusion <text>]",)),
    Verb("serve", "kb.cli.serve:serve", "serve the catalogue to a model over MCP",
         ("kb serve [path]... [--top N] [--all]",)),
    Verb("misses", "kb.cli.misses:misses", "read back what the library could not answer",
         ("kb misses [path]... [--all] [--top N] [--json] [--apply --gold <tsv>]",)),
    Verb("misroute", "kb.cli.misroute:misroute", "record that a message went to the wrong agent",
         ("kb misroute <message> --chose <agent> --owner <agent|none> [--why <text>] [path]",)),
    Verb("misroutes", "kb.cli.misroutes:misroutes", "read the misroutes back, most reported first",
         ("kb misroutes [path] [--top N]",)),
    Verb("abstentions", "kb.cli.abstentions:abstentions", "read back the subjects that nobody owns",
         ("kb abstentions [path] [--top N] [--all]",)),
    Verb("panel", "kb.cli.panel:panel", "keep the ledger of an objection round on one artifact",
         ("kb panel <artifact> [path] --owner <agent> [--reviewer <agent>]... [--out D] [--json]",
          "kb panel <artifact> [path] --from <agent> (--objection <text> [--blocking] | --nothing | --not-returned) "
          "[--why <text>]",
          "kb panel <artifact> [path] --resolve <n> (--taken | --refused | --escalated) [--why <text>]",
          "kb panel [<artifact>] [path] --ledger [--json]")),
    Verb("rejections", "kb.cli.rejections:rejections", "read back what promotion refused",
         ("kb rejections [path]... [--top N] [--agent A] [--lens L] [--json]",)),
    Verb("trust", "kb.cli.trust:trust", "show and approve the commands that a fleet names",
         ("kb trust [path] [--list] [--forget]",)),
    Verb("plugins", "kb.cli.plugins:plugins", "what is loaded, from where, and what failed",
         ("kb plugins [--json]",)),
    Verb("completion", "kb.cli.completion:completion", "print the completion script of a shell",
         ("kb completion bash|zsh|fish",)),
)
