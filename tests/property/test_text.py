"""Chunks, windows, stored spaces and excerpts, for any text."""

from __future__ import annotations

import re
import time
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kb.core.chunks import LONGEST_TITLE, OVERLAP, WINDOW, chunk, windows
from kb.core.excerpt import CUT, excerpt
from kb.core.language import LANGUAGES, declared_languages, detect, language_of
from kb.core.spacing import ZWSP, gather, spread
from kb.core.words import analyse

LINES = st.sampled_from([
    "# One", "## Two", "### Three ##", "Title", "===", "---", "", "  ", "text of a note", "- an item", "> quoted", "```",
    "~~~", "    code", "**Search for:** kelp, brine", "Search for:", "- kelp", "wrapped, keys", "**Exists to:** say.",
    "prose that says Search for: in the middle", "## Search for", "## Buscar por isto", "buscar por: algas", "\ttabbed", "\r",
    "```bash", "# in a fence?", "#not a heading", "\u2028", "stage: raw",
])
NOTES = st.lists(LINES | st.text(max_size=30), max_size=40).map("\n".join)
TEXTS = st.text(st.characters(codec="utf-8") | st.sampled_from("重跑한국ガ字゙" + ZWSP + " \n."), max_size=60)


@given(NOTES)
@example("---\nfront: never closed\n# T\ntext")
@example("a paragraph\nover two lines\n---\nbody")
def test_chunks_hold_lines_of_the_note_and_nothing_else(text: str) -> None:
    lines = {line.strip() for line in text.replace("\r", "").split("\n")}
    for path, body in chunk(text):
        assert body and body == body.strip() and len(body) <= WINDOW
        assert not path.startswith(" > ") and len(path) <= 6 * (LONGEST_TITLE + 3)
        for line in body.replace("\r", "").split("\n"):
            assert line.strip() in lines or len(body) > LONGEST_TITLE


@given(NOTES)
def test_a_line_that_is_a_key_label_outside_fences_and_code_is_no_text(text: str) -> None:
    plain = text.replace("```", "").replace("~~~", "").replace("    ", "").replace("\t", "").replace("---", "")
    for _, body in chunk(plain):
        assert not re.search(r"^(?:\*\*)?(?:search for|buscar por):", body, re.MULTILINE | re.IGNORECASE)


@given(NOTES)
def test_prose_lines_survive(text: str) -> None:
    marked = "# T\n\n" + "\n\n".join(f"## S{i}\n\nsentence {i} stays" for i in range(3))
    kept = [body for _, body in chunk(marked + "\n\n# End\n\n" + text)]
    assert kept[:3] == ["sentence 0 stays", "sentence 1 stays", "sentence 2 stays"]


@given(st.lists(st.sampled_from(["", " ", "\n", "\n\n"]), min_size=1, max_size=40),
       st.integers(1, 600))
def test_windows_cover_the_body_in_order_and_overlap(breaks: list[str], words: int) -> None:
    body = "".join(f"{i:09}{breaks[i % len(breaks)]}" for i in range(words)).strip()
    found = windows(body)
    at = 0
    for window in found:
        assert 0 < len(window) <= WINDOW
        start = body.index(window)
        assert not body[at:start].strip() and (start == 0 or at - start <= OVERLAP)
        at = max(at, start + len(window))
    assert not body[at:].strip()


def test_a_window_ends_at_a_blank_line_that_is_far_enough_in() -> None:
    paragraphs = ["a" * 1_000, "b" * 1_000, "c" * 1_000]
    found = windows("\n\n".join(paragraphs))
    assert found[0] == paragraphs[0] and all(len(window) <= WINDOW for window in found)


@pytest.mark.parametrize(("text", "paths"), [
    ("# T\n\nx\n\n## A\n\nx\n\n### A1\n\nx\n\n## B\n\nx\n", ["T", "T > A", "T > A > A1", "T > B"]),
    ("above\n\n# T\n\nx\n", ["", "T"]),
    ("Title\n=====\n\nx\n\nPart\n----\n\nx\n", ["Title", "Title > Part"]),
    ("# T\r\n\r\nx\r\n\r\n## A\r\n\r\ny\r\n", ["T", "T > A"]),
    ("# T\n\n## Search for\n\nkelp\n\n## After\n\nx\n", ["T > After"]),
    ("### Deep\n\nx\n\n# T\n\nx\n", ["Deep", "T"]),
    ("\ufeff".strip("\ufeff") + "---\nstage: walrus\n---\n# T\n\nBody.\n", ["T"]),
])
def test_heading_paths(text: str, paths: list[str]) -> None:
    assert [path for path, _ in chunk(text)] == paths


@pytest.mark.parametrize("label", [
    "search for: walrus", "**Search for**: walrus", "**Search for:** kelp,\nwalrus", "**Search for:**\n- kelp\n- walrus",
    "Buscar por: walrus", "_Search for_: walrus", "**Search for:**\n\n- kelp\n- walrus", "* **Search for:** walrus",
])
@pytest.mark.parametrize("place", ["# T\n\n{}\n\nBody.\n", "# T\n\nBody.\n\n## Entry\n\n{}\n"])
def test_key_lines_are_never_text(label: str, place: str) -> None:
    assert "walrus" not in str(chunk(place.format(label))) and "Body." in str(chunk(place.format(label)))


def test_the_words_of_a_heading_as_long_as_a_paragraph_stay_searchable() -> None:
    long = "word " * 200 + "walrus"
    found = chunk(f"{long}\n---\nbody\n")
    assert "walrus" in found[0][1] and len(found[0][0]) <= LONGEST_TITLE


@pytest.mark.parametrize("text", ["x" * 2_000_000, "## h\n\nx\n\n" * 40_000, "# a\n" * 100_000, "\n" * 300_000,
                                  "`" * 300_000, "- " * 100_000, ">" * 100_000, "**Search for:** " + "a," * 100_000])
def test_hostile_notes_take_bounded_time(text: str) -> None:
    start = time.process_time()
    chunk(text)
    assert time.process_time() - start < 5


# -- stored text ---------------------------------------------------------------------------------------------------------


@given(TEXTS)
@example(f"字{ZWSP}字{ZWSP}{ZWSP}a")
def test_what_is_stored_reads_back(text: str) -> None:
    composed = unicodedata.normalize("NFC", text)
    assert gather(spread(text)) == text or unicodedata.normalize("NFC", gather(spread(text))) == composed


@given(TEXTS)
def test_no_two_characters_of_a_script_without_blanks_touch(text: str) -> None:
    touching = r"[\u4e00-\u9fff\uac00-\ud7a3\u30a1-\u30fa][\u4e00-\u9fff\uac00-\ud7a3\u30a1-\u30faa-z]"
    assert not re.search(touching, spread(text))


# -- excerpts ------------------------------------------------------------------------------------------------------------


@given(TEXTS | NOTES, st.lists(st.sampled_from(["walrus", "text", "重跑", "note", "kelp"]), max_size=3))
def test_an_excerpt_is_a_piece_of_its_text(text: str, words: list[str]) -> None:
    cut = excerpt(text, words)
    assert cut.removeprefix(CUT).removesuffix(CUT) in text


@pytest.mark.parametrize(("word", "text"), [
    ("walrus", "a " * 50 + "the walrus rests" + " b" * 50), ("zebra", "a " * 50 + "two zebras" + " b" * 50),
    ("迁移", "前" * 60 + "迁移" + "后" * 60), ("recuperacao", "a " * 40 + "Recuperação," + " b" * 40),
])
def test_an_excerpt_holds_the_word_that_matched(word: str, text: str) -> None:
    cut = excerpt(text, [word])
    assert cut.startswith(CUT) and cut.endswith(CUT) and len(cut) < 120
    assert any(found.startswith(word[:5]) for found in analyse(cut))


# -- language ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("language", "text"), [
    ("english", "The pump is flushed when the valve is closed and the drain is open."),
    ("portuguese", "A bomba não é lavada quando a válvula está fechada, mas isso já foi visto."),
    ("spanish", "La bomba se lava cuando la válvula está cerrada, pero los tubos son muy viejos."),
    ("french", "La pompe est rincée dans les cas où la vanne est fermée, mais pas sur ce tuyau."),
    ("german", "Die Pumpe wird nicht gespült, wenn das Ventil offen ist und der Abfluss zu."),
    ("italian", "La pompa non si lava quando la valvola è chiusa, ma anche questo sono gli usi della casa."),
    ("russian", "Насос не промывают, когда клапан открыт, но это было сделано в тот же день."),
    ("", "重跑数据库"), ("", ""), ("", "qwerty zxcvb"),
])
def test_a_language_is_told_by_its_commonest_words(language: str, text: str) -> None:
    assert detect(text) == language


@given(st.text(max_size=200), st.lists(st.sampled_from(LANGUAGES), max_size=2))
def test_the_language_is_a_declared_one_where_any_is(text: str, declared: list[str]) -> None:
    assert language_of(text, declared) in (declared or [*LANGUAGES, ""])


@pytest.mark.parametrize(("value", "languages"), [
    ("pt-BR", ("portuguese",)), ("en, pt", ("english", "portuguese")), ("Portuguese", ("portuguese",)), (None, ()), ("", ()),
    ("klingon", ("klingon",)), ("en,en", ("english",)),
])
def test_language_codes_and_names(value: str | None, languages: tuple[str, ...]) -> None:
    assert declared_languages(value) == languages
