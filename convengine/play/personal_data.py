"""What a scenario holds of a person, in words, and the scenario without what the session remembered of them."""

from collections.abc import Iterator, Mapping

from django.utils.text import get_text_list

from convengine.engine.turn.dialogue_state import DIALOGUE
from convengine.json_value import Json
from convengine.server.api.wire import INTERNAL_BRANCHES

#: Keys of the start that say where the session is, and nothing of what was said.
_POSITION = (
    *("intent_code", "state_code", "status", "lifecycle", "channel", "mounted_kb_id", "context_epoch"),
    *("last_turn_no", "turn_count", "created_at", "last_message_at"),
)
#: Keys of the context, and of its branch of the dialogue, that only say where the session is.
_CONTEXT_POSITION = ("intent_lock", "pending_slot", "pendingSlot")
_DIALOGUE_POSITION = ("asked_field", "last_schema", "done_schema")


def leave_memory_out(document: Mapping[str, Json]) -> dict[str, Json]:
    """The scenario from the same intent and state, without what was said, known and remembered before it."""
    if not (start := _read_map(document, "conversation")):
        return dict(document)
    context = _read_map(start, "context")
    position = {key: context[key] for key in _CONTEXT_POSITION if key in context}
    dialogue = _read_map(context, DIALOGUE)
    if dialogue_position := {key: dialogue[key] for key in _DIALOGUE_POSITION if key in dialogue}:
        position[DIALOGUE] = dialogue_position
    begun = {key: start[key] for key in _POSITION if key in start}
    return {**document, "conversation": {**begun, **({"context": position} if position else {})}}


def describe_personal_data(document: Mapping[str, Json]) -> str:
    """What of a person a scenario may hold, such as `2 messages, 3 earlier messages and the field email`."""
    start, turns = _read_map(document, "conversation"), _list_maps(document, "turns")
    messages = sum(turn.get("user") is not None for turn in turns)
    stubs = sum(len(_list_maps(document, key)) for key in ("llm", "tasks", "tools", "containers"))
    context = _read_map(start, "context")
    fields = sorted(set(_list_fields(document)))
    parts = [
        _count(messages, "message"),
        _count(max(len(_list_maps(start, "history")), bool(start.get("last_user_text"))), "earlier message"),
        "a summary of the conversation" if start.get("context_summary") or context.get("memory") else "",
        "facts that the session remembered" if context.get("session_units") else "",
        "preferences of the user" if start.get("preferences") else "",
        f"the {'field' if len(fields) == 1 else 'fields'} {get_text_list(fields, 'and')}" if fields else "",
        _count(
            stubs,
            "answer of a model, action, tool or data source",
            "answers of models, actions, tools and data sources",
        ),
    ]
    return get_text_list([part for part in parts if part], "and") or "no messages"


def _list_fields(document: Mapping[str, Json]) -> Iterator[str]:
    """The names of the fields and input parameters that a scenario begins with, sends or expects; may repeat."""
    start, turns = _read_map(document, "conversation"), _list_maps(document, "turns")
    yield from (key for key in _read_map(start, "context") if key not in INTERNAL_BRANCHES and not key.startswith("_"))
    for sender in (start, *turns):
        yield from _read_map(sender, "input_params")
    for turn in turns:
        paths = _read_map(_read_map(turn, "expect"), "context")
        yield from (path.removeprefix("$").lstrip(".").strip("[]'") for path in paths)
    for stub in _list_maps(document, "tasks"):
        yield from _read_map(stub, "sets_context")


def _count(number: int, noun: str, nouns: str = "") -> str:
    return "" if not number else f"1 {noun}" if number == 1 else f"{number} {nouns or noun + 's'}"


def _read_map(holder: Mapping[str, Json], key: str) -> Mapping[str, Json]:
    value = holder.get(key)
    return value if isinstance(value, Mapping) else {}


def _list_maps(holder: Mapping[str, Json], key: str) -> list[Mapping[str, Json]]:
    value = holder.get(key)
    return [each for each in value if isinstance(each, Mapping)] if isinstance(value, list) else []
