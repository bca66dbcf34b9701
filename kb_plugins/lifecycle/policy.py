"""The policy of a repository: `.ai/repo/policy.yaml`, or the built-in one when there is no file."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from kb_plugins.lifecycle import clock, layout, yaml_subset
from kb_plugins.lifecycle.disk import Disk
from kb_plugins.lifecycle.exits import invalid

DEFAULTS: dict[str, str] = {
    "session.knowledge_on_end": "true",
    "session.knowledge_on_compact": "true",
    "session.checkpoint_on_compact": "true",
    "session.handover_on_end": "true",
    "session.briefing_on_start": "true",
    "session.briefing_budget_lines": "60",
    "session.freshness.fresh_minutes": "720",
    "session.freshness.stale_minutes": "2880",
    "session.stranded_after": "12h",
    "knowledge.candidates_max_files": "40",
    "knowledge.candidate_max_age_minutes": "20160",
    "ledger.retention_max_lines": "5000",
}


@dataclass(frozen=True)
class Policy:
    """What holds here. `values` has only what the file says when there is one, every default when there is none."""

    values: dict[str, str]
    from_file: bool
    unknown: tuple[str, ...] = ()
    malformed: tuple[str, ...] = field(default=())

    def on(self, key: str) -> bool:
        """A switch: on unless the file says `false`."""
        return self.values.get(key, "true") != "false"

    def stated(self, key: str) -> int | None:
        """The number that holds, or None when a policy file leaves it out: then a judge reports the absence."""
        text = self.values.get(key)
        return int(text) if text is not None and text.isdigit() else None

    def number(self, key: str) -> int:
        """The number that holds, the built-in one where the file is silent."""
        stated = self.stated(key)
        return int(DEFAULTS[key]) if stated is None else stated

    @property
    def missing(self) -> list[str]:
        """Keys that a policy file should have and has not."""
        return [key for key in DEFAULTS if key not in self.values]

    @property
    def stranded_after(self) -> int | None:
        """`session.stranded_after` in seconds, or None when a policy file leaves it out."""
        text = self.values.get("session.stranded_after")
        return None if text is None else clock.seconds(text)


BUILT_IN = Policy(DEFAULTS, False)


def read_policy(disk: Disk) -> Policy:
    """The policy of this repository. Raises KbError (10) when the file does not parse."""
    data = disk.read_if_readable(layout.POLICY)
    if data is None:
        if disk.exists(layout.POLICY):
            raise invalid(f"{layout.POLICY} cannot be read", hint="mend the file, or remove it for the defaults")
        return BUILT_IN
    try:
        fields = yaml_subset.flat(yaml_subset.parse(data.decode("utf-8-sig")))
    except ValueError as error:
        raise invalid(f"{layout.POLICY} does not parse: {error}",
                      hint="mend the file, or remove it for the defaults") from None
    if fields.get("version") != "1":
        raise invalid(f"{layout.POLICY} must say `version: 1`", hint="mend the file, or remove it for the defaults")
    values = {key: value for key, value in fields.items() if key in DEFAULTS and isinstance(value, str)}
    malformed = tuple(key for key, value in values.items() if not _shaped(key, value))
    return Policy({key: value for key, value in values.items() if key not in malformed}, True,
                  tuple(key for key in fields if key not in DEFAULTS and key != "version"), malformed)


def _shaped(key: str, value: str) -> bool:
    default = DEFAULTS[key]
    if default in ("true", "false"):
        return True
    return bool(re.fullmatch(r"[0-9]{1,9}" if default.isdigit() else r"\d{1,9}[smhd]", value))
