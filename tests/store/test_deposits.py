"""Documents into the deposit and out of it, over disks that differ and moves that fail."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from kb.core.values import Base, Privacy
from kb.errors import KbError
from kb.store.deposits import destroy, document_slug, stage, stage_original, staged_from


@pytest.fixture
def base(tmp_path: Path) -> Base:
    (tmp_path / "ada").mkdir()
    return Base("ada", str(tmp_path / "ada"), "Ada", True, Privacy(False))


@pytest.fixture
def document(tmp_path: Path) -> Path:
    path = tmp_path / "Memo.PDF"
    path.write_bytes(b"\x00memo\xff")
    return path


@pytest.mark.parametrize(("name", "slug"), [("Gestão da T.I. (2012)", "gest-o-da-t-i-2012"), ("___", "document"), ("", "document"),
                                            ("a" * 99, "a" * 60), ("x" * 59 + "-y", "x" * 59), ("A--b", "a-b")])
def test_the_name_of_a_deposit(name, slug):
    assert document_slug(name) == slug


def other_disk(monkeypatch: pytest.MonkeyPatch, source: Path) -> None:
    """From now on the document lies on another disk than everything else."""
    real = os.rename

    def rename(old: str, new: str) -> None:
        if str(old) == str(source):
            raise OSError(errno.EXDEV, "Invalid cross-device link")
        real(old, new)

    monkeypatch.setattr(os, "rename", rename)


def test_a_move_to_another_disk_copies_compares_and_only_then_removes(base, document, monkeypatch):
    data = document.read_bytes()
    other_disk(monkeypatch, document)
    staged = stage(base, str(document), "memo", keep=False)
    assert Path(staged.raw).read_bytes() == data and not document.exists() and staged.raw.endswith("-memo.pdf")


def test_a_short_copy_is_removed_and_the_document_stays(base, document, monkeypatch):
    other_disk(monkeypatch, document)
    monkeypatch.setattr("shutil.copy2", lambda old, new: Path(new).write_bytes(b"m"))
    with pytest.raises(KbError, match="nothing was changed"):
        stage(base, str(document), "memo", keep=False)
    assert document.exists() and [path for path in Path(base.root).rglob("*") if path.is_file()] == []


@pytest.mark.parametrize("keep", [False, True])
def test_a_failed_move_leaves_the_document_and_no_deposit(base, document, monkeypatch, keep):
    def fail(*words: object, **settings: object) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, "rename", fail)
    monkeypatch.setattr("shutil.copy2", fail)
    with pytest.raises(KbError, match="Input/output error"):
        stage(base, str(document), "memo", keep=keep)
    assert document.exists() and [path for path in Path(base.root).rglob("*") if path.is_file()] == []


def test_what_was_staged_is_found_by_the_path_it_had_and_by_no_other(base, document):
    staged = stage(base, str(document), "memo", keep=True)
    assert list(staged_from(base, str(document))) == [staged] and list(staged_from(base, str(document) + "x")) == []


def test_a_deposit_that_claims_an_original_elsewhere_is_not_ours(base, document, tmp_path):
    """A deposit is untrusted: what it names outside of raw/ must never be removed."""
    (tmp_path / "precious.txt").write_text("x")
    inbox = Path(base.root) / "inbox"
    inbox.mkdir()
    for raw in (f"{tmp_path}/precious.txt", f"{base.root}/inbox/raw/../../../precious.txt", f"{base.root}/agent.txt", ""):
        (inbox / "x.txt").write_text(f"---\nstaged_from: {document}\nstaged_raw: {raw}\n---\n\nx\n")
        assert list(staged_from(base, str(document))) == []


@pytest.mark.parametrize("place", ["inbox", "inbox/raw"])
def test_a_deposit_that_leads_out_of_the_base_takes_and_gives_nothing(base, document, tmp_path, place):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "thesis.pdf").write_text("x")
    link = Path(base.root) / place
    link.parent.mkdir(exist_ok=True)
    link.symlink_to(outside)
    with pytest.raises(KbError, match="leads out"):
        stage(base, str(document), "memo", keep=False)
    (Path(base.root) / "inbox/x.txt").write_text(f"---\nstaged_from: {document}\nstaged_raw: {base.root}/inbox/raw/thesis.pdf\n---\n\nx\n")
    assert list(staged_from(base, str(document))) == [] and document.exists()


def test_destroying_twice_is_no_error_and_touches_nothing_else(base, document):
    staged = stage(base, str(document), "memo", keep=True)
    assert destroy(staged) == [staged.raw, staged.deposit.path] and destroy(staged) == []
    assert document.exists()


def test_an_original_is_moved_over_its_own_copy(base, document):
    staged = stage(base, str(document), "memo", keep=True)
    stage_original(str(document), staged.raw, keep=False)
    assert not document.exists() and Path(staged.raw).read_bytes() == b"\x00memo\xff"
