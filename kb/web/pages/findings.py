"""The linter's findings, by base and file."""

from __future__ import annotations

from collections import Counter
from itertools import groupby

from kb.ops.check import check
from kb.specs import Check
from kb.web.query import Query
from kb.web.room import Reply, Room

SHOWN = 1000


def view(room: Room, query: Query) -> Reply:
    """What `kb check` reports; `code` and `base` narrow it."""
    app = room.app()
    grade = check(app)
    code, base = query.text("code"), query.text("base")
    every = list(grade.findings)
    kept = [f for f in every if (not code or f.code == code) and (not base or f.base == base)]
    groups = [(place, list(items)) for place, items in groupby(kept[:SHOWN], key=lambda f: (f.base, f.file))]
    slugs = {item.code: item.slug for item in app.host.specs("kb_checks", Check, lambda item: item.code)}
    counts = Counter((f.code, f.level) for f in every)
    return room.page("findings.html", title="Findings", here="/findings", groups=groups, total=len(kept), shown=SHOWN,
                     counts=sorted(counts.items()), slugs=slugs, bases=grade.bases, failures=grade.failures, code=code, base=base,
                     errors=sum(f.level == "error" for f in every), warnings=sum(f.level == "warning" for f in every))
