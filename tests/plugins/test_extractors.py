"""One contract over every registered extractor, on documents that real programs made, and on hostile ones."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from kb.errors import KbError
from kb.host import open_host
from kb.ops import extract as op
from kb.ops.extract import extract
from kb.specs import Extractor
from kb.store.trust import Untrusted
from tests.conftest import REPOSITORY

SOURCE = """# Quay

Seven *lanterns* burn at the café, from São Paulo to 東京.

- a rope
- a hook

## Prices

| berth | price |
|-------|-------|
| north | nine  |
"""
PHRASES = ("Quay", "Seven lanterns burn at the café, from São Paulo", "a rope", "Prices", "north", "nine")


def registered() -> list[Extractor]:
    found: list[Extractor] = open_host(lambda failure: None).specs("kb_extractors", Extractor, lambda item: item.extensions)
    return found


EXTENSIONS = sorted(ending for item in registered() for ending in item.extensions)
KINDS = sorted(item.extensions[0] for item in registered())  # one extension of each extractor
ZIPPED = [ending for ending in ("docx", "epub", "odt") if ending in EXTENSIONS]


def program(name: str, package: str) -> str:
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is not installed (Debian: {package})")
    return found


@pytest.fixture(scope="session")
def samples(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """A document of each kind, made by pandoc or LibreOffice from one markdown text when it is first asked for."""
    folder = tmp_path_factory.mktemp("samples")
    markdown = folder / "quay.md"
    markdown.write_text(SOURCE, encoding="utf-8")

    def make(ending: str) -> Path:
        target = folder / f"quay.{ending}"
        if target.exists():
            return target
        if ending in ("txt", "markdown"):
            shutil.copy(markdown, target)
        elif ending == "vtt":  # the example plugin's captions: no tool here writes them, and a cue is three lines
            lines = [line for line in SOURCE.splitlines() if line.strip()]
            cues = [f"00:00:{at:02}.000 --> 00:00:{at + 1:02}.000\n{line}\n" for at, line in enumerate(lines)]
            target.write_text("WEBVTT\n\n" + "\n".join(cues), encoding="utf-8")
        elif ending in ("pdf", "doc"):
            origin = make("odt" if ending == "pdf" else "docx")
            soffice = program("soffice", "libreoffice-writer-nogui")
            subprocess.run([soffice, f"-env:UserInstallation=file://{folder}/profile", "--headless", "--convert-to", ending,
                            "--outdir", folder, origin], check=True, capture_output=True, timeout=120)
        else:
            pandoc = program("pandoc", "pandoc")
            kind = {"htm": "html", "xhtml": "html"}.get(ending, ending)
            subprocess.run([pandoc, "-s", "-t", kind, "-M", "title=Quay notes", markdown, "-o", target], check=True,
                           capture_output=True, timeout=60)
        return target

    return make


def refused(path: Path) -> str:
    """The one line with which a document is refused."""
    with pytest.raises(KbError) as caught:
        extract(str(path.parent), str(path))
    line = str(caught.value)
    assert "\n" not in line and "Traceback" not in line and path.name in line, line
    return line


# -- the contract ------------------------------------------------------------------------------------------------------


def test_extensions_are_lower_case_without_a_dot_and_have_one_reader_each():
    assert len(set(EXTENSIONS)) == len(EXTENSIONS)
    assert all(ending == ending.lower() and ending.isalnum() for ending in EXTENSIONS)
    assert {"txt", "md", "html", "pdf", "docx", "epub", "odt"} <= set(EXTENSIONS)


@pytest.mark.parametrize("ending", EXTENSIONS)
def test_the_text_of_a_real_document_is_read_in_order(samples, ending):
    path = samples(ending)
    before = path.read_bytes()
    words = " ".join(extract(str(path.parent), str(path)).replace("*", "").split())
    places = [words.find(phrase) for phrase in PHRASES]
    assert -1 not in places and places == sorted(places), words
    assert "<p" not in words and "{" not in words and path.read_bytes() == before


@pytest.mark.parametrize("ending", ["html", "docx", "epub", "odt"])
def test_headings_and_list_items_stay_recognisable(samples, ending):
    path = samples(ending)
    lines = [line.strip() for line in extract(str(path.parent), str(path)).splitlines()]
    assert "## Prices" in lines and "north | nine" in lines
    assert "- a rope" in lines


@pytest.mark.parametrize("ending", KINDS)
@pytest.mark.parametrize("content", [b"", b"\n \n", b"\0" * 5000, b"\xff\x00\xfe garbage \x80" * 50, b"%PDF-1.7\ngarbage",
                                     b"PK\x03\x04garbage", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600],
                         ids=["empty", "blank", "zeros", "noise", "half pdf", "half zip", "old office"])
def test_what_is_no_such_document_is_refused_in_one_line(tmp_path, ending, content):
    path = tmp_path / f"broken.{ending}"
    path.write_bytes(content)
    if ending in ("html", "htm", "xhtml") and content.startswith((b"\xff", b"\0")):
        try:  # any bytes are some page, as they are to a browser
            extract(str(tmp_path), str(path))
        except KbError:
            pass
        return
    refused(path)


@pytest.mark.parametrize("ending", KINDS)
def test_a_document_cut_short_is_read_or_refused_and_never_a_traceback(samples, tmp_path, ending):
    whole = samples(ending).read_bytes()
    for share in (3, 1.2):
        path = tmp_path / f"cut.{ending}"
        path.write_bytes(whole[:int(len(whole) / share)])
        try:
            assert extract(str(tmp_path), str(path)).strip()
        except KbError as error:
            assert "\n" not in str(error) and "bug" not in str(error)


@pytest.mark.parametrize("ending", [ending for ending in KINDS if ending not in ("txt", "html")])
@pytest.mark.parametrize("real", ["md", "pdf", "odt"])
def test_a_name_that_lies_is_refused(samples, tmp_path, ending, real):
    if ending == real:
        return
    path = tmp_path / f"wrong.{ending}"
    shutil.copy(samples(real), path)
    assert ending.lower() in refused(path).lower()


@pytest.mark.parametrize(("ending", "real", "named"), [("txt", "pdf", "a PDF"), ("md", "docx", "zip"), ("html", "pdf", "a PDF")])
def test_text_that_is_something_else_says_what_it_is(samples, tmp_path, ending, real, named):
    path = tmp_path / f"wrong.{ending}"
    shutil.copy(samples(real), path)
    assert named in refused(path)


# -- encrypted, scanned, protected -------------------------------------------------------------------------------------


def test_an_encrypted_pdf_is_refused_and_one_that_only_restricts_printing_is_read(samples, tmp_path):
    from pypdf import PdfReader, PdfWriter

    for user, path in (("secret", tmp_path / "locked.pdf"), ("", tmp_path / "restricted.pdf")):
        writer = PdfWriter(clone_from=PdfReader(samples("pdf")))
        writer.encrypt(user_password=user, owner_password="owner", algorithm="AES-256")
        writer.write(path)
    assert "encrypted" in refused(tmp_path / "locked.pdf")
    assert "Seven lanterns" in extract(str(tmp_path), str(tmp_path / "restricted.pdf"))


def test_a_scan_is_refused_and_told_about_character_recognition(samples, tmp_path):
    """The page as a picture, as a scanner would make it."""
    subprocess.run([program("pdftoppm", "poppler-utils"), "-r", "40", "-jpeg", samples("pdf"), tmp_path / "page"], check=True)
    [picture] = tmp_path.glob("page*.jpg")
    path = tmp_path / "scan.pdf"
    _pdf_of_picture(picture.read_bytes(), path)
    line = refused(path)
    assert "scan" in line and "OCR" in line


def _pdf_of_picture(jpeg: bytes, path: Path) -> None:
    from pypdf import PdfWriter
    from pypdf.generic import DecodedStreamObject, DictionaryObject, NameObject, NumberObject, StreamObject

    writer = PdfWriter()
    page = writer.add_blank_page(200, 200)
    image = StreamObject()
    image._data = jpeg
    for name, value in (("/Type", NameObject("/XObject")), ("/Subtype", NameObject("/Image")), ("/Width", NumberObject(10)),
                        ("/Height", NumberObject(10)), ("/ColorSpace", NameObject("/DeviceRGB")),
                        ("/BitsPerComponent", NumberObject(8)), ("/Filter", NameObject("/DCTDecode"))):
        image[NameObject(name)] = value
    page[NameObject("/Resources")] = DictionaryObject({NameObject("/XObject"): DictionaryObject(
        {NameObject("/I"): writer._add_object(image)})})
    draw = DecodedStreamObject()
    draw.set_data(b"q 200 0 0 200 0 0 cm /I Do Q")
    page[NameObject("/Contents")] = writer._add_object(draw)
    writer.write(path)


def repacked(origin: Path, target: Path, change: dict[str, bytes]) -> Path:
    """The archive with some entries replaced or added."""
    with zipfile.ZipFile(origin) as old, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as new:
        for entry in old.infolist():
            if entry.filename not in change:
                new.writestr(entry, old.read(entry))
        for name, data in change.items():
            new.writestr(name, data)
    return target


def test_a_word_document_reads_as_it_stands_after_its_changes(samples, tmp_path):
    """Inserted text, content controls and links are in it; deleted text is not."""
    with zipfile.ZipFile(samples("docx")) as archive:
        document = archive.read("word/document.xml").decode()
    new = ('<w:sdt><w:sdtContent><w:p><w:r><w:t>a controlled line</w:t></w:r></w:p></w:sdtContent></w:sdt>'
           '<w:p><w:ins w:id="9" w:author="x"><w:r><w:t>inserted</w:t></w:r></w:ins><w:del w:id="8" w:author="x"><w:r>'
           '<w:delText>deleted</w:delText></w:r></w:del><w:r><w:tab/><w:t>words</w:t><w:br/><w:t>below</w:t></w:r></w:p>')
    path = repacked(samples("docx"), tmp_path / "changed.docx", {
        "word/document.xml": document.replace("<w:body>", f"<w:body>{new}").encode()})
    text = extract(str(tmp_path), str(path))
    assert text.startswith("a controlled line\n\ninserted\twords\nbelow\n\n") and "deleted" not in text
    assert "- a rope" in text and "north | nine" in text


@pytest.mark.parametrize("ending", ["docx", "odt", "html", "epub"])
def test_footnotes_are_text_too(tmp_path, ending):
    markdown = tmp_path / "n.md"
    markdown.write_text("A claim.[^1]\n\n[^1]: The measured proof.\n")
    path = tmp_path / f"n.{ending}"
    subprocess.run([program("pandoc", "pandoc"), "-s", "-M", "title=N", markdown, "-o", path], check=True, capture_output=True)
    assert "The measured proof." in extract(str(tmp_path), str(path))


def test_an_encrypted_odt_is_refused(samples, tmp_path):
    manifest = b'<manifest><file-entry full-path="content.xml"><encryption-data checksum="x"/></file-entry></manifest>'
    assert "encrypted" in refused(repacked(samples("odt"), tmp_path / "locked.odt", {"META-INF/manifest.xml": manifest}))


def test_a_protected_book_is_refused_and_one_with_scrambled_fonts_is_read(samples, tmp_path):
    with zipfile.ZipFile(samples("epub")) as book:
        chapters = [name for name in book.namelist() if name.endswith(".xhtml")]
    lock = ('<encryption xmlns="urn:oasis:names:tc:opendocument:xmlns:container" xmlns:enc="http://www.w3.org/2001/04/xmlenc#">'
            '<enc:EncryptedData><enc:CipherData><enc:CipherReference URI="%s"/></enc:CipherData></enc:EncryptedData></encryption>')
    locked = repacked(samples("epub"), tmp_path / "drm.epub", {
        "META-INF/encryption.xml": "".join(lock % name for name in chapters).encode()})
    fonts = repacked(samples("epub"), tmp_path / "fonts.epub", {"META-INF/encryption.xml": (lock % "OEBPS/fonts/a.ttf").encode()})
    assert "protected" in refused(locked)
    assert "Seven lanterns" in extract(str(tmp_path), str(fonts))


def test_a_book_is_read_in_the_order_of_its_spine_and_not_of_its_names(tmp_path):
    path = tmp_path / "book.epub"
    chapter = "<html><head><title>t</title><script>no()</script></head><body><p>{}</p></body></html>"
    with zipfile.ZipFile(path, "w") as book:
        book.writestr("META-INF/container.xml", '<container><rootfiles><rootfile full-path="in/p.opf"/></rootfiles></container>')
        book.writestr("in/p.opf", """<package><manifest>
            <item id="a" href="text/1.xhtml" media-type="application/xhtml+xml"/>
            <item id="b" href="text/2%20x.xhtml" media-type="application/xhtml+xml"/>
            <item id="c" href="style.css" media-type="text/css"/></manifest>
            <spine><itemref idref="b"/><itemref idref="a"/><itemref idref="c"/></spine></package>""")
        book.writestr("in/text/1.xhtml", chapter.format("the second chapter"))
        book.writestr("in/text/2 x.xhtml", chapter.format("the first chapter"))
        book.writestr("in/style.css", "p { color: red }")
    assert extract(str(tmp_path), str(path)) == "the first chapter\n\nthe second chapter"


# -- limits ------------------------------------------------------------------------------------------------------------


def test_a_file_of_two_gigabytes_is_refused_by_its_size_before_it_is_read(tmp_path):
    path = tmp_path / "huge.pdf"
    with path.open("wb") as file:
        file.truncate(2 * 1024**3)
    begun = time.monotonic()
    assert "MB is the most" in refused(path)
    assert time.monotonic() - begun < 1


@pytest.mark.parametrize("ending", ZIPPED)
def test_a_decompression_bomb_is_refused_before_it_is_unpacked(samples, tmp_path, ending):
    bomb = repacked(samples(ending), tmp_path / f"bomb.{ending}", {"content.xml": b"<a>" + b" " * 40_000_000, "x": b"0" * 40_000_000})
    assert bomb.stat().st_size < 2_000_000
    assert "decompression bomb" in refused(bomb)


@pytest.mark.parametrize("ending", ZIPPED)
def test_an_archive_with_too_many_entries_is_refused(samples, tmp_path, ending):
    assert "10000 is the most" in refused(repacked(samples(ending), tmp_path / f"many.{ending}", {f"e/{n}": b"" for n in range(10_001)}))


BOMB = ('<?xml version="1.0"?><!DOCTYPE z [<!ENTITY a "lol">'
        + "".join(f'<!ENTITY {chr(98 + n)} "{f"&{chr(97 + n)};" * 10}">' for n in range(12)) + "]>")


@pytest.mark.parametrize(("ending", "entry"), [("odt", "content.xml"), ("docx", "word/document.xml")])
def test_entities_that_multiply_are_refused_within_the_limits(samples, tmp_path, ending, entry):
    with zipfile.ZipFile(samples(ending)) as archive:
        body = archive.read(entry).decode().partition("?>")[2].replace("lanterns", "&m;")
    path = repacked(samples(ending), tmp_path / f"lol.{ending}", {entry: (BOMB + body).encode()})
    begun = time.monotonic()
    try:
        assert len(extract(str(tmp_path), str(path))) < 1_000_000
    except KbError as error:
        assert "\n" not in str(error)
    assert time.monotonic() - begun < 30


def test_an_external_entity_reads_no_file(samples, tmp_path):
    (tmp_path / "secret.txt").write_text("the secret word")
    for ending, entry in (("odt", "content.xml"), ("docx", "word/document.xml")):
        with zipfile.ZipFile(samples(ending)) as archive:
            body = archive.read(entry).decode().partition("?>")[2].replace("lanterns", "&x;")
        head = f'<?xml version="1.0"?><!DOCTYPE z [<!ENTITY x SYSTEM "file://{tmp_path}/secret.txt">]>'
        path = repacked(samples(ending), tmp_path / f"x.{ending}", {entry: (head + body).encode()})
        try:
            assert "secret word" not in extract(str(tmp_path), str(path))
        except KbError:
            pass


def test_a_page_nested_a_hundred_thousand_deep_is_read_or_refused_in_one_line(tmp_path):
    path = tmp_path / "deep.html"
    path.write_text("<div>" * 100_000 + "bottom" + "</div>" * 100_000)
    try:
        assert extract(str(tmp_path), str(path)) == "bottom"
    except KbError as error:
        assert "\n" not in str(error)


def test_text_longer_than_a_model_could_be_given_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(op, "MOST_TEXT", 100_000)
    path = tmp_path / "long.txt"
    path.write_text("word " * 50_000)
    assert "more than" in refused(path)


def test_page_furniture_that_nobody_sees_is_no_text(tmp_path):
    path = tmp_path / "page.html"
    path.write_bytes(b"<html><head><meta charset=iso-8859-1><title>T &amp; U</title><style>p{}</style></head><body><!-- aside -->"
                     b"<script>var a</script><p>caf\xe9<br>two&nbsp;x</p><p hidden>ghost</p><pre>  a\n    b</pre></body></html>")
    text = extract(str(tmp_path), str(path))
    assert text.startswith("# T & U\n\ncafé\ntwo x\n\n  a\n    b"), text
    assert not any(word in text for word in ("aside", "var a", "ghost", "p{}"))


@pytest.mark.parametrize("data", ["\ufeffcafé".encode(), "café".encode("utf-16"), b"caf\xc3\xa9\r\nx"])
def test_a_text_with_a_byte_order_mark_or_foreign_line_ends_is_read(tmp_path, data):
    path = tmp_path / "a.txt"
    path.write_bytes(data)
    assert extract(str(tmp_path), str(path)).split() in (["café"], ["café", "x"])


def test_a_text_in_another_encoding_is_refused_and_told_what_to_do(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"caf\xe9")
    assert "UTF-8" in refused(path)


# -- a stranger's extractor, good and bad ------------------------------------------------------------------------------

STRANGER = '''
from pathlib import Path
from kb.api import Extractor, KbError, hookimpl

def good(path: Path) -> str:
    print("a library that chatters on stdout")
    return path.read_text().upper()

def endless(path):
    while True:
        pass

def greedy(path):
    return "x" * 10**11

def broken(path):
    raise RuntimeError("line one\\nline two")

def wrong(path):
    return b"bytes"

def lacking(path):
    import a_package_that_nobody_has

@hookimpl
def kb_extractors():
    return [Extractor(f.__name__, (f.__name__,), f) for f in (good, endless, greedy, broken, wrong, lacking)]
'''


@pytest.fixture
def stranger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A distribution of its own on PYTHONPATH, with an extractor for six endings."""
    site = tmp_path / "site"
    info = site / "stranger-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: stranger\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[kb.plugins]\nstranger = stranger\n")
    (site / "stranger.py").write_text(STRANGER)
    monkeypatch.setenv("PYTHONPATH", str(site))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path


@pytest.mark.parametrize(("ending", "named"), [
    ("greedy", "memory"), ("broken", "RuntimeError: line one line two"), ("wrong", "bytes"),
    ("lacking", "needs the Python package a_package_that_nobody_has; pip install"), ("endless", "did not finish")])
def test_an_extractor_that_misbehaves_is_one_line_and_takes_nothing_with_it(stranger, monkeypatch, ending, named):
    path = stranger / f"doc.{ending}"
    path.write_text("text")
    monkeypatch.setattr(op, "SECONDS", 2.0 if ending == "endless" else 60.0)
    assert named in refused(path)


def test_an_extractor_of_another_distribution_is_used_and_its_chatter_is_not_text(stranger):
    path = stranger / "doc.good"
    path.write_text("seven")
    assert extract(str(stranger), str(path)) == "SEVEN"


def test_a_missing_library_says_what_to_install(tmp_path, monkeypatch, samples):
    fake = tmp_path / "site" / "pypdf"
    fake.mkdir(parents=True)
    (fake / "__init__.py").write_text("raise ModuleNotFoundError(\"No module named 'pypdf'\", name='pypdf')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "site"))
    line = refused(samples("pdf"))
    assert "pypdf" in line and "kb-catalogue[extract]" in line


# -- adapters of the fleet ---------------------------------------------------------------------------------------------


def adapter(root: Path, name: str, body: str, mode: int = 0o755) -> None:
    path = root / "tools/extract" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(body)
    path.chmod(mode)


def test_an_adapter_goes_before_the_plugin_and_runs_only_when_approved(tmp_path, monkeypatch):
    adapter(tmp_path, "txt.sh", '#!/bin/sh\necho "adapted: $(cat "$1")"\n')
    path = tmp_path / "a b.txt"
    path.write_text("seven")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.delenv("KB_TRUST", raising=False)
    with pytest.raises(Untrusted):
        extract(str(tmp_path), str(path))
    monkeypatch.setenv("KB_TRUST", "1")
    assert extract(str(tmp_path), str(path)) == "adapted: seven"


def test_cmd_goes_before_sh_and_py_and_a_file_that_cannot_be_run_is_no_adapter(tmp_path, monkeypatch):
    monkeypatch.setenv("KB_TRUST", "1")
    path = tmp_path / "a.txt"
    path.write_text("plain")
    adapter(tmp_path, "txt.cmd", "@echo off\r\n", 0o644)
    assert extract(str(tmp_path), str(path)) == "plain"
    adapter(tmp_path, "txt.py", f"#!{sys.executable}\nprint('py')\n")
    assert extract(str(tmp_path), str(path)) == "py"
    adapter(tmp_path, "txt.cmd", "#!/bin/sh\necho cmd\n")
    assert extract(str(tmp_path), str(path)) == "cmd"


@pytest.mark.parametrize(("name", "told"), [
    ("chart.xyz", "tools/extract/xyz.cmd"), ("chart.x-y", "tools/extract/x-y.cmd"),
    ("chart", "has no extension"), (".chart", "has no extension")])
def test_what_nobody_reads_is_told_with_the_script_to_write_or_the_ending_to_give(tmp_path, name, told):
    path = tmp_path / name
    path.write_text("x")
    with pytest.raises(KbError, match=told.replace(".", r"\.")):
        extract(str(tmp_path), str(path))


@pytest.mark.parametrize(("script", "ending", "needs"), [
    ("pdf.sh", "pdf", [("pdftotext", "poppler-utils")]), ("rtf.sh", "rtf", [("pandoc", "pandoc")]),
    ("doc.sh", "doc", [("soffice", "libreoffice-writer-nogui"), ("pdftotext", "poppler-utils")]),
    ("png.sh", "png", [("tesseract", "tesseract-ocr")]),
    ("pdf-scanned.sh", "pdf", [("ocrmypdf", "ocrmypdf"), ("pdftotext", "poppler-utils")])])
def test_a_shipped_adapter_reads_a_real_document(samples, tmp_path, monkeypatch, script, ending, needs):
    for command, package in needs:
        program(command, package)
    monkeypatch.setenv("KB_TRUST", "1")
    adapter(tmp_path, f"{ending}.sh", (REPOSITORY / "tools/extract" / script).read_text())
    path = tmp_path / f"quay.{ending}"
    if ending == "png":
        subprocess.run([program("pdftoppm", "poppler-utils"), "-r", "200", "-png", "-singlefile", samples("pdf"), tmp_path / "quay"],
                       check=True)
    else:
        shutil.copy(samples(ending), path)
    assert "lanterns" in extract(str(tmp_path), str(path))


@pytest.mark.parametrize("script", sorted(path.name for path in (REPOSITORY / "tools/extract").iterdir()))
def test_a_shipped_adapter_is_executable_small_and_says_what_it_lacks(tmp_path, script):
    path = REPOSITORY / "tools/extract" / script
    assert os.access(path, os.X_OK) and path.read_text().count("\n") < 30
    shell = tmp_path / "sh"
    shell.symlink_to(shutil.which("sh") or "/bin/sh")
    done = subprocess.run([str(shell), str(path), "x"], env={"PATH": str(tmp_path)}, capture_output=True, text=True, timeout=20)
    assert done.returncode != 0 and "PATH" in done.stderr + "PATH" * ("basename" in done.stderr)


def test_zip_samples_are_what_the_tests_take_them_for(samples):
    for ending in ZIPPED:
        assert zipfile.is_zipfile(io.BytesIO(samples(ending).read_bytes()))
