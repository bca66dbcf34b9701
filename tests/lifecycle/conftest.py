"""The yard: a repository with a fixed clock and nothing of the user's environment."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.lifecycle.yard import NOW, Yard


@pytest.fixture
def yard(tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Iterator[Yard]:
    for name in ("MAJORDOMUS_NOW", "MAJORDOMUS_PROVIDER_SESSION", "CLAUDE_CODE_SESSION_ID", "GIT_DIR", "KB_DISABLE_PLUGINS",
                 "KB_PLUGINS_ONLY"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {"KB_NOW": NOW, "HOME": str(tmp_path / "home"), "TZ": "UTC", "LANG": "C.UTF-8", "NO_COLOR": "1",
                        "GIT_AUTHOR_NAME": "A Writer", "GIT_AUTHOR_EMAIL": "writer@example.org",
                        "GIT_COMMITTER_NAME": "A Writer", "GIT_COMMITTER_EMAIL": "writer@example.org",
                        "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"}.items():
        monkeypatch.setenv(name, value)
    yield Yard(tmp_path / "yard", capfd, monkeypatch).begin()
