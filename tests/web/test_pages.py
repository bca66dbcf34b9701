"""What the pages say, without a browser."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import unescape

import pytest

from tests.conftest import Shell, note
from tests.mcp.wire import Peer
from tests.web.rooms import OpenRoom, free_port

Rooms = Callable[..., OpenRoom]
PAGES = ("/", "/?q=flush+the+pump", "/?q=zonk", "/?q=pumpp", "/stacks", "/stacks?base=ada", "/stacks?base=ada&only=broken",
         "/note?base=ada&rel=knowledge/pump.md", "/agents", "/sources", "/misses", "/findings", "/reports", "/sessions",
         "/panels", "/knowledge")


def words(body: str) -> str:
    """The text of a page."""
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", body)).split())


def test_every_page_is_whole_and_holds_no_inline_script_style_or_address_of_elsewhere(room: Rooms) -> None:
    place = room()
    for target in PAGES:
        answer = place.ask(target)
        assert answer.status == 200, (target, words(answer.body))
        body = answer.body
        assert body.rstrip().endswith("</html>") and body.count("<h1") == 1, target
        assert not re.search(r"<script(?![^>]*\ssrc=)", body) and not re.search(r"<[^>]+\s(style|on[a-z]+)\s*=", body), target
        assert not re.search(r"(src|href)=\"(https?:)?//", body), target


def test_a_question_is_answered_with_everything_it_brought_to_light(fleet: Shell, room: Rooms) -> None:
    fleet.kb("index", fleet.root).ok()
    body = room().ask("/?q=flush+the+pump").body
    text = words(body)
    assert "The library holds this" in text and "EVIDENCE: keyword score" in text and "Whose question this is ada" in text
    assert re.search(r'aria-label="Keyword score [\d.]+ against a floor of [\d.]+"', body)
    assert "Close the inlet valve" in text and re.search(r"<mark>\w+</mark>", body) and "ada/<wbr>knowledge/pump.md" in body


def test_a_refusal_says_why_and_is_counted(fleet: Shell, room: Rooms) -> None:
    text = words(room().ask("/?q=pumpp").body)
    assert "The library does not hold this" in text and "vocabulary miss" in text and "spelled like" in text
    assert "pumpp" in fleet.read("kb-misses.txt")


def test_a_library_without_keys_says_what_to_do(sh: Shell) -> None:
    sh.write("fleet.txt", "name = Void\n")
    sh.write("fleet/ada/agent.txt", "role = waits\n")
    place = OpenRoom(sh)
    try:
        assert "kb write" in words(place.ask("/").body)
        assert "library is empty" in words(place.ask("/?q=x").body)
        assert all(place.ask(target).status == 200 for target in ("/stacks", "/agents", "/findings", "/misses"))
    finally:
        place.stop()


def test_the_stacks_show_citations_broken_links_and_who_cites(fleet: Shell, room: Rooms) -> None:
    fleet.write("fleet/ada/knowledge/hub.md", note("Hub", "hub", body=(
        "[[pump]] [[nowhere]] [[core]] and eva/knowledge/beans.md, not eva/knowledge/none.md")))
    fleet.write("fleet/ada/records/secret.md", note("Secret", "secret"))
    fleet.write("fleet/ada/knowledge/inward.md", note("Inward", "inward", body="[[secret]]"))
    shelves = {shelf["agent"]: {book["rel"]: book for book in shelf["books"]} for shelf in room().ask("/api/stacks").json()["shelves"]}
    hub = shelves["ada"]["knowledge/hub.md"]
    assert hub["cites"] == ["ada/knowledge/pump.md", "eva/knowledge/beans.md"] and hub["broken"] == ["nowhere", "core"]
    assert shelves["ada"]["knowledge/pump.md"]["cited_by"] == ["ada/knowledge/hub.md"]
    assert shelves["eva"]["knowledge/beans.md"]["ribbons"] == ["ada"]
    inward = shelves["ada"]["knowledge/inward.md"]
    assert inward["broken"] == [] and inward["cites"] == [] and "secret" not in str(shelves)


def test_a_link_is_noticed_when_its_target_appears_later(fleet: Shell, room: Rooms) -> None:
    fleet.write("fleet/ada/knowledge/hub.md", note("Hub", "hub", body="[[late]] and ben/knowledge/late.md"))
    place = room()
    assert place.ask("/api/stacks").json()
    fleet.write("fleet/ada/knowledge/late.md", note("Late", "late"))
    fleet.write("fleet/ben/knowledge/late.md", note("Late", "late"))
    place.post("/api/reload")
    shelves = {shelf["agent"]: {book["rel"]: book for book in shelf["books"]} for shelf in place.ask("/api/stacks").json()["shelves"]}
    assert shelves["ada"]["knowledge/hub.md"]["cites"] == ["ada/knowledge/late.md", "ben/knowledge/late.md"]


def test_a_note_page_tells_what_finds_it_and_which_keys_are_dead(fleet: Shell, room: Rooms) -> None:
    body = "## One\n\nText.\n\n## Two\n\nMore [[pump]]."
    fleet.write("fleet/ada/knowledge/odd.md", note("Odd", "odd, the, pump, of the", "be odd.", body))
    body = room().note("ada", "knowledge/odd.md").body
    text = words(body)
    assert text.count("dead key") >= 2 and re.search(r"odd first [\d.]+", text) and re.search(r"pump no\. 2", text)
    assert "2 passages" in text or "3 passages" in text
    assert "**Search for" not in body and '<a href="/note?base=ada&amp;rel=knowledge%2Fpump.md" class="wikilink">pump</a>' in body


HOSTILE = """# <img src=x onerror=alert(1)> Hostile

**Search for:** hostile, <script>alert(2)</script>, "quoted' keys
**Exists to:** carry <b>markup</b> where none belongs.

## <svg onload=alert(3)>

<script>alert(4)</script> <iframe src="https://evil.example"></iframe> <style>body{display:none}</style>

[a](javascript:alert(5)) [b](JaVaScRiPt:alert(6)) [c](data:text/html,<script>alert(7)</script>) [d](vbscript:x) [e](file:///etc/passwd)
[f](//evil.example/x) ![g](https://evil.example/pixel.png) ![h](javascript:alert(8)) <javascript:alert(9)>
[i](/etc/passwd) [j](../../../x.md)
[k]: javascript:alert(10)
[k] [[pump|<u>x</u>]] [[no"where' onclick=alert(11)]] [src:"><script>] \x1b]0;title\x07 \u202edesrever

[good](https://example.org/a?b=1&c=2) [near](pump.md) [up](../knowledge/pump.md#steps) [frag](#steps) [mail](mailto:a@b.example)
"""


def test_a_hostile_note_is_text_and_nothing_else(fleet: Shell, room: Rooms) -> None:
    fleet.write("fleet/ada/knowledge/hostile.md", HOSTILE)
    fleet.kb("index", fleet.root).ok()
    place = room()
    for target in ("/note?base=ada&rel=knowledge/hostile.md", "/?q=hostile", "/stacks", "/findings",
                   "/?q=%3Cscript%3Ealert(12)%3C/script%3E%22'", "/misses"):
        body = place.ask(target).body
        inside = body[body.index("<main"):body.index("</main>")]
        for tag in re.findall(r"<(\w+)", inside):
            assert tag not in ("script", "iframe", "style", "img", "b1", "u", "object", "embed", "base", "meta", "link"), (target, tag)
        assert not re.search(r"<[^>]*\s(on\w+|style|srcdoc)\s*=", inside) and "\x1b" not in body and "\u202e" not in body
        for address in re.findall(r"href=\"([^\"]*)\"", inside):
            assert re.match(r"(/(?!/)|#|https://example\.org/a\?b=1&amp;c=2|mailto:a@b\.example)", address), (target, address)
    inside = place.note("ada", "knowledge/hostile.md").body
    assert inside.count('href="/note?base=ada&amp;rel=knowledge%2Fpump.md"') == 4 and 'class="broken"' in inside
    assert "[image: g]" in inside and 'rel="noreferrer noopener external"' in inside


def test_a_huge_note_is_shown_as_it_is_written(fleet: Shell, room: Rooms) -> None:
    fleet.write("fleet/ada/knowledge/huge.md", "# Huge\n\n**Search for:** huge\n\n" + "| a | b |\n|---|---|\n" + "| x | y |\n" * 60_000)
    fleet.write("fleet/ada/knowledge/deep.md", "# Deep\n\n**Search for:** deep\n\n" + "> " * 3000 + "x\n" + "[" * 20_000 + "*" * 20_000)
    place = room()
    answer = place.note("ada", "knowledge/huge.md")
    assert answer.status == 200 and "to be typeset" in answer.body and len(answer.body) < 900_000
    assert place.note("ada", "knowledge/deep.md").status == 200


def test_a_misroute_is_recorded_with_the_token_and_not_without(fleet: Shell, room: Rooms) -> None:
    place = room()
    body = place.ask("/?q=flush+the+pump").body
    token = re.search(r'name="token" value="([^"]+)"', body)
    assert token
    fields = {"message": "flush the pump", "chose": "ada", "owner": "ben", "why": "it was a letter"}
    assert place.post("/misroute", token="wrong", **fields).status == 403
    assert place.post("/misroute", **fields).status == 403
    assert place.ask("/misroute", "POST", "token=" + token[1]).status == 403  # no Origin
    assert not (fleet.root / "kb-misroutes.txt").exists()
    answer = place.post("/misroute", token=token[1], **fields)
    assert answer.status == 303 and answer.headers["Location"] == "/reports?recorded=1"
    assert "it was a letter" in words(place.ask("/reports").body)
    assert place.post("/misroute", token=token[1], **{**fields, "owner": "nemo"}).status == 400


def test_ledgers_sources_sessions_and_panels_are_shown(fleet: Shell, room: Rooms) -> None:
    kb = fleet.kb
    kb("source", "add", fleet.root / "fleet/ada", "--type", "book", "--title", "On Pumps", "--retrieved-on", "2026-09-01",
       "--retrieval-status", "full").ok()
    key = next((fleet.root / "fleet/ada/sources").glob("*.txt")).stem
    fleet.write("fleet/ada/knowledge/cites.md", note("Cites", "cites", body=f"A fact. [src:{key}]"))
    kb("handoff", "save", "ada", "--task", "Mend <the> valve", "--decision", "use brass", fleet.root).ok()
    fleet.write("fleet/ben/blocks.txt", "[identity]\nMAP.md\n")
    kb("panel", "fleet/ada/knowledge/pump.md", fleet.root, "--owner", "ada", "--reviewer", "ben").ok()
    kb("panel", "fleet/ada/knowledge/pump.md", fleet.root, "--from", "ben", "--objection", "The claim has no citation at all.").ok()
    fleet.write(".kb/sessions/s1.events", "routed\tada\nrefused\twhere is the key\tkey\n")
    place = room()
    sources = words(place.ask("/sources").body)
    assert "On Pumps" in sources and "ada/ knowledge/cites.md" in sources
    sessions = words(place.ask("/sessions").body)
    assert "Mend <the> valve" in sessions and "use brass" in sessions and "where is the key" in sessions and "A heron" in sessions
    assert "The claim has no citation at all." in words(place.ask("/panels").body)


def test_findings_are_those_of_kb_check(fleet: Shell, room: Rooms) -> None:
    fleet.write("fleet/ada/knowledge/hub.md", note("Hub", "hub", body="[[nowhere]]"))
    place = room()
    shown = place.ask("/api/check").json()["findings"]
    told = fleet.kb("check", fleet.root, "--format", "json").json()["findings"]  # type: ignore[index]
    assert sorted(map(repr, ((f["code"], f["base"], f["file"], f["line"]) for f in shown))) == sorted(
        map(repr, ((f["code"], f["base"], f["file"], f["line"]) for f in told)))
    assert "E01" in words(place.ask("/findings?code=E01").body)


def test_the_private_layer_needs_all(fleet: Shell, room: Rooms) -> None:
    fleet.write("fleet/ada/records/kraken.md", note("Kraken", "kraken", "tell of it.", "It sank a barge."))
    fleet.kb("index", fleet.root, "--all").ok()
    public, whole = room(), room(fleet.root, "--all")
    for target in ("/stacks", "/stacks?base=ada", "/?q=kraken", "/agents", "/sessions", "/findings", "/api/stacks", "/api/check"):
        assert "Kraken" not in public.ask(target).body and "records/" not in public.ask(target).body, target
    assert "Kraken" in whole.ask("/?q=kraken").body and "private layer included" in whole.ask("/").body
    assert "Lives by the river" in whole.note("person", "core.md").body and public.note("person", "core.md").status == 404


def test_a_right_to_left_note_keeps_its_marks_and_its_direction(fleet: Shell, room: Rooms) -> None:
    fleet.write("fleet/ada/knowledge/ivrit.md", note("שלום עולם", "שלום", body="## פרק\n\nטקסט\u200f 12."))
    body = room().note("ada", "knowledge/ivrit.md").body
    assert '<h1 id="title" dir="auto">שלום עולם</h1>' in body and '<p dir="auto">טקסט\u200f 12.</p>' in body


PLUGIN = '''
from kb.api import Page, hookimpl

def _breaks(app, query):
    raise RuntimeError("inside")

@hookimpl
def kb_pages():
    return PAGES
'''


def install(sh: Shell, pages: str) -> dict[str, str]:
    sh.write("site/kb_paper.py", PLUGIN.replace("PAGES", pages))
    sh.write("site/kb_paper-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: kb-paper\nVersion: 1.0\n")
    sh.write("site/kb_paper-1.0.dist-info/entry_points.txt", "[kb.plugins]\npaper = kb_paper\n")
    return {"PYTHONPATH": str(sh.root / "site")}


def test_a_plugin_adds_pages_and_one_that_breaks_is_named(fleet: Shell, room: Rooms) -> None:
    env = install(fleet, '[Page("/paper", "Paper", lambda app, query: "<p>from " + app.fleet.name + query.get("x", "") + "</p>"), '
                         'Page("/torn", "Torn", _breaks, in_menu=False)]')
    place = room(env=env)
    assert '<a href="/paper">Paper</a>' in place.ask("/").body and '"/torn"' not in place.ask("/").body
    assert "<p>from Orchard!</p>" in place.ask("/paper?x=!").body
    torn = place.ask("/torn")
    assert torn.status == 500 and "plugin paper failed" in words(torn.body) and place.ask("/").status == 200


@pytest.mark.parametrize("path", ["/stacks", "/api/mine", "nolead", "/a{b}"])
def test_a_plugin_cannot_take_a_page_of_ours(fleet: Shell, path: str) -> None:
    run = fleet.kb("ui", fleet.root, "--port", free_port(), env=install(fleet, f'[Page("{path}", "Mine", _breaks)]'))
    assert run.code == 3 and "paper" in run.err


def test_the_room_and_the_server_give_one_answer(fleet: Shell, room: Rooms) -> None:
    fleet.kb("index", fleet.root).ok()
    evidence = next(line for line in words(room().ask("/?q=flush+the+pump").body).split(". ") if "EVIDENCE" in line)
    peer = Peer(fleet)
    try:
        assert evidence[evidence.index("EVIDENCE"):] in peer.text("kb_route", question="flush the pump")
    finally:
        peer.stop()
