"""Where things are: paths below the root of the repository, with `/`, as they are printed and written in the ledger."""

from __future__ import annotations

import os
import re

LOCAL = ".ai/local"
STATE = ".ai/local/state"
LEDGER = f"{STATE}/ledger.jsonl"
OPEN = f"{STATE}/sessions-open"
POINTER = f"{STATE}/session-current.yaml"
LOCKS = f"{STATE}/locks"
TASK = f"{STATE}/current.yaml"
COMPLETED = f"{STATE}/completed"
DECISIONS = f"{STATE}/decisions.md"
QUESTIONS = f"{STATE}/open-questions.md"
CHECKPOINTS = f"{STATE}/checkpoints"
HANDOVERS = f"{STATE}/handovers"
OUTBOX = f"{STATE}/outbox"
OUTBOX_CANDIDATES = f"{OUTBOX}/candidates"
OUTBOX_SESSIONS = f"{OUTBOX}/sessions"

REPO = ".ai/repo"
POLICY = f"{REPO}/policy.yaml"
SCOPE = f"{REPO}/scope.yaml"
RULES = f"{REPO}/rules"
DECISION_RECORDS = f"{REPO}/adrs"
PROJECT = f"{REPO}/project"
SESSIONS = f"{REPO}/sessions"
KNOWLEDGE = f"{REPO}/knowledge"
CANDIDATES = f"{KNOWLEDGE}/candidates"
CURATED = f"{KNOWLEDGE}/curated"
SOURCES = f"{KNOWLEDGE}/sources.yaml"

# What each tracked folder says about itself, written with the first file that goes into it.
CONTRACTS = {
    CANDIDATES: ("ai.repo.knowledge.candidates", "Candidate records",
                 "What the tool derived from the ledger and git, and nobody has reviewed yet. A person promotes a record "
                 "with `knowledge promote`, or rejects it with `knowledge reject`."),
    CURATED: ("ai.repo.knowledge.curated", "Curated records",
              "What this repository holds to be true, each record verified by a person's act and carrying its evidence."),
    SESSIONS: ("ai.repo.sessions", "Session records",
               "One file per closed episode of work: what it touched, decided and left open. Written once, never edited."),
}


def contract(folder: str) -> str:
    """The README of a tracked folder."""
    name, title, body = CONTRACTS[folder]
    return f"---\nschema: context/v1\nid: {name}\nkind: context\ntitle: {title}\n---\n\n# {title}\n\n{body}\n"


def safe_key(provider_session: str) -> str:
    """A provider's session id as a file name: `[A-Za-z0-9._-]`, at most 64 characters; `hand` when nothing is left."""
    key = re.sub(r"[^A-Za-z0-9._-]+", "-", provider_session).strip("-")[:64]
    if not key:
        return "hand"
    return f"_{key}" if not key.strip(".") else key


def holding(path: str | os.PathLike[str]) -> str | None:
    """The root of the working tree around `path` if it has a `.ai` folder. Asks the disk, not git: it is on a hot path."""
    folder = os.path.realpath(path)
    while not os.path.exists(os.path.join(folder, ".git")):
        parent = os.path.dirname(folder)
        if parent == folder:
            return None
        folder = parent
    return folder if os.path.isdir(os.path.join(folder, ".ai")) else None
