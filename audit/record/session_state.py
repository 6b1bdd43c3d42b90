"""The session in the record: whole at a turn's first event, then its changes; and payloads that refer to it.

A change is `{set: {pointer: value}, unset: [pointer]}`. Pointers are JSON pointers into one document: `/context/…`,
`/inputParams/…`, and the session facts at the top. A payload value `{"$folded": key}` is a part of that document.
This module alone writes changes and references, and expands them.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from functools import cache
from itertools import accumulate, compress, repeat
from operator import attrgetter, is_not, itemgetter

from convengine.engine.text.difference import ABSENT
from convengine.engine.turn.params import NESTING, REPEATED, drop_keys
from convengine.engine.turn.session import PARAM_FIELDS, Session
from convengine.engine.turn.trail import FOLDED, FOLDED_KEYS, AuditEvent
from convengine.json_value import Json

Change = dict[str, Json]
_REFERENCE = "$folded"

#: Input params that are not part of the document.
_OMITTED_PARAMS = NESTING | REPEATED


def _schema_fields(session: Session) -> list[str] | None:
    schema = session.resolved_schema
    properties = schema.json_schema.get("properties") if schema and isinstance(schema.json_schema, Mapping) else None
    return list(properties) if isinstance(properties, dict) else None


#: The parts of the document, by the session field of each. `inputParams` is separate.
_PARTS: Mapping[str, tuple[str, Callable[[Session], Json]]] = {
    "intent": ("intent", attrgetter("intent")),
    "state": ("state", attrgetter("state")),
    "schema_complete": ("schemaComplete", attrgetter("schema_complete")),
    "has_container_data": ("hasContainerData", attrgetter("has_container_data")),
    "container_data": ("containerData", attrgetter("container_data")),
    "schema_has_any_value": ("hasAnySchemaValue", attrgetter("schema_has_any_value")),
    "intent_locked": ("intentLocked", attrgetter("intent_locked")),
    "intent_lock_reason": ("intentLockReason", attrgetter("intent_lock_reason")),
    "missing_required_fields": ("missingRequiredFields", lambda session: list(session.missing_required_fields)),
    "missing_field_options": ("missingFieldOptions", attrgetter("missing_field_options")),
    "user_text": ("userText", attrgetter("user_text")),
    "standalone_query": ("standaloneQuery", attrgetter("standalone_query")),
    "clarification": (
        "pendingClarificationQuestion",
        lambda session: session.clarification.question if session.clarification else None,
    ),
    "last_llm_stage": ("lastLlmStage", attrgetter("last_llm_stage")),
    "post_intent_rule": ("postIntentRule", attrgetter("post_intent_rule")),
    "rule_execution_source": ("ruleExecutionSource", attrgetter("rule_execution_source")),
    "rule_execution_origin": ("ruleExecutionOrigin", attrgetter("rule_execution_origin")),
    "last_llm_output": (
        "lastLlmOutput",
        lambda session: session.last_llm_output if isinstance(session.last_llm_output, dict) else {},
    ),
    "lifecycle": ("lifecycle", attrgetter("lifecycle")),
    "context": ("context", attrgetter("context")),
    "user_input_params": ("userInputParams", attrgetter("user_input_params")),
    "resolved_schema": ("schemaFields", _schema_fields),
    "epoch": ("epoch", attrgetter("epoch")),
}
#: In the order of a change.
_FIELDS = (*sorted(PARAM_FIELDS), *_PARTS)
_read_fields = itemgetter(*_FIELDS)


def build_document(session: Session) -> dict[str, Json]:
    """The state of a session: facts at the top, `context`, `inputParams`, `schemaFields`, `epoch`."""
    parts = {key: read(session) for key, read in _PARTS.values()}
    return {**parts, "inputParams": drop_keys(session.input_params, _OMITTED_PARAMS)}


_FIRST = Session("")


@cache
def build_empty_document() -> Mapping[str, Json]:
    """The document before the first event of a turn."""
    return build_document(_FIRST)


def diff_sessions(old: Session | None, new: Session) -> Change:
    """The changes between two sessions of a turn; `old` is None at the moment before its first event.

    A session changes in few fields at a time, and unchanged values are the same object, so only the rest is compared.
    """
    old = old or _FIRST
    sets: dict[str, Json] = {}
    unsets: list[str] = []
    for name in compress(_FIELDS, map(is_not, _read_fields(vars(old)), _read_fields(vars(new)))):
        if name in _PARTS:
            key, read = _PARTS[name]
            _compare(read(old), read(new), f"/{key}", sets, unsets)
        elif (before := _get_params(old, name)) or any(_get_params(old, other) for other in PARAM_FIELDS):
            _compare_members(before, _get_params(new, name), "/inputParams", sets, unsets, _OMITTED_PARAMS)
        elif new.input_params:
            sets["/inputParams"] = drop_keys(new.input_params, _OMITTED_PARAMS)
    return _build_change(sets, unsets)


def _get_params(session: Session, name: str) -> Mapping[str, Json]:
    """The input params of one field of a session."""
    return session.params if name == "params" else vars(getattr(session, name))


def apply_change(state: Mapping[str, Json], change: Mapping[str, Json]) -> Mapping[str, Json]:
    """The document after a change; the given one stays unchanged."""
    for pointer, value in (change.get("set") or {}).items():
        state = _put(state, split_pointer(pointer), value)
    for pointer in change.get("unset") or ():
        state = _drop(state, split_pointer(pointer))
    return state


def diff_documents(old: Mapping[str, Json], new: Mapping[str, Json]) -> Change:
    sets: dict[str, Json] = {}
    unsets: list[str] = []
    _compare_members(old, new, "", sets, unsets)
    return _build_change(sets, unsets)


def merge_changes(first: Mapping[str, Json], second: Mapping[str, Json]) -> Change:
    sets, unsets = second.get("set") or {}, second.get("unset") or []
    replaced = {*sets, *unsets}
    return _build_change(
        {**{at: value for at, value in (first.get("set") or {}).items() if not _is_within(at, replaced)}, **sets},
        [*(at for at in first.get("unset") or () if not _is_within(at, replaced)), *unsets],
    )


def _is_within(pointer: str, replaced: Collection[str]) -> bool:
    """True if one of the replaced parts of a document is the one at a pointer, or contains it."""
    return any(part in replaced for part in accumulate(pointer.split("/"), lambda before, key: f"{before}/{key}"))


def _build_change(sets: dict[str, Json], unsets: list[str]) -> Change:
    return {**({"set": sets} if sets else {}), **({"unset": unsets} if unsets else {})}


def refer_to_session(event: AuditEvent) -> Mapping[str, Json]:
    """The payload of an event with references for parts of its session."""
    payload, context = event.payload, event.session.context
    if FOLDED_KEYS.isdisjoint(payload):
        return payload
    return {
        key: {_REFERENCE: key} if key in FOLDED_KEYS and (value is FOLDED or value is context) else value
        for key, value in payload.items()
    }


def copy_session(event: AuditEvent) -> Mapping[str, Json]:
    """The payload of an event with the parts of its session themselves."""
    if not any(value is FOLDED for value in event.payload.values()):
        return event.payload
    state = build_document(event.session)
    return {key: read_folded(state, key) if value is FOLDED else value for key, value in event.payload.items()}


def expand_references(payload: Mapping[str, Json], state: Mapping[str, Json]) -> dict[str, Json]:
    """A stored payload with the parts of the session that it refers to."""
    return {
        key: read_folded(state, value[_REFERENCE])
        if isinstance(value, dict) and len(value) == 1 and _REFERENCE in value
        else value
        for key, value in payload.items()
    }


def get_at_path(state: Mapping[str, Json], path: Iterable[str]) -> Json:
    node: Json = state
    for part in path:
        node = node.get(part) if isinstance(node, Mapping) else None
    return node


def read_folded(state: Mapping[str, Json], key: str) -> Json:
    """The part of the session with this name, in this state: context, input params or form values.

    Any other name stands for all facts of the session, with its context and form values.
    """
    context = state.get("context") or {}
    if key == "context":
        return context
    if key in ("inputParams", "sessionInputParams"):
        return state.get("inputParams") or {}
    values = select_schema_part(state)
    if key == "schemaJson":
        return values
    facts = {name: value for name, value in state.items() if name not in _INTERNAL}
    facts["resolvedUserInput"] = facts.get("standaloneQuery") or facts.get("userText")
    return {**facts, "context": context, "schemaJson": values}


def select_schema_part(state: Mapping[str, Json]) -> Json:
    """The context reduced to the fields of the form; the whole context without a form."""
    context, names = state.get("context") or {}, state.get("schemaFields")
    # A redacted object is a text.
    if names is None or not isinstance(context, Mapping):
        return context
    return {key: value for key, value in context.items() if key in names}


_INTERNAL = frozenset({"context", "inputParams", "userInputParams", "schemaFields", "epoch"})


def _compare(before: Json, value: Json, at: str, sets: dict[str, Json], unsets: list[str]) -> None:
    """Collect the changes of a value by pointer in `sets` and `unsets`. A list is one value, unlike in `diff_json`."""
    if isinstance(before, dict) and isinstance(value, dict) and before and value:
        _compare_members(before, value, at, sets, unsets)
    elif type(before) is not type(value) or before != value:
        sets[at] = value


def _compare_members(
    old: Mapping[str, Json],
    new: Mapping[str, Json],
    at: str,
    sets: dict[str, Json],
    unsets: list[str],
    omitted: Collection[str] = (),
) -> None:
    """Collect the changes below `at`, without the `omitted` keys. Every turn pays for this."""
    # Nearly every value is the same object as before; those are skipped without Python code for each.
    for key in compress(new, map(is_not, map(old.get, new, repeat(ABSENT)), new.values())):
        if key not in omitted:
            pointer = f"{at}/{key if isinstance(key, str) and key.isidentifier() else _escape_key(key)}"
            _compare(old.get(key, ABSENT), new[key], pointer, sets, unsets)
    if not old.keys() <= new.keys():
        unsets += [f"{at}/{_escape_key(key)}" for key in old if key not in new and key not in omitted]


def _escape_key(key: str) -> str:
    key = str(key)
    return key.replace("~", "~0").replace("/", "~1") if "~" in key or "/" in key else key


def split_pointer(pointer: str) -> list[str]:
    return [part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:]]


def _put(state: Mapping[str, Json], parts: list[str], value: Json) -> dict[str, Json]:
    """A copy with a value at a path. What is no object on the way is replaced by one."""
    first, *rest = parts
    if not rest:
        return {**state, first: value}
    inner = state.get(first)
    return {**state, first: _put(inner if isinstance(inner, Mapping) else {}, rest, value)}


def _drop(state: Mapping[str, Json], parts: list[str]) -> dict[str, Json]:
    """A copy without the value at a path. A path that does not exist is no fault."""
    first, *rest = parts
    if not rest:
        return {key: value for key, value in state.items() if key != first}
    inner = state.get(first)
    return {**state, first: _drop(inner, rest)} if isinstance(inner, Mapping) else dict(state)


def dotted_path(pointer: str) -> str:
    """A pointer in dotted form: `context.orderNumber`."""
    return pointer.strip("/").replace("~1", "/").replace("~0", "~").replace("/", ".")
