"""`kb source add` and `kb sources`."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from kb.core.sources import Record, as_csl, parse_record, render_record
from tests.conftest import Shell

GOOD = {"--type": "book", "--title": "Pumps", "--retrieved-on": "2026-01-02", "--retrieval-status": "full"}


def add(sh: Shell, path: str = "fleet/ada", **more: str | None) -> tuple[int, str, str]:
    fields = GOOD | {"--" + name.replace("_", "-"): value for name, value in more.items()}
    words = [word for name, value in fields.items() if value is not None for word in (name, value)]
    done = sh.kb("source", "add", path, *words)
    return done.code, done.out, done.err


def records(folder: Path) -> list[Path]:
    return sorted(folder.glob("sources/*.txt"))


@pytest.mark.parametrize("fields", [
    {"retrieved_on": "20260906"}, {"retrieved_on": "2026-02-30"}, {"retrieved_on": "06/09/2026"}, {"retrieved_on": "2026-9-6"},
    {"retrieved_on": "٢٠٢٦-٠١-٠٢"}, {"retrieved_on": None}, {"retrieved_on": " "},
    {"year": "c. 1943"}, {"year": "19435"}, {"year": "١٩٤٣"}, {"url": "ftp://x.org"}, {"url": "example.org"}, {"url": "http://"},
    {"url": "javascript:alert(1)"}, {"url": "https://a b.org"}, {"doi": "https://doi.org/10.1000/182"}, {"doi": "10.1/x"},
    {"isbn": "9780306406158"}, {"isbn": "0306406153"}, {"isbn": "12345"}, {"isbn": "4006381333931"}, {"isbn": "0-306-40615-X"},
    {"type": "tweet"}, {"type": None}, {"title": "\n"}, {"retrieval_status": "read"}, {"retrieval_status": None},
    {"replaces": "../x"}, {"replaces": "2222222222"}, {"replaces": "abc"},
])
def test_a_bad_field_is_a_usage_error_and_creates_nothing(fleet: Shell, fields: dict[str, str | None]) -> None:
    before = sorted(path for path in fleet.root.rglob("*") if "home" not in path.parts)
    code, out, err = add(fleet, "fleet/ada", **fields)
    assert code == 2 and out == "" and err.count("\n") >= 1 and "bug" not in err
    assert sorted(path for path in fleet.root.rglob("*") if "home" not in path.parts) == before


@pytest.mark.parametrize("fields", [
    {"retrieved_on": "2024-02-29"}, {"year": "-44"}, {"url": "HTTPS://EXAMPLE.org:80/a?b#c"}, {"doi": "10.1000/(sici)182%3C"},
    {"isbn": "978-0-306-40615-7"}, {"isbn": "0 306 40615 2"}, {"isbn": "0-8044-2957-x"}, {"isbn": "9791032710067"},
    {"year": "1987", "volume": "12"}, {"lang": "pt"}, {"note": "a # b = c"},
])
def test_a_good_field_is_kept_as_it_was_typed(fleet: Shell, fields: dict[str, str]) -> None:
    code, out, err = add(fleet, "fleet/ada", **fields)
    assert code == 0 and err == ""
    file, = records(fleet.root / "fleet/ada")
    record = parse_record(file.name, file.read_text())
    assert isinstance(record, Record) and {name: record.get(name) for name in fields} == fields
    assert out.split("\n")[-2] == f"- [src:{record.key}] {render_record(record)}"


def test_a_line_break_in_a_value_makes_no_second_field(fleet: Shell) -> None:
    assert add(fleet, title="One\nretrieval_status = full\r\n\u2028year = 1", author="A\nreplaces = 2222222222")[0] == 0
    file, = records(fleet.root / "fleet/ada")
    assert len(file.read_text().splitlines()) == 5
    record = parse_record(file.name, file.read_text())
    assert isinstance(record, Record) and record.replaces is None and record.get("year") is None


@pytest.mark.parametrize("place", [".", "fleet", "fleet/ada/knowledge", "nowhere", "fleet/ada/MAP.md"])
def test_a_place_that_is_no_base_is_refused(fleet: Shell, place: str) -> None:
    assert add(fleet, place)[0] in (1, 2)
    assert not list(fleet.root.rglob("sources"))


def test_the_base_one_stands_in_takes_the_record(fleet: Shell) -> None:
    words = [word for pair in GOOD.items() for word in pair]
    fleet.kb("source", "add", *words, cwd=fleet.root / "fleet/ada").ok()
    assert len(records(fleet.root / "fleet/ada")) == 1


def test_what_source_add_prints_satisfies_the_linter(fleet: Shell) -> None:
    _, out, _ = add(fleet, author="Pedra, Inês", year="2021", volume="12")
    line = out.split("\n")[-2]
    fleet.write("fleet/ada/knowledge/pump.md", fleet.read("fleet/ada/knowledge/pump.md") + f"\n{line}\n")
    assert "12" in line
    assert not any(code in fleet.kb("check", "fleet/ada").out for code in ("E05", "E06", "E08", "E09"))


def test_a_file_that_is_no_record_is_named_and_the_others_are_listed(fleet: Shell) -> None:
    add(fleet)
    fleet.write("fleet/ada/sources/notes.txt", "hello")
    fleet.write("fleet/ada/sources/3333333333.txt", b"\xff\xfe")
    (fleet.root / "fleet/ada/sources/4444444444.txt").symlink_to("/etc/hostname")
    fleet.write("fleet/ada/sources/README.md", "# Not a record\n")
    done = fleet.kb("sources", "fleet/ada")
    assert done.code == 1 and "1 sources in 1 base" in done.out and len(done.err.splitlines()) == 3
    exported = fleet.kb("sources", "fleet/ada", "--json")
    assert exported.code == 1 and isinstance(exported.json(), list) and exported.out.count("\n") == 1


def test_no_records_is_an_empty_list_and_exit_zero(fleet: Shell) -> None:
    assert fleet.kb("sources", "--json").ok().out == "[]\n"
    assert "no source records" in fleet.kb("sources").ok().out


def test_escape_sequences_of_a_record_reach_no_terminal(fleet: Shell) -> None:
    fleet.write("fleet/ada/sources/2222222222.txt", "type = book\ntitle = a\x1b[31mred\n"
                "retrieved_on = 2026-01-02\nretrieval_status = full\n")
    assert "\x1b" not in fleet.kb("sources").ok().out


@pytest.mark.parametrize(("text", "parts"), [
    ("2026-09-06", {"date-parts": [[2026, 9, 6]]}), ("2026", {"date-parts": [[2026]]}), ("2026-09", {"date-parts": [[2026, 9]]}),
    ("2026-13-45", {"literal": "2026-13-45"}), ("²", {"literal": "²"}), ("spring 2020", {"literal": "spring 2020"}),
])
def test_only_real_dates_become_date_parts(text: str, parts: dict[str, object]) -> None:
    record = parse_record("2222222222.txt", f"type = book\ntitle = t\nretrieved_on = {text}\nretrieval_status = full\n")
    assert isinstance(record, Record) and as_csl(record)["accessed"] == parts


@pytest.mark.parametrize(("year", "issued"), [("1987", {"date-parts": [[1987]]}), ("-44", {"date-parts": [[-44]]}),
                                              ("c. 1943", {"literal": "c. 1943"}), ("1943-1950", {"literal": "1943-1950"})])
def test_a_year_that_is_not_a_number_stays_a_literal(year: str, issued: dict[str, object]) -> None:
    record = parse_record("2222222222.txt", f"type=book\ntitle=t\nyear={year}\nretrieved_on=2026-01-02\nretrieval_status=full\n")
    assert isinstance(record, Record) and as_csl(record)["issued"] == issued


@pytest.mark.filterwarnings("ignore:The following arguments for Reference are unsupported. custom:UserWarning")
def test_a_reference_processor_accepts_the_export(fleet: Shell) -> None:
    citeproc = pytest.importorskip("citeproc")
    from citeproc.source.json import CiteProcJSON

    for type_ in ("book", "chapter", "article", "report", "webpage", "recording"):
        add(fleet, type=type_, author="Pedra, Inês", year="2021", container="The Valley", volume="12", pages="41-48",
            publisher="Alder Mill", url="https://example.org/x", doi="10.1000/182", isbn="978-0-306-40615-7", lang="pt", note="n")
    add(fleet, title="Bare", author="The Committee")
    items = json.loads(fleet.kb("sources", "fleet/ada", "--json").ok().out)
    assert len(items) == 7
    source = CiteProcJSON(items)
    assert set(source) == {item["id"].lower() for item in items}
    style = citeproc.CitationStylesStyle("harvard-cite-them-right", validate=False)
    bibliography = citeproc.CitationStylesBibliography(style, source, citeproc.formatter.plain)
    for item in items:
        bibliography.register(citeproc.Citation([citeproc.CitationItem(item["id"])]))
    text = "\n".join(str(entry) for entry in bibliography.bibliography())
    assert "Pedra" in text and "Bare" in text and "2021" in text


@pytest.mark.parametrize("name", ["title", "author", "url", "note", "container"])
@pytest.mark.parametrize("value", ["https://a.org/\x1b[31m", "https://a.org/\u202e"])
def test_control_characters_are_refused_in_every_field(fleet: Shell, name: str, value: str) -> None:
    code, out, err = add(fleet, **{name: value})
    assert code == 2 and out == "" and "control characters" in err and records(fleet.root / "fleet/ada") == []


@pytest.mark.parametrize("title", [
    "\u05e9\u05dc\u05d5\u05dd (C\u200e++)", "rtl\u200f mark", "On [[links]]", "Of [src:ABCDEFGHJK] and more"])
def test_the_line_that_is_printed_is_the_line_that_check_wants(fleet: Shell, title: str) -> None:
    code, out, _ = add(fleet, title=title)
    line = out.splitlines()[-1]
    assert code == 0 and title in line
    fleet.write("fleet/ada/knowledge/cites.md", f"# C\n\n**Search for:** `citing`\n\nSo it is [src:{line[7:17]}].\n\n{line}\n")
    found = fleet.kb("check", "fleet/ada", "--select", "E")
    assert found.code == 0, found.out


def test_records_outside_the_base_are_not_read(fleet: Shell) -> None:
    fleet.write("out/2222222222.txt", "type = book\ntitle = Secret\nretrieved_on = 2026-01-02\nretrieval_status = full\n")
    (fleet.root / "fleet/ada/sources").symlink_to(fleet.root / "out")
    fleet.write("fleet/ada/knowledge/cites.md", "# C\n\n**Search for:** `citing`\n\nSo [src:3333333333].\n")
    shown = fleet.kb("sources", "fleet/ada")
    assert shown.code == 1 and "Secret" not in shown.out and "leaves its base" in shown.err
    found = fleet.kb("check", "fleet/ada", "--select", "E0")
    assert "E09  sources" in found.out and "E05" not in found.out and "E06" not in found.out
    assert add(fleet)[0] == 1 and len(list((fleet.root / "out").iterdir())) == 1


@pytest.mark.parametrize(("fields", "why"), [
    ({"url": "https://x.org/a b"}, "holds a blank"), ({"url": "http://x.org/\u00a0a"}, "holds a blank"),
    ({"url": "x.org"}, "must begin with"), ({"url": "http:///a"}, "no host"),
    ({"doi": "10.1000/a b"}, "holds a blank"), ({"doi": "doi:10.1000/a"}, "must look like")])
def test_a_refused_address_says_what_is_wrong_with_it(fleet: Shell, fields: dict[str, str], why: str) -> None:
    code, _, err = add(fleet, "fleet/ada", **fields)
    assert code == 2 and why in err


@pytest.mark.parametrize("place", ["empty", "empty/fleet", "bare", "/", "home", "link"])
def test_a_fleet_without_bases_a_home_and_the_disk_take_no_record(sh: Shell, place: str) -> None:
    (sh.root / "empty/fleet").mkdir(parents=True)
    sh.write("empty/fleet.txt", "name = Empty\n")
    (sh.root / "bare/fleet").mkdir(parents=True)
    sh.write("home/note.md", "# N\n")
    (sh.root / "link").symlink_to("home")
    before = os.listdir("/")
    code, out, err = add(sh, place)
    assert code in (1, 2) and out == "" and err.count("\n") == 1 and "no" in err
    assert not list(sh.root.rglob("sources")) and not list(sh.root.rglob(".kb")) and os.listdir("/") == before


def test_a_base_that_holds_a_folder_called_fleet_takes_its_record(sh: Shell) -> None:
    sh.write("harbour/MAP.md", "# Harbour\n")
    (sh.root / "harbour/fleet").mkdir()
    assert add(sh, "harbour")[0] == 0 and len(records(sh.root / "harbour")) == 1
