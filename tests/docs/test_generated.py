"""Generated pages are what the generator writes today, and every check, verb, hook and name of the public API has its place there."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from tests.conftest import REPOSITORY


def load_generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate", REPOSITORY / "docs/generate.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


generator = load_generator()


@pytest.mark.parametrize("page", generator.PAGES)
def test_a_page_is_what_the_generator_writes(page: str) -> None:
    found = (REPOSITORY / "docs" / page).read_text(encoding="utf-8")
    assert found == generator.PAGES[page](), "stale: run `make docs` (python docs/generate.py)"


def test_check_names_a_stale_page_and_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                                                      capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(generator, "DOCS", tmp_path)
    monkeypatch.setattr(generator, "PAGES", {"reference/x.md": lambda: "new\n"})
    assert generator.main(["--check"]) == 1
    assert capsys.readouterr().out == "stale: reference/x.md\n" and not list(tmp_path.iterdir())
    assert generator.main([]) == 0 and generator.main(["--check"]) == 0
    assert (tmp_path / "reference/x.md").read_text() == "new\n"


@pytest.mark.parametrize(("page", "names"), [
    ("reference/checks.md", ["E01", "E02", "E04", "E05", "E06", "E08", "E09", "W01", "W03", "W04", "W05", "W06", "W07", "W08", "W09"]),
    ("reference/verbs.md", ["kb check", "kb write", "kb knowledge derive", "kb session close"]),
    ("reference/hooks.md", ["kb_checks", "kb_session_event", "Check", "Scorer", "BaseUnderCheck"])])
def test_each_has_a_heading_of_its_own(page: str, names: list[str]) -> None:
    headings = [line.lstrip("#") for line in (REPOSITORY / "docs" / page).read_text(encoding="utf-8").splitlines() if line.startswith("##")]
    assert [name for name in names if not any(f"{heading} ".startswith(f" {name} ") for heading in headings)] == []
