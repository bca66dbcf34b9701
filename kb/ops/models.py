"""Asking a model: which plugin a line of fleet.txt means, whether a person approved it, and one call."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from kb.blame import ENDINGS, blamed, reason
from kb.core.display import flat
from kb.core.windows import Window
from kb.errors import KbError, PluginError, UsageError
from kb.specs import Answerer, ModelRequest, Promoter, Role
from kb.store import trust
from kb.store.commands import DEFAULT_TIMEOUT
from kb.store.trust import Runnable, Untrusted

if TYPE_CHECKING:
    from kb.app import App

ROLES: tuple[Role, ...] = get_args(Role)


class ModelUnreachable(KbError):
    """A model that was asked and gave nothing: it could not be started, failed, ran out of time or stayed blank."""


class NoModel(UsageError):
    """The line of fleet.txt that would name the model is not there: exit 2."""


def configured(app: App, role: Role) -> str | None:
    """The value of `<role> =` in fleet.txt, or None."""
    return app.fleet.manifest.last(role)


def model_timeout(app: App) -> float:
    """How long a model may take, in seconds: `model_timeout =` in fleet.txt, 120 without it. Raises UsageError."""
    value = app.fleet.manifest.last("model_timeout")
    if value is None:
        return DEFAULT_TIMEOUT
    try:
        seconds = float(value)
    except ValueError:
        seconds = 0.0
    if not 0.0 < seconds <= 86400.0:
        raise UsageError(f"model_timeout in fleet.txt is no number of seconds: {value}",
                         hint="such as: model_timeout = 120")
    return seconds


def ask_model(app: App, role: Role, prompt: str, *, question: str = "", windows: Sequence[Window] = (),
              guess: bool = False, patience: float = DEFAULT_TIMEOUT) -> str:
    """One call of the model that fleet.txt names for `role`; its reply, never blank.

    `patience` bounds it, in seconds, where the fleet sets no `model_timeout` of its own.
    Raises NoModel when there is no such line, Untrusted when nobody approved it, ModelUnreachable when it gave nothing.
    """
    value = configured(app, role)
    if value is None:
        raise NoModel(f"fleet.txt has no `{role} =` line", hint="it names the command that is asked, such as: "
                      f"{role} = tools/claude.py {role}")
    plugin, model = _owned_model(app, role, value)
    if model.needs_approval:
        trust.require(app.fleet.root, trust.runnable(app.fleet.root, role, value))
    seconds = model_timeout(app) if app.fleet.manifest.last("model_timeout") else min(DEFAULT_TIMEOUT, patience)
    request = ModelRequest(role, prompt, Path(app.fleet.root), seconds, flat(question), tuple(windows), guess)
    call = model.answer if isinstance(model, Answerer) else model.ask
    try:
        reply = call(value, request)
    except KbError as error:
        raise ModelUnreachable(f"the {role} did not reply: {error}") from error
    except ENDINGS:
        raise
    except BaseException as error:  # a plugin may raise anything; to the caller its model gave nothing
        raise ModelUnreachable(f"the {role} did not reply: plugin {plugin}: {reason(error)}") from error
    if not isinstance(reply, str) or not reply.strip():
        raise ModelUnreachable(f"the {role} did not reply: it returned nothing")
    return reply


def require_settings(app: App, *roles: Role) -> None:
    """Refuse, before any work, a time limit that is none and a command line that can never run. Raises UsageError."""
    from kb.store.commands import BadCommand, CommandFailed, command_words

    model_timeout(app)
    for role in roles:
        value = configured(app, role)
        if value is None or not _is_command(app, role, value):
            continue
        try:
            command_words(value, app.fleet.root)
        except BadCommand as error:
            raise UsageError(f"`{role} =` in fleet.txt cannot run: {error.message}", hint=error.hint) from None
        except CommandFailed:  # what is not installed now may be later: a failure of the call, not of the line
            continue


def reads_prompts(app: App) -> bool:
    """Whether the configured answerer reads what it is asked, and not only the passages that were served."""
    value = configured(app, "answerer")
    model = None if value is None else _model(app, "answerer", value)
    return not (isinstance(model, Answerer) and model.windows_only)


def untrusted(app: App, *roles: str) -> list[Runnable]:
    """What the fleet names for these roles and adapters (`tools/extract/pdf.cmd`) and nobody approved."""
    return [item for item in runnables(app) if item.name in roles and not trust.is_approved(app.fleet.root, item)]


def require_trust(app: App, *roles: str) -> None:
    """Refuse, before any work, when a named role or adapter is not approved. Raises Untrusted."""
    trust.require(app.fleet.root, *(item for item in runnables(app) if item.name in roles))


def runnables(app: App) -> list[Runnable]:
    """Everything that this fleet would have run: the lines of fleet.txt, then the adapters of `tools/extract/`."""
    found: list[Runnable] = []
    for role in ROLES:
        value = configured(app, role)
        if value is not None and _needs_approval(app, role, value):
            found.append(trust.runnable(app.fleet.root, role, value))
    return found + trust.adapters(app.fleet.root)


def _needs_approval(app: App, role: Role, value: str) -> bool:
    try:
        return _model(app, role, value).needs_approval
    except PluginError:
        return True


def _is_command(app: App, role: Role, value: str) -> bool:
    """Whether the value is a command line, and not the name of something that a plugin does itself."""
    try:
        model = _model(app, role, value)
    except PluginError:
        return False
    return model.needs_approval and model.fallback


def _model(app: App, role: Role, value: str) -> Answerer | Promoter:
    return _owned_model(app, role, value)[1]


def _owned_model(app: App, role: Role, value: str) -> tuple[str, Answerer | Promoter]:
    """The model that a value means, and the plugin that it came from. Raises PluginError when there is none, or one breaks."""
    kind, hook = (Answerer, "kb_answerers") if role == "answerer" else (Promoter, "kb_promoters")
    models: list[tuple[str, Answerer | Promoter]] = app.host.owned_specs(hook, kind, lambda model: str(model.name))
    for plugin, model in sorted(models, key=lambda owned: owned[1].fallback):
        with blamed(f"the {'answerer' if role == 'answerer' else 'promoter'} {model.name} of plugin {plugin}"):
            accepted = model.accepts(value)
        if accepted:
            return plugin, model
    raise PluginError(f"no plugin can run `{role} = {value}`", hint="see kb plugins")


def program_path(app: App, item: Runnable) -> str:
    """What would run, for a person who is to approve it: the program that a command line starts today, or a plugin.

    Raises CommandFailed when there is no such program, PluginError when no plugin takes the line.
    """
    from kb.store.commands import command_words

    if item.name == item.command:
        return os.path.join(app.fleet.root, item.command)
    role = next(role for role in ROLES if role == item.name)
    model = _model(app, role, item.command)
    return command_words(item.command, app.fleet.root)[0] if model.fallback else f"the plugin {model.name}"


__all__ = ["ROLES", "ModelUnreachable", "NoModel", "Untrusted", "ask_model", "configured", "model_timeout",
           "program_path", "reads_prompts", "require_settings", "require_trust", "runnables", "untrusted"]
