"""Plugins that are broken in every way we could think of: named once, never a traceback, and no false green."""

from __future__ import annotations

import json

import pytest

from tests.conftest import Run, Shell
from tests.plugins.strangers import install

HEAD = "from kb.api import Check, Command, Extractor, Problem, Scorer, Tool, hookimpl\n"
GOOD = HEAD + '''
def nothing(view):
    return []

@hookimpl
def kb_checks():
    return [Check("Z01", "nothing", "warning", nothing)]
'''


def hook(body: str, name: str = "kb_checks", arguments: str = "") -> str:
    return HEAD + f"@hookimpl\ndef {name}({arguments}):\n    {body}\n"


def check(body: str) -> str:
    return HEAD + f"def ask(view):\n    {body}\n\n@hookimpl\ndef kb_checks():\n    return [Check('Z01', 'ask', 'warning', ask)]\n"


BROKEN = {
    "raises when it is imported": ("raise RuntimeError('no licence')", "no licence"),
    "does not parse": ("def kb_checks(:\n", "SyntaxError"),
    "needs a library that is not there": ("import no_such_library_anywhere", "no_such_library_anywhere"),
    "ends the process when it is imported": ("raise SystemExit(7)", "SystemExit"),
    "calls sys.exit in the hook": (hook("import sys; sys.exit(0)"), "SystemExit"),
    "misspells the hook": (hook("return []", "kb_chekcs"), "kb_chekcs"),
    "asks for an argument that the hook does not offer": (hook("return []", arguments="view"), "view"),
    "has one good hook and one bad one": (GOOD + "\n@hookimpl\ndef kb_tools(app):\n    return []\n", "app"),
    "raises in the hook": (hook("return 1 / 0"), "ZeroDivisionError"),
    "recurses for ever in the hook": (hook("return kb_checks()"), "Recursion"),
    "returns None": (hook("pass"), "None"),
    "returns a number": (hook("return 42"), "int"),
    "returns a text": (hook("return 'Z01'"), "str"),
    "returns the spec of another hook": (hook("return [Extractor('x', ('x',), str)]"), "Extractor"),
    "returns a spec without its list": (hook("return Check('Z01', 'x', 'warning', list)"), "Check"),
    "yields specs and then raises": (hook("yield Check('Z01', 'x', 'warning', list); raise OSError('gone')"), "gone"),
    "names its code with a number": (hook("return [Check(1, 'x', 'warning', list)]"), "1"),
    "names its code with nothing": (hook("return [Check('', 'x', 'warning', list)]"), "name"),
    "is older than the door": ("from kb.api import no_such_name_in_the_door", "no_such_name_in_the_door"),
    "reaches past the door for what is not there": ("import kb.core.no_such_module", "no_such_module"),
}


def one_line(run: Run) -> str:
    """The one diagnostic of a run."""
    assert "Traceback" not in run.err + run.out
    lines = [line for line in run.err.splitlines() if "z-broken" in line or "Z01" in line]
    assert len(lines) == 1, run.err
    return lines[0]


@pytest.mark.parametrize("fault", BROKEN)
def test_kb_check_refuses_with_exit_3_and_names_the_plugin_that(sh: Shell, fault: str) -> None:
    source, told = BROKEN[fault]
    install(sh, "stranger", {"broken": source}, {"z-broken": "broken"})
    sh.write("quay/MAP.md", "# Map\n")
    run = sh.kb("check", "quay")
    assert (run.code, run.out) == (3, "")
    assert "z-broken" in run.err and told in run.err and "Traceback" not in run.err
    assert sh.kb("check", "quay", env={"KB_DISABLE_PLUGINS": "z-broken"}).ok().out.splitlines()[-1] == "  clean"


@pytest.mark.parametrize(("words", "hook_name"), [
    (("promote",), "kb_promoters"), (("consolidate", "ada"), "kb_promoters"), (("ingest", "page.txt"), "kb_promoters"),
    (("ingest", "page.txt"), "kb_extractors")], ids=["promote", "consolidate", "ingest", "ingest, by its extractors"])
def test_promote_ingest_and_consolidate_refuse_with_exit_3_too(fleet: Shell, words: tuple[str, ...], hook_name: str) -> None:
    fleet.write("fleet.txt", "promoter = cat\nreviewer = cat\n")
    fleet.write("page.txt", "Words.\n")
    install(fleet, "stranger", {"broken": "import no_such_library\n" + hook("return []", hook_name)}, {"z-broken": "broken"})
    run = fleet.kb(*words, "--dry-run", env={"KB_TRUST": "1"})
    assert run.code == 3 and "z-broken" in run.err and "Traceback" not in run.err
    assert fleet.kb(*words, "--dry-run", env={"KB_TRUST": "1", "KB_DISABLE_PLUGINS": "z-broken"}).code != 3


def test_kb_boot_never_fails_and_answers_without_a_broken_plugin(fleet: Shell) -> None:
    install(fleet, "stranger", {"broken": "raise SystemExit(2)"}, {"z-broken": "broken"})
    assert fleet.kb("boot", stdin='{"session_id": "s1", "prompt": "flush the pump valve"}').code == 0


@pytest.mark.parametrize("fault", [
    "raises when it is imported", "ends the process when it is imported", "misspells the hook", "does not parse"])
def test_a_verb_that_the_plugin_does_not_feed_goes_on_and_names_it_once(fleet: Shell, fault: str) -> None:
    install(fleet, "stranger", {"broken": BROKEN[fault][0]}, {"z-broken": "broken"})
    run = fleet.kb("route", "pump", "--json")
    assert (run.code, run.json()["verdict"]) == (0, "hit")
    assert BROKEN[fault][1] in one_line(run)


def test_kb_plugins_says_what_is_broken_and_why(sh: Shell) -> None:
    install(sh, "stranger", {"broken": BROKEN["raises in the hook"][0], "gone": "raise RuntimeError('no licence')", "good": GOOD},
            {"z-broken": "broken", "z-gone": "gone", "z-good": "good"})
    rows = {row["name"]: row for row in sh.kb("plugins", "--json").ok().json()}
    assert (rows["z-gone"]["state"], rows["z-gone"]["error"]) == ("failed", "import: RuntimeError: no licence")
    assert (rows["z-good"]["state"], rows["z-good"]["distribution"], rows["z-good"]["version"]) == ("on", "stranger", "1.0")
    assert "no licence" in sh.kb("plugins").ok().out


@pytest.mark.parametrize(("source", "told"), [
    (check("raise ValueError('odd note')"), "odd note"), (check("return None"), "NoneType"), (check("return 3"), "int"),
    (check("yield 'E01'"), "E01"), (check("yield Problem('a.md', 'five', 'x')"), "five"), (check("yield Problem(None, 1, 'x')"), "None"),
    (check("raise SystemExit(0)"), "SystemExit"), (check("return ask(view)"), "Recursion")],
    ids=["raises", "None", "a number", "texts", "a line that is a word", "a file that is None", "SystemExit", "recursion"])
def test_an_exception_inside_a_strangers_check_names_the_plugin_and_exits_3(sh: Shell, source: str, told: str) -> None:
    install(sh, "stranger", {"broken": source}, {"z-broken": "broken"})
    sh.write("quay/MAP.md", "# Map\n")
    run = sh.kb("check", "quay")
    assert (run.code, run.out) == (3, "")
    assert told in one_line(run) and "z-broken" in run.err


def test_what_a_plugin_prints_is_never_output_of_the_verb(sh: Shell) -> None:
    noisy = check("print('asked'); return []").replace("    return [Check", "    print('called')\n    return [Check") + "print('loaded')\n"
    install(sh, "stranger", {"noisy": noisy}, {"z-noisy": "noisy"})
    sh.write("quay/MAP.md", "# Map\n")
    run = sh.kb("check", "quay", "--format", "json").ok()
    assert json.loads(run.out) == {"findings": []} and run.out.count("\n") == 1
    assert [word for word in ("loaded", "called", "asked") if word not in run.err] == []
    json.loads(sh.kb("plugins", "--json").ok().out)


CLASHES = {
    "a code": (hook("return [Check('E01', 'mine', 'warning', list)]"), ["check", "quay"], ["E01", "e01", "z-clash"]),
    "a verb of kb": (hook("return [Command('check', 'x:y', 's')]", "kb_commands"), ["no-such-verb"], ["check", "z-clash"]),
    "a verb of another plugin": (hook("return [Command('knowledge', 'x:y', 's')]", "kb_commands"), ["no-such-verb"],
                                 ["knowledge", "lifecycle", "z-clash"]),
    "a scorer": (hook("return [Scorer('text', ('default',), print)]", "kb_scorers"), ["route", "pump"], ["text", "z-clash", "fulltext"]),
    "an extension": (hook("return [Extractor('mine', ('html',), print)]", "kb_extractors"),
                     ["ingest", "page.html", "--agent", "ada", "--dry-run"],
                     ["html", "z-clash", "extract-html"]),
}


@pytest.mark.parametrize("kind", CLASHES)
def test_a_clash_of_names_is_an_error_that_names_both(fleet: Shell, kind: str) -> None:
    source, words, told = CLASHES[kind]
    fleet.write("quay/MAP.md", "# Map\n")
    fleet.write("fleet.txt", "promoter = cat\nreviewer = cat\n")
    fleet.write("page.html", "<!DOCTYPE html><html><body><p>Text of a page</p></body></html>\n")
    install(fleet, "stranger", {"clash": source}, {"z-clash": "clash"})
    run = fleet.kb(*words, env={"KB_TRUST": "1"})
    assert (run.code, "Traceback" in run.err) == (3 if kind != "an extension" else run.code, False)
    assert run.code != 0
    assert [word for word in told if word not in run.err] == []


def test_two_distributions_with_one_name_of_a_plugin_are_named(sh: Shell) -> None:
    install(sh, "stranger", {"good": GOOD}, {"z-good": "good"})
    install(sh, "rival", {"rival": GOOD}, {"z-good": "rival"})
    run = sh.kb("check")
    assert run.code == 3
    assert "stranger" in run.err and "rival" in run.err and "z-good" in run.err


def test_two_drivers_of_one_name_are_named_when_it_is_asked_for(fleet: Shell) -> None:
    install(fleet, "stranger", {"engine": "class Engine:\n    name = 'fts5'\n"}, {"fts5": "engine:Engine"}, group="kb.text")
    run = fleet.kb("index", env={"KB_TEXT_BACKEND": "fts5"})
    assert run.code == 3
    assert "stranger" in run.err and "kb-catalogue" in run.err


def test_a_driver_that_does_not_load_is_named(fleet: Shell) -> None:
    install(fleet, "stranger", {"engine": "raise RuntimeError('no engine')"}, {"mine": "engine:Engine"}, group="kb.text")
    run = fleet.kb("index", env={"KB_TEXT_BACKEND": "mine"})
    assert run.code == 3 and "no engine" in run.err and "Traceback" not in run.err


@pytest.mark.parametrize("points", [
    "[kb.plugins]\nno equals sign here\n", "[kb.plugins\nz = good\n", "\x00\x01", "[kb.plugins]\nz-odd = !!! not a module\n",
    "[kb.plugins]\nz-empty =\n"], ids=["no value", "no section", "not text", "an impossible module", "an empty module"])
def test_a_distribution_with_a_spoiled_list_of_entry_points_stops_no_question(fleet: Shell, points: str) -> None:
    install(fleet, "stranger", {"good": GOOD}, points)
    run = fleet.kb("route", "pump", "--json")
    assert (run.code, run.json()["verdict"], "Traceback" in run.err) == (0, "hit", False)


def test_the_folder_one_stands_in_is_no_place_for_plugins(sh: Shell) -> None:
    install(sh, "stranger", {"good": "raise RuntimeError('a base is only data')"}, {"z-here": "good"})
    del sh.env["PYTHONPATH"]
    (sh.root / "site/MAP.md").write_text("# Map\n")
    assert sh.kb("check", cwd=sh.root / "site").ok().err == ""


def test_a_mended_plugin_is_used_at_once(sh: Shell) -> None:
    sh.write("quay/MAP.md", "# Map\n")
    install(sh, "stranger", {"plugin": BROKEN["raises in the hook"][0]}, {"z-plugin": "plugin"})
    assert sh.kb("check", "quay").code == 3
    sh.write("site/plugin.py", GOOD)
    assert sh.kb("check", "quay").ok().err == ""
    assert "Z01" in sh.kb("--help").ok().out


@pytest.mark.parametrize(("words", "off", "chosen"), [
    ("route pump", "keywords,fulltext", ""), ("route pump", "keywords", ""),
    ("index", "tantivy", "tantivy"), ("index", "fts5", "fts5")])
def test_a_verb_whose_plugin_is_off_ends_with_3_and_says_so(fleet: Shell, words: str, off: str, chosen: str) -> None:
    done = fleet.kb(*words.split(), env={"KB_SCORERS": "", "KB_DISABLE_PLUGINS": off, "KB_TEXT_BACKEND": chosen})
    assert (done.code, done.out) == (3, "") and done.err.startswith("kb: ")


@pytest.mark.parametrize("off", ["tantivy", "fts5,tantivy"])
def test_under_auto_a_backend_that_is_off_is_left_out_without_a_word(fleet: Shell, off: str) -> None:
    assert fleet.kb("index", env={"KB_DISABLE_PLUGINS": off}).ok().err == ""
