"""What rule actions share: refusing a value, failing, writing events, dotted paths into the context."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from convengine.engine.rules.conditions.words import value_words
from convengine.engine.text.compare import blank
from convengine.engine.turn.codec import loads
from convengine.engine.turn.params import KEY_SHAPE
from convengine.engine.turn.rows import Rule
from convengine.engine.turn.session import Session
from convengine.engine.turn.stage import Stage
from convengine.engine.turn.trail import FOLDED
from convengine.engine.turn.turn import Turn
from convengine.json_value import Json

_INTEGER = re.compile(r"[+-]?[0-9]{1,18}")
_DECIMAL = re.compile(r"[+-]?[0-9]{1,18}\.[0-9]{1,18}")
_WORDS = {"null": None, "true": True, "false": False}
PARAM_NAMES = "Parameter names may contain letters, digits, _ . - only."


#: Reads a value without the configuration. Raises ActionValueError.
Parse = Callable[[str | None], Any]
#: Returns the session after the action. Raises ActionValueError or ActionFailed.
Apply = Callable[[Rule, Session, Turn], Session]
#: The number of characters of a value that a sentence shows.
SHOWN = 60


class _Marker:
    """Stands for a value that is not written down in the rule."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return self._name


#: The value is known during the turn only.
COMPUTED: Any = _Marker("COMPUTED")
#: The action removes what is there.
REMOVED: Any = _Marker("REMOVED")


class Write(NamedTuple):
    """One change that an action makes: the path in the facts, and the new value."""

    path: tuple[str, ...]
    value: Json


@dataclass(frozen=True)
class Action:
    """The full declaration of an action."""

    name: str
    label: str
    help: str
    #: The label of the value's field.
    value: str
    #: The editor for the value: intent, state, act, params, path, name, names, task, context, fields, preference or
    #: text.
    picker: str
    parse: Parse
    apply: Apply
    value_required: bool = True
    #: True for an action of the deployment.
    custom: bool = False
    #: The effect of a parsed value as a clause; without it, sentences show label and value.
    describe: Callable[[Any], str] | None = None
    #: The changes that a parsed value makes, for the checks of rules that overwrite one another.
    writes: Callable[[Any], Iterable[Write]] = lambda value: ()


class ActionValueError(ValueError):
    """An action value that does not fit its action; the message is for the user."""

    error_type: ClassVar[str] = "INVALID_RULE_ACTION"
    session: ClassVar[None] = None

    def __init__(self, message: str, code: str = "SHAPE_INVALID", remedy: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        #: The remedy, if the message does not contain it.
        self.remedy = remedy


class ActionFailed(Exception):
    """An action failed. `session` holds what it had done before, if anything."""

    def __init__(self, error_type: str, message: str, session: Session | None = None) -> None:
        super().__init__(message)
        self.error_type = error_type
        self.message = message
        self.session = session


class UnknownAction(ActionFailed):
    """The rule names an unknown action. `remedy` lists the known ones."""

    def __init__(self, message: str, remedy: str) -> None:
        super().__init__(ActionValueError.error_type, message)
        self.remedy = remedy


def require_value(action: str, value: str | None, what: str) -> str:
    """The trimmed value. Raises ActionValueError if blank."""
    if value is None or blank(value):
        raise ActionValueError(f"{action} needs a value: {what}.", "ACTION_VALUE_REQUIRED")
    return value.strip()


def read_param_key(key: str) -> str:
    """The trimmed name of an input param. Raises ActionValueError."""
    if not KEY_SHAPE.fullmatch(key.strip()):
        raise ActionValueError(PARAM_NAMES)
    return key.strip()


def read_scalar(text: str) -> Json:
    """A text as a typed value: null, true, false, an integer, a decimal with a dot, else the text."""
    word = text.strip()
    if word in _WORDS:
        return _WORDS[word]
    if _INTEGER.fullmatch(word):
        return int(word)
    return float(word) if _DECIMAL.fullmatch(word) else word


def split_names(value: str) -> tuple[str, ...]:
    """The entries of a comma-separated list, trimmed, without blanks."""
    return tuple(part.strip() for part in value.split(",") if part.strip())


def require_names(action: str, value: str | None, what: str) -> tuple[str, ...]:
    """The entries of a list that must not be empty. Raises ActionValueError."""
    names = split_names(value or "")
    require_value(action, ",".join(names), what)
    return names


def audit_action(rule: Rule, session: Session, turn: Turn, stage: Stage, *folded: str, **payload: Json) -> None:
    """Write an action's own stage. `folded` names the parts that a reader takes from the state of the turn."""
    turn.audit(session, stage, **{"ruleId": rule.rule_id, **payload, **dict.fromkeys(folded, FOLDED)})


def describe_values(values: Mapping[str, Json]) -> str:
    """The effect of an action that sets names to values."""
    return f"set {', '.join(f'{name} to {value_words(value)}' for name, value in values.items())}"


def read_assignments(
    text: str, usage: str, key: Callable[[str], str], read: Callable[[str], Json], *, bare: bool
) -> Mapping[str, Json]:
    """The names and values that a text assigns.

    The grammar that SET_INPUT_PARAM and SET_CONTEXT share: a JSON list of {key, value}; a JSON object
    with `key`; any other JSON object, one member each; `key:value`; with `bare` also `key` alone, which is true.
    `key` checks a name, `read` reads the part after the colon. Raises ActionValueError with `usage`.
    """
    if text[0] in "[{":
        return {key(name): value for name, value in _read_json_assignments(text, usage).items()}
    name, colon, value = text.partition(":")
    if not colon and not bare:
        raise ActionValueError(usage)
    return {key(name): read(value) if colon else True}


def _read_json_assignments(text: str, usage: str) -> Mapping[str, Json]:
    """The names and values of a JSON object, or of a list of {key, value}. Raises ActionValueError with `usage`."""
    try:
        document = loads(text)
    except ValueError:
        raise ActionValueError(usage) from None
    if isinstance(document, dict) and "key" not in document:
        values = document
    else:
        entries = document if isinstance(document, list) else [document]
        if not all(isinstance(entry, dict) and isinstance(entry.get("key"), str) for entry in entries):
            raise ActionValueError(usage)
        values = {entry["key"]: entry.get("value") for entry in entries}
    if not values:
        raise ActionValueError(usage)
    return values


#: Top-level branches that belong to the engine; `pending_slot` is for rules.
ENGINE_BRANCHES = frozenset(
    {
        "pending_clarification", "intent_lock", "pending_action", "pendingAction", "pending_action_key",
        "pendingActionKey", "pending_action_runtime", "pending_action_ordinal", "approval", "container_data", "mcp",
        "memory", "session_units",
    }
)  # fmt: skip
_PATH = re.compile(r"(?:\$\.)?(?P<path>[^\W\d][\w\-]*(?:\.[\w\-]+)*)")


def read_context_path(text: str) -> str:
    """The path without a leading `$.`. Raises ActionValueError for an engine's branch or another form."""
    match = _PATH.fullmatch(text.strip())
    if match is None:
        raise ActionValueError("Name a context field, for example order.address.city.")
    path = match["path"]
    if (branch := path.split(".")[0]) in ENGINE_BRANCHES:
        raise ActionValueError(f"{branch} is reserved for the engine.", "CONFLICT")
    return path


def set_at_path(context: Mapping[str, Json], path: str, value: Json) -> dict[str, Json]:
    """A copy of the context with a value at the path; missing objects on the way are made.

    Raises KeyError with the part of the path that is not an object.
    """
    first, _, rest = path.partition(".")
    if not rest:
        return {**context, first: value}
    inner = context.get(first)
    if inner is not None and not isinstance(inner, Mapping):
        raise KeyError(first)
    return {**context, first: set_at_path(inner or {}, rest, value)}


def clear_at_path(context: Mapping[str, Json], path: str) -> dict[str, Json]:
    """A copy of the context without the value at the path."""
    first, _, rest = path.partition(".")
    if not rest:
        return {key: value for key, value in context.items() if key != first}
    inner = context.get(first)
    return {**context, first: clear_at_path(inner, rest)} if isinstance(inner, Mapping) else dict(context)
