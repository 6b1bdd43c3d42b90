"""Say what goes on: the words come from the table, never from code (pipeline-2 14)."""

from collections.abc import Callable, Mapping
from typing import Any

from convengine.domain import settings
from convengine.domain.catalogue.verbose import ENABLED, GENERIC_ERROR
from convengine.domain.rows import Verbose
from convengine.domain.session import Session
from convengine.domain.text import blank
from convengine.domain.turn import Turn
from convengine.domain.verbose import ERROR, INFO, VerboseLine
from convengine.prompts.render import has_expressions, render_lenient
from convengine.prompts.variables import template_variables
from convengine.verbose.select import Signal, best, candidates

Json = Any
#: Metadata that may leave the server, beside counts and durations: no prompts, statements or rows (14.2).
_KEPT = ("severity", "theme", "icon")
_NUMBERS = ("Ms", "_ms", "Count", "_count")


def publish(session: Session, turn: Turn, signal: Signal, metadata: Callable[[], Mapping[str, Json]] = dict) -> None:
    """Say what the best row says of an event; without a row nothing, but a failure is told in general words.

    `metadata` is what JSON_PATH rows look at and templates may name; it is asked for only when a row is looked at.
    """
    snapshot = turn.snapshot
    found = candidates(snapshot, signal, session.intent, session.state)
    if not found and not (signal.error and signal.generic):
        return

    def details() -> dict[str, Json]:
        return {**metadata(), "stepName": signal.step, "determinant": signal.determinant}

    row = best(found, signal, details) if found else None
    text = _words(row, signal) if row else _generic(turn, signal)
    _send(session, turn, signal, text, details, row)


def publish_text(
    session: Session, turn: Turn, signal: Signal, text: str, metadata: Callable[[], Mapping[str, Json]] = dict
) -> None:
    """Say a text of code's own; it is rendered like that of a row, and no row is looked for."""

    def details() -> dict[str, Json]:
        return {**metadata(), "stepName": signal.step, "determinant": signal.determinant}

    _send(session, turn, signal, text, details)


def _send(
    session: Session,
    turn: Turn,
    signal: Signal,
    template: str | None,
    details: Callable[[], Mapping[str, Json]],
    row: Verbose | None = None,
) -> None:
    if template is None or not settings.read(turn.snapshot, ENABLED).value:
        return
    known = details()
    text = template
    if has_expressions(template):
        variables = {**known, **template_variables(session, turn), "metadata": known}
        text = render_lenient(template, variables).text
    if blank(text):
        return
    line = VerboseLine(
        signal.step,
        signal.determinant,
        session.intent,
        session.state,
        ERROR if signal.error else INFO,
        text,
        row.verbose_id if row else None,
        signal.rule_id,
        signal.tool_code,
        _outward(session, signal, known),
    )
    turn.verbose.append(line)
    for listener in turn.verbose_listeners:
        listener(line)


def _words(row: Verbose, signal: Signal) -> str | None:
    first, second = (row.error_message, row.message) if signal.error else (row.message, row.error_message)
    return second if blank(first) else first


def _generic(turn: Turn, signal: Signal) -> str | None:
    return settings.read(turn.snapshot, GENERIC_ERROR).value if signal.error and signal.generic else None


def _outward(session: Session, signal: Signal, known: Mapping[str, Json]) -> dict[str, Json]:
    """The part of the metadata that clients get, with its defaults."""
    looks = ("ERROR", "danger", "warning") if signal.error else ("INFO", "progress", "spark")
    numbers = {
        key: value
        for key, value in known.items()
        if isinstance(value, (int, float)) and not isinstance(value, bool) and key.endswith(_NUMBERS)
    }
    return {
        **dict(zip(_KEPT, looks, strict=True)),
        **{key: known[key] for key in _KEPT if isinstance(known.get(key), str)},
        **numbers,
        "conversationId": session.conversation_id,
        "stepName": signal.step,
        "determinant": signal.determinant,
    }
