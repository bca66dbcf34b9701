"""Headers: labels in every form, keys, purpose, title, front matter."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kb.core.header import parse_header, read_header, scan_head, split_keys
from kb.core.markdown import scan


@pytest.mark.parametrize("line", [
    "**Search for:** a1, b1", "**Search for**: a1; b1", "search for: a1, b1", "__Search for:__ `a1`, `b1`", "_Search for_: a1, b1",
    "* **Search for:** a1, b1", "Buscar por: a1, b1", "**Search for:** a1,\nb1", "**Search for:**\n- a1\n- b1",
    "**Search for:**\n\n- a1\n- b1", "**Search for:** a1,\r\nb1\r"])
def test_every_form_of_the_label_yields_the_same_keys(line: str) -> None:
    assert parse_header(f"# T\n\n{line}\n\nProse, with commas.\n").keys == ("a1", "b1")


@pytest.mark.parametrize("text", [
    "- Search for: a1", "> Search for: a1", "Keywords: a1", "One may search for: a1", "---\nSearch for: a1\n---\n",
    "```\nSearch for: a1\n```\n", "## S\n\nSearch for: a1", "Section\n---\n\nSearch for: a1", "    Search for: a1"])
def test_what_only_looks_like_a_label_is_none(text: str) -> None:
    assert parse_header(text).keys == ()


def test_a_wrapped_list_ends_at_a_label() -> None:
    header = parse_header("# T\n\n**Search for:** a1,\nb1\n**Exists to:** do it.\n")
    assert (header.keys, header.purpose) == (("a1", "b1"), "do it")


def test_the_first_list_and_the_first_purpose_win() -> None:
    header = parse_header("Search for: a1\n\nSearch for: b1\n\nExiste para: x..\n\nExists to: y\n")
    assert (header.keys, header.purpose) == (("a1",), "x")


@pytest.mark.parametrize(("keys", "found"), [
    ("`Sea Salt`; \"brine\", *Rack*., 'quoted', snake_case", ("Sea Salt", "brine", "Rack", "'quoted'", "snake_case")),
    (",,, ; ` ` ,", ()), ("#", ("#",)), ("std::vector", ("std::vector",)), ("a: b", ("a: b",))])
def test_keys_lose_their_wrapping_and_keep_their_case(keys: str, found: tuple[str, ...]) -> None:
    assert parse_header(f"# T\n\nSearch for: {keys}\n").keys == found


@pytest.mark.parametrize(("text", "title"), [
    ("# One\n# Two\n", "One"), ("One\n===\n", "One"), ("---\ntitle: no\n---\n# One #\n", "One"), ("```\n# no\n```\n# One\n", "One"),
    ("no title\n", ""), ("---\nnever closed\n# One\n", "One"), ("#hashtag\n\n# One", "One")])
def test_the_title_is_the_first_heading_of_level_one(text: str, title: str) -> None:
    assert parse_header(text).title == title


@pytest.mark.parametrize("value", ["A: B", "2024-01-02", "no", "[raw]", "2026-13-45", "'quoted", "{", "&a *a"])
def test_front_matter_is_text_and_never_a_yaml_type(value: str) -> None:
    header = parse_header(f"---\nstage: {value}\nstage: second\n  indented: x\n# note\n---\n# T\n\nSearch for: k1\n")
    assert (header.front["stage"], header.keys) == (value, ("k1",))


def test_an_empty_value_is_none() -> None:
    assert parse_header("---\nstage:\n---\n").stage is None


@given(st.text(alphabet="#`~-*_: \n\tabSearchforExitsto,;", max_size=200))
def test_the_cheap_look_at_the_head_sees_what_a_full_scan_sees(text: str) -> None:
    assert read_header(text, scan_head(text)).header == read_header(text, scan(text)).header


@pytest.mark.parametrize("text", ["#" * 50_000, "Search for: " + "," * 100_000, "Search for: " + "`" * 100_000, "# x\n" * 100_000,
                                  "a " * 500_000])
def test_hostile_headers_are_read_in_bounded_time(text: str) -> None:
    assert len(parse_header(text).keys) <= 1


@pytest.mark.parametrize("before", [
    "<!--\n## no section\n-->", "- item\n\n  ## of the item", "```\n## no\n```", "<div>\n## no\n</div>", " ## \tx"])
def test_the_header_is_the_same_whether_the_whole_note_was_scanned_or_its_head(before: str) -> None:
    text = f"# T\n\n{before}\n\n**Search for:** a1, b1\n\n## S\n\nSearch for: c1\n"
    assert read_header(text, scan_head(text)).header == read_header(text, scan(text)).header


HEADS = st.lists(st.sampled_from([
    "# T\n", "#  A title \n", "# C#\n", "## S\n", "\n", "\n\n", "---\n", "stage: raw\n", "--- \n", "**Search for:** `a1`, `b1 c1`\n",
    "Search for: x1\n",
    "**SEARCH FOR:** a.b; c1, `d1`\n", "**Search for:** `-a`, `b `, `c1`\n", "**Search for:**\n", "- `d1`\n", "**Exists to:** do it. \n",
    "**Existe para:** x..\n", "Exists to: y\n", "Plain words: and more\n", "exists to: z\n", "word\n", "===\n", "> q\n", "    code\n",
    "```\n", "\r\n", "# #\n", "#\n", " # x\n", " ===\n", "- <div>\n", "- ```\n", "> ~~~\n", "+++\n",
    "{\n", "}\n", "...\n", "#\tT ##\r\n", "<b>\n", "---\r\n",
    "**\u017fearch for:** k1\n", "\u00e9 word\n", "**Search for:** `a1`,`b1`\n", "**Search for:** `a1`, `b1`,\n"]), max_size=9).map("".join)


@settings(max_examples=1500)
@given(HEADS)
def test_a_head_of_the_usual_form_says_what_a_full_scan_says(text: str) -> None:
    assert parse_header(text) == read_header(text, scan(text)).header


@given(st.lists(st.text(alphabet="ab1_ -*+.,;`\"\t\u00a0\u00e9", min_size=1, max_size=6), min_size=1, max_size=5))
def test_keys_of_the_usual_form_are_split_as_any_others(keys: list[str]) -> None:
    plain = ", ".join(f"`{key}`" for key in keys)
    assert split_keys(plain) == split_keys(plain + ",")  # the comma at the end takes the long way
