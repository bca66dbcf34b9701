"""The two moments at which what an episode knows stops being reachable, and the code that derives there."""

from __future__ import annotations

from types import CodeType

SOURCES = {"session.knowledge_on_end": "kb_plugins/lifecycle/sessions.py",
           "session.knowledge_on_compact": "kb_plugins/lifecycle/hooks.py"}
_DERIVERS = frozenset({"derive", "derive_quietly", "derive_at_end"})


def unwired() -> list[str]:
    """The switches whose boundary never calls the deriver: read from the compiled functions, not from their text."""
    from kb_plugins.lifecycle import hooks, sessions

    paths = {"session.knowledge_on_end": sessions.close_episode, "session.knowledge_on_compact": hooks.on_compact}
    return [key for key, function in paths.items() if not _calls(function.__code__)]


def _calls(code: CodeType) -> bool:
    return bool(_DERIVERS & set(code.co_names)) or any(
        _calls(inner) for inner in code.co_consts if isinstance(inner, CodeType))
