"""The page from a PDF to a cited answer is run as it stands, with a `claude` that is a stand-in and a PDF that is real."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys

import pytest

from tests.conftest import REPOSITORY, Shell
from tests.docs.transcripts import assert_printed_in_order
from tests.models import ACCEPT, proposal

COMMANDS = re.compile(r"^```sh\n(.*?)^```", re.MULTILINE | re.DOTALL)
PRINTED = re.compile(r"^```text\n(.*?)^```", re.MULTILINE | re.DOTALL)
MANUAL = "# Pump\n\nClose the inlet valve, open the drain and run the motor for one minute.\n"
NOTE = proposal("flush-the-pump", "flush the pump, pump flushing, purge, drain the pump", summary="how the pump is flushed",
                body="# Flush the pump\n\n## Steps\n\nClose the inlet valve, open the drain and run the motor for one minute.")
CLAUDE = f"""
prompt=$(cat)
case $prompt in
  *"YOUR ONE QUESTION"*) printf '%s' {shlex.quote(ACCEPT)} ;;
  *"Close the inlet valve"*) printf '%s' {shlex.quote(NOTE)} ;;
  *) echo "the text of the manual is not in the prompt" >&2; exit 1 ;;
esac
"""


def test_from_a_pdf_to_a_cited_answer(sh: Shell) -> None:
    soffice = shutil.which("soffice")
    if soffice is None:
        pytest.skip("soffice is not installed (Debian: libreoffice-writer-nogui)")
    origin = sh.write("home/Downloads/pump-manual.html", f"<h1>Pump</h1><p>{MANUAL.splitlines()[2]}</p>")
    subprocess.run([soffice, f"-env:UserInstallation=file://{sh.root}/profile", "--headless", "--convert-to",
                    "pdf:writer_web_pdf_Export", "--outdir", origin.parent, origin], check=True, capture_output=True, timeout=120)
    sh.script("bin/claude", CLAUDE)
    sh.script("bin/kb", f'exec {shlex.quote(sys.executable)} -P -m kb "$@"\n')
    page = (REPOSITORY / "docs/how-to/from-a-pdf-to-a-cited-answer.md").read_text(encoding="utf-8")
    script = "set -eu\n" + "\n".join(COMMANDS.findall(page)).replace("$PWD/.venv/bin:", f"{sh.root}/bin:")
    run = sh.run("sh", "-c", script, cwd=REPOSITORY, env={
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path), "KB_SCORERS": "default"}).ok()
    printed = run.out.replace(str(sh.root / "home"), "~").replace("2026-09-20", "<date>")
    assert_printed_in_order(PRINTED.findall(page), printed)
    assert "(ana/knowledge/flush-the-pump.md)" in printed
    assert not (sh.root / "home/Downloads/pump-manual.pdf").exists()


def test_the_example_of_the_extractor_page_is_an_extractor(tmp_path, monkeypatch) -> None:
    text = (REPOSITORY / "docs/plugins/writing-an-extractor.md").read_text(encoding="utf-8")
    [source] = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    site = tmp_path / "site"
    (site / "rtf-1.dist-info").mkdir(parents=True)
    (site / "rtf-1.dist-info/METADATA").write_text("Name: rtf\nVersion: 1\n")
    (site / "rtf-1.dist-info/entry_points.txt").write_text("[kb.plugins]\nextract-rtf = rtf_page\n")
    (site / "rtf_page.py").write_text(source)
    (site / "striprtf").mkdir()
    (site / "striprtf/striprtf.py").write_text("def rtf_to_text(data):\n    return data[6:].rstrip('}')\n")
    monkeypatch.setenv("PYTHONPATH", str(site))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    from kb.errors import KbError
    from kb.ops.extract import extract

    for content, seen in (("{\\rtf1 seven lanterns}", " seven lanterns"), ("plain", None)):
        path = tmp_path / "a.rtf"
        path.write_text(content)
        if seen is None:
            with pytest.raises(KbError, match="its name says rtf"):
                extract(str(tmp_path), str(path))
        else:
            assert extract(str(tmp_path), str(path)).strip() == seen.strip()
