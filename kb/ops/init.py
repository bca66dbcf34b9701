"""`kb init`: a base in the shape that the catalogue needs."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass

from kb.core.draft import SLUG_RULE, is_slug
from kb.core.skeleton import agent_files, person_files
from kb.errors import KbError
from kb.store.files import write_atomic

PERSON = "person"


@dataclass(frozen=True, slots=True)
class CreatedBase:
    """The new folder (absolute), and how many files it holds."""

    root: str
    files: int


def init_agent(name: str, fleet_root: str) -> CreatedBase:
    """Make `<fleet_root>/fleet/<name>`. Raises KbError for a bad or reserved name, or when the folder exists in any form."""
    if not name.strip():
        raise KbError("the name of the agent is blank", hint=SLUG_RULE)
    if not is_slug(name):
        raise KbError(f"{name} cannot name an agent", hint=SLUG_RULE)
    if name == PERSON:
        raise KbError("person is the name of the person's base", hint="kb init --person makes it")
    return _create(fleet_root, name, agent_files(name))


def init_person(fleet_root: str) -> CreatedBase:
    """Make `<fleet_root>/fleet/person`, the base that says who the agents work for."""
    return _create(fleet_root, PERSON, person_files())


def _create(fleet_root: str, name: str, files: Mapping[str, str]) -> CreatedBase:
    """All files or none: they are written into a folder beside the target, which is then given its name."""
    if not fleet_root.strip():
        raise KbError("the fleet root is blank", hint="the current folder is .")
    fleet = os.path.join(os.path.realpath(fleet_root), "fleet")
    root = os.path.join(fleet, name)
    if os.path.lexists(root):
        raise KbError(f"{root} exists already, so it was left alone")
    made = [folder for folder in (os.path.dirname(fleet), fleet) if not os.path.isdir(folder)]
    staged = os.path.join(fleet, f".{name}.{os.getpid()}.new")
    try:
        for path, text in files.items():
            write_atomic(os.path.join(staged, path), text)
        os.rename(staged, root)
    except OSError as error:
        shutil.rmtree(staged, ignore_errors=True)
        for folder in reversed(made):
            if os.path.isdir(folder) and not os.listdir(folder):
                os.rmdir(folder)
        raise KbError(f"cannot make {root}: {error.strerror}") from None
    return CreatedBase(root, len(files))
