"""Which agent the classifier of a fleet names for a message; used at the door and by `kb eval --classify`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kb.core.values import Answer
from kb.errors import KbError
from kb.store.commands import DEFAULT_TIMEOUT

if TYPE_CHECKING:
    from kb.app import App
    from kb.core.dossier import Ruling


@dataclass(frozen=True, slots=True)
class Classification:
    """What came of asking: a ruling, or why a classifier that fleet.txt names gave none ("" when it names none)."""

    ruling: Ruling | None
    problem: str = ""


def classify(app: App, answer: Answer, message: str, patience: float = DEFAULT_TIMEOUT) -> Classification:
    """One call of `classifier =` about `message`, whose search brought `answer`. Never raises KbError.

    `patience` is how many seconds it may take where fleet.txt does not say.
    """
    if app.fleet.manifest.last("classifier") is None:
        return Classification(None)
    from kb.core.dossier import dossier, parse_reply
    from kb.ops.models import ask_model

    agents = app.fleet.agents
    try:
        reply = ask_model(app, "classifier", dossier(agents, answer, message), patience=patience)
    except KbError as error:
        return Classification(None, str(error))
    ruling = parse_reply(reply, [agent.name for agent in agents])
    if ruling is None:
        return Classification(None, "the classifier's reply names neither an owner nor a coverage")
    return Classification(ruling)
