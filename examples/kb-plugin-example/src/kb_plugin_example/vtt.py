"""Subtitles (WebVTT) as text: who speaks, and what is said, without times."""

from __future__ import annotations

import html
import re
from pathlib import Path

from kb.api import Extractor, KbError, hookimpl, read_text

_VOICE = re.compile(r"<v(?:\.[^\s>]*)?\s+([^>]+)>")
_TAG = re.compile(r"<[^<>]*>")


def extract(path: Path) -> str:
    """One paragraph for each run of cues by one speaker. Raises KbError when the file is no WebVTT."""
    try:
        lines = read_text(path).splitlines()
    except UnicodeDecodeError:
        raise KbError("it is not UTF-8, and WebVTT always is") from None
    if not lines or not re.match(r"WEBVTT(?:[ \t]|$)", lines[0]):
        raise KbError("its name says vtt, and it does not begin with WEBVTT")
    paragraphs: list[tuple[str, list[str]]] = []
    speaker = ""
    for cue in "\n".join(lines[1:]).split("\n\n"):
        _, arrow, body = cue.partition("-->")
        if not arrow:
            continue  # the header, a NOTE, a STYLE or a REGION
        for line in body.split("\n")[1:]:
            voice = _VOICE.search(line)
            speaker = html.unescape(voice[1]).strip() if voice else speaker
            words = html.unescape(_TAG.sub("", line)).strip()
            if not words:
                continue
            if not paragraphs or paragraphs[-1][0] != speaker:
                paragraphs.append((speaker, []))
            if paragraphs[-1][1][-1:] != [words]:  # captions that roll repeat the line above
                paragraphs[-1][1].append(words)
    return "\n\n".join(f"{who}: {' '.join(said)}" if who else " ".join(said) for who, said in paragraphs) + "\n"


@hookimpl
def kb_extractors() -> list[Extractor]:
    """`vtt`."""
    return [Extractor("webvtt", ("vtt",), extract)]
