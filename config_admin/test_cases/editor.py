"""The editor of a test: its turns with what of each may be ticked as an expectation, to a form and back."""

import json
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

import yaml
from django.http import QueryDict

from config_admin.test_cases.documents import CONVERSATION, TestRefused
from convengine.engine.text.whole_numbers import parse_whole_number
from convengine.engine.turn.codec import dumps
from convengine.files import Unreadable
from convengine.files.json_text import read_json
from convengine.json_value import Json
from convengine.play.expectations import Miss
from convengine.play.loading import parse_yaml
from convengine.play.seen_turn import SeenTurn
from convengine.server.api.wire import INTERNAL_BRANCHES

EQUALS, CONTAINS, MATCHES = "equals", "contains", "matches"
#: How a value is compared, by the operator of scenarios.
MODES = {EQUALS: "is exactly", CONTAINS: "contains", MATCHES: "matches the pattern"}
ANSWER, INTENT, STATE, ERROR, FIELD, TASKS, TOOLS = "answer", "intent", "state", "error", "field", "tasks", "tools"
#: What each turn of a new test expects; the last one its answer, too.
NEW_KINDS = frozenset({INTENT, STATE, ERROR, FIELD})
#: Keys of a turn that have inputs of their own.
_OWN_KEYS = frozenset({"user", "expect"})
_STUB_KEYS = ("requires", "conversation", "model", "llm", "tasks", "tools", "containers")
#: How many fields a turn offers.
_FIELDS = 30


@dataclass
class Tick:
    """One thing of a turn that may matter."""

    kind: str
    is_checked: bool = False
    value: str = ""
    mode: str = EQUALS
    #: The path of a field.
    name: str = ""
    #: What the turn gave when it was played; None when it was not.
    observed: str | None = None

    @property
    def spec(self) -> "ExpectationKind":
        """What its kind says of the input."""
        return KINDS[self.kind]

    @property
    def label(self) -> str:
        """What it is called on the page."""
        return f"{self.spec.label} {self.name.removeprefix('$.')}".strip()

    def is_missed_by(self, miss: Miss) -> bool:
        """True if the expectation is the one that does not hold."""
        path = f"['{self.name}']" if self.kind == FIELD else ""
        return miss.where.startswith(f"expect.{self.spec.key}{path}")


@dataclass
class EditorTurn:
    user: str = ""
    #: False: the turn sends no message.
    has_message: bool = True
    ticks: list[Tick] = field(default_factory=list)
    #: Other keys of the turn, as YAML.
    details: str = ""
    #: Other expectations, as YAML.
    more: str = ""
    misses: Sequence[Miss] = ()
    #: True when it was played.
    is_played: bool = False


@dataclass
class Editor:
    """The whole form."""

    title: str = ""
    folder: str = ""
    tags: str = ""
    why: str = ""
    turns: list[EditorTurn] = field(default_factory=list)
    #: Start and stubs, as YAML.
    stubs: str = ""
    #: The id of the conversation that it was made of; blank for none, and for a stored test, which has it.
    conversation_id: str = ""

    def build_document(self) -> dict[str, Json]:
        """The document, without an id. Raises TestRefused."""
        tags = [tag for tag in self.tags.replace(",", " ").split() if tag]
        head = {
            "title": self.title.strip(),
            "covers": tags,
            "why": self.why.strip(),
            CONVERSATION: self.conversation_id,
        }
        stubs = _parse(self.stubs, "Stubs and start")
        if unknown := sorted(stubs.keys() - set(_STUB_KEYS)):
            raise TestRefused(f"Stubs and start must not contain {', '.join(unknown)}.")
        turns = [_build_turn(turn, number) for number, turn in enumerate(self.turns, start=1)]
        return {**{key: value for key, value in head.items() if value}, **stubs, "turns": turns}


def open_editor(full: Mapping[str, Json], folder: str = "") -> Editor:
    """The form of a document."""
    return Editor(
        str(full.get("title", "")),
        folder,
        ", ".join(map(str, full.get("covers") or ())),
        str(full.get("why") or ""),
        [_open_turn(turn) for turn in full.get("turns") or () if isinstance(turn, dict)],
        _dump({key: full[key] for key in _STUB_KEYS if key in full}),
        str(full.get(CONVERSATION) or ""),
    )


def offer_observed(turn: EditorTurn, seen: SeenTurn, misses: Sequence[Miss], checked: Container[str] = ()) -> None:
    """Offer what a played turn gave; new ticks of the kinds `checked` are expected."""
    turn.is_played, turn.misses = True, misses
    known = {(tick.kind, tick.name): tick for tick in turn.ticks}
    for observed in _list_observed(seen):
        tick = known.get((observed.kind, observed.name))
        if tick is None:
            observed.is_checked = observed.kind in checked
            turn.ticks.append(observed)
        else:
            tick.observed = observed.observed
            if not tick.is_checked:
                tick.value = observed.value
    turn.ticks.sort(key=lambda tick: list(KINDS).index(tick.kind))


def accept_observed(turn: EditorTurn) -> None:
    """Expect what a played turn gave, where it is not what was expected. What it did not give is not expected."""
    for tick in turn.ticks:
        if tick.kind == ERROR and not tick.is_checked:
            tick.is_checked = bool(turn.misses)
        elif tick.is_checked and any(tick.is_missed_by(miss) for miss in turn.misses):
            tick.is_checked = tick.observed is not None
            tick.value, tick.mode = tick.observed or "", EQUALS


def read_editor(sent: QueryDict) -> Editor:
    """The form as it was sent; removed turns are left out."""
    prefixes = (f"turn-{number}-" for number in range(_read_count(sent, "turns")))
    turns = [_read_turn(sent, prefix) for prefix in prefixes if not sent.get(f"{prefix}remove")]
    texts = {name: sent.get(name, "") for name in ("title", "folder", "tags", "why", "stubs", CONVERSATION)}
    return Editor(turns=turns, **texts)


def _read_turn(sent: QueryDict, prefix: str) -> EditorTurn:
    def read(name: str) -> str:
        return sent.get(f"{prefix}{name}", "").replace("\r\n", "\n")

    ticks = [
        Tick(read(f"kind-{at}"), bool(read(f"tick-{at}")), read(f"value-{at}"), read(f"mode-{at}"), read(f"name-{at}"))
        for at in range(_read_count(sent, f"{prefix}ticks"))
        if read(f"kind-{at}") in KINDS
    ]
    return EditorTurn(read("user"), not read("silent"), ticks, read("details"), read("more"))


def make_blank_turn() -> EditorTurn:
    return EditorTurn(ticks=[Tick(ANSWER, mode=CONTAINS), Tick(INTENT), Tick(STATE)])


def _read_count(sent: QueryDict, name: str) -> int:
    return min(parse_whole_number(sent.get(name, "")) or 0, 1000)


def _open_turn(given: Mapping[str, Json]) -> EditorTurn:
    expect = dict(given.get("expect") or {})
    ticks = list(_take_ticks(expect))
    return EditorTurn(
        str(given["user"]) if given.get("user") is not None else "",
        given.get("user") is not None,
        ticks,
        _dump({key: value for key, value in given.items() if key not in _OWN_KEYS}),
        _dump(expect),
    )


def _take_ticks(expect: dict[str, Json]) -> Iterator[Tick]:
    """The expectations that the form has an input for; they are taken out."""
    for name, kind in KINDS.items():
        if name == FIELD:
            context = expect.get(kind.key) or {}
            shown = {path: read for path, matcher in context.items() if (read := _read_field(matcher))}
            yield from (Tick(FIELD, True, read.value, read.mode, path) for path, read in shown.items())
            if rest := {path: matcher for path, matcher in context.items() if path not in shown}:
                expect[kind.key] = rest
            else:
                expect.pop(kind.key, None)
        elif (read := kind.read(expect.get(kind.key))) is not None:
            del expect[kind.key]
            yield Tick(name, True, read.value, read.mode)


# --- kinds of expectations ----------------------------------------------------------------------------------------


class _Read(NamedTuple):
    """An expectation as the form shows it."""

    value: str
    mode: str = EQUALS


def _read_text(given: Json) -> _Read | None:
    return _Read(given) if isinstance(given, str) else None


def _read_answer(given: Json) -> _Read | None:
    if not isinstance(given, dict) or given.get("type", "TEXT") != "TEXT":
        return None
    return _read_matcher({key: value for key, value in given.items() if key != "type"}, MODES)


def _read_matcher(given: Mapping[str, Json], modes: Container[str]) -> _Read | None:
    """The only operator of a matcher and its text, if it is one of the modes."""
    mode, value = next(iter(given.items())) if len(given) == 1 else ("", None)
    return _Read(value, mode) if mode in modes and isinstance(value, str) else None


def _read_error(given: Json) -> _Read | None:
    return _read_text(given["code"]) if isinstance(given, dict) and given.keys() == {"code"} else None


def _read_tasks(given: Json) -> _Read | None:
    return None if given is None else _Read("\n".join(f"{call['bean']}:{call['method']}" for call in given))


def _read_tools(given: Json) -> _Read | None:
    if given is None or not all("tool_code" in call and call.keys() <= {"tool_code", "args"} for call in given):
        return None
    return _Read("\n".join(_write_tool_call(call["tool_code"], call.get("args")) for call in given))


def _write_tool_call(code: str, args: Json) -> str:
    return f"{code} {dumps(args)}" if args else code


def _read_field(matcher: Json) -> _Read | None:
    return _read_matcher(matcher, (CONTAINS, MATCHES)) if isinstance(matcher, dict) else _Read(_write_value(matcher))


def _write_value(value: Json) -> str:
    """A text that `_parse_value` reads as this value."""
    # An input has one line; as JSON, its breaks are kept.
    if isinstance(value, str) and not {"\n", "\r"} & set(value) and _parse_value(value) == value:
        return value
    return json.dumps(value, ensure_ascii=False)


def _parse_value(text: str) -> Json:
    """JSON where it is some, else the text."""
    try:
        return read_json(text)
    except Unreadable:
        return text


def _build_matcher(text: str, mode: str) -> Json:
    if mode != EQUALS:
        return {mode: text}
    given = _parse_value(text)
    return {EQUALS: given} if isinstance(given, dict) else given


def _parse_lines(parse_call: Callable[[str], Json], text: str, _mode: str) -> list[Json]:
    return [parse_call(line.strip()) for line in text.splitlines() if line.strip()]


def _parse_task_call(line: str) -> Json:
    bean, _, method = line.partition(":")
    if not method:
        raise ValueError("write each as task:method, such as till:open.")
    return {"bean": bean, "method": method}


def _parse_tool_call(line: str) -> Json:
    code, _, args = line.partition(" ")
    if not args.strip():
        return {"tool_code": code}
    try:
        return {"tool_code": code, "args": read_json(args)}
    except Unreadable as error:
        raise ValueError(f"the arguments of {code} are not valid JSON: {error.describe()}.") from None


@dataclass(frozen=True)
class ExpectationKind:
    """A kind of expectation that the form has an input for."""

    label: str
    #: The key of `expect`.
    key: str
    #: What the input shows of an expectation. Returns None for one that it cannot show.
    read: Callable[[Json], _Read | None]
    #: The expectation of a text and a mode. Raises ValueError.
    write: Callable[[str, str], Json]
    #: True when the text may be compared in several ways.
    has_modes: bool = False
    #: True for a text of several lines.
    is_long: bool = False
    #: What the input takes.
    help: str = ""


KINDS: Mapping[str, ExpectationKind] = {
    ANSWER: ExpectationKind(
        "Answer", "response", _read_answer, lambda text, mode: {mode: text}, has_modes=True, is_long=True
    ),
    INTENT: ExpectationKind("Intent", "intent", _read_text, lambda text, _: text.strip()),
    STATE: ExpectationKind("State", "state", _read_text, lambda text, _: text.strip()),
    ERROR: ExpectationKind("Error code", "error", _read_error, lambda text, _: {"code": text.strip()}),
    FIELD: ExpectationKind("Field", "context", _read_field, _build_matcher, has_modes=True),
    TASKS: ExpectationKind(
        "Actions",
        "task_calls",
        _read_tasks,
        partial(_parse_lines, _parse_task_call),
        is_long=True,
        help="One a line, such as till:open. Empty: no action runs.",
    ),
    TOOLS: ExpectationKind(
        "Tool calls",
        "tool_calls",
        _read_tools,
        partial(_parse_lines, _parse_tool_call),
        is_long=True,
        help="One a line, such as weather.now, then arguments as JSON. Empty: no tool is called.",
    ),
}


def _list_observed(seen: SeenTurn) -> Iterator[Tick]:
    """Everything of a played turn that may be ticked."""
    if seen.error:
        yield _observe(ERROR, seen.error)
        return
    value = seen.payload.get("value")
    if isinstance(value, str):
        yield _observe(ANSWER, value)
    for kind in (INTENT, STATE):
        yield _observe(kind, str(seen.body.get(kind) or ""))
    context = seen.body.get("context")
    fields = context.items() if isinstance(context, dict) else ()
    shown = [(key, value) for key, value in fields if key not in INTERNAL_BRANCHES and not key.startswith("_")]
    for key, value in shown[:_FIELDS]:
        if isinstance(value, str | int | float | bool):
            path = f"$.{key}" if key.replace("_", "").isalnum() else f"$['{key}']"
            yield _observe(FIELD, _write_value(value), path)
    yield _observe(TASKS, "\n".join(f"{bean}:{method}" for bean, method in seen.task_calls))
    tools = (_write_tool_call(call["tool_code"] or "", call["args"]) for call in seen.tool_calls)
    yield _observe(TOOLS, "\n".join(tools))


def _observe(kind: str, text: str, name: str = "") -> Tick:
    return Tick(kind, value=text, name=name, observed=text)


def _build_turn(turn: EditorTurn, number: int) -> dict[str, Json]:
    details = _parse(turn.details, f"Turn {number}, details")
    if unknown := sorted(details.keys() & _OWN_KEYS):
        raise TestRefused(f"Turn {number}, details: {', '.join(unknown)} has an input of its own.")
    expect = _parse(turn.more, f"Turn {number}, more expectations")
    for tick in turn.ticks:
        if not tick.is_checked:
            continue
        key = tick.spec.key
        try:
            written = tick.spec.write(tick.value, tick.mode if tick.mode in MODES else EQUALS)
        except ValueError as error:
            raise TestRefused(f"Turn {number}, {tick.spec.label}: {error}") from None
        if tick.kind == FIELD:
            written = {tick.name: written}
        expect[key] = {**expect.get(key, {}), **written} if tick.kind in (ANSWER, FIELD) else written
    built = {"user": turn.user if turn.has_message else None, **details}
    return {**built, "expect": expect} if expect else built


def _dump(document: Json) -> str:
    # Not `dump_yaml`, which is faster, and writes an emoji as the number of its character.
    return yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=110) if document else ""


def _parse(text: str, name: str) -> dict[str, Json]:
    """The map of a YAML text. Raises TestRefused."""
    try:
        document = parse_yaml(text.replace("\r\n", "\n"))
    except ValueError as error:
        raise TestRefused(f"{name}: {error}") from error
    if document is None:
        return {}
    if not isinstance(document, dict):
        raise TestRefused(f"{name}: write it as a map of keys and values.")
    return document
