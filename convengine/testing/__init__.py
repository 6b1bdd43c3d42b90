"""For tests of a bot: the fixture `bot` (a pytest plugin), and arguments of extensions (docs/scenarios.md)."""

from convengine.engine.turn.payload import JsonPayload, TextPayload
from convengine.testing.factories import (
    make_container_request,
    make_rule,
    make_session,
    make_session_facts,
    make_task_call,
    make_turn,
)

__all__ = [
    "JsonPayload",
    "TextPayload",
    "make_container_request",
    "make_rule",
    "make_session",
    "make_session_facts",
    "make_task_call",
    "make_turn",
]
