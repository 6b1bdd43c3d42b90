"""Stubs as documents, in the format of scenario files: read, written, edited, and made of recorded calls."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import lru_cache

from convengine.engine.llm.scripted import NO_ANSWER
from convengine.engine.turn.codec import dumps
from convengine.files.json_text import read_json, read_json_or
from convengine.json_value import Json
from convengine.play.loading import dump_yaml, parse_yaml, read_scenario
from convengine.play.scenario import REAL, STUBS
from convengine.play.schema import ScenarioFileError
from convengine.play.seen_turn import PortCall, scenario_purpose
from convengine.play.stubs import ScenarioStubs, ScriptedFailure, build_stubs
from convengine.server import wiring
from convengine.server.extensions.registry import TaskEntry, registry
from convengine.server.model_clients.offline import EchoModel

Stub = dict[str, Json]
#: The stubs by section of a scenario file.
Stubs = Mapping[str, Sequence[Mapping[str, Json]]]
#: The keys of the address of a container.
ADDRESS = ("page_id", "section_id", "container_id")


@dataclass(frozen=True)
class StubSection:
    """The stubs of one port: its section of a file, and the keys of a stub there."""

    name: str
    #: The keys that name what is called, in a stub.
    names: Sequence[str]
    #: Those keys, read from the request of a call.
    read_names: Callable[[Json], Stub]
    result: str
    failure: str
    #: The keys of a recorded answer with its result, and with the code of its failure.
    answer: str = "value"
    error: str = "error_type"


_SECTIONS: Mapping[str, StubSection] = {
    "model": StubSection(
        "llm",
        ("when",),
        lambda request: {"when": {"purpose": scenario_purpose(request["purpose"])}},
        "reply",
        "error",
        "text",
        "error_code",
    ),
    "task": StubSection(
        "tasks",
        ("bean", "method"),
        lambda request: {"bean": request["task"], "method": request["method"]},
        "returns",
        "raises",
    ),
    "tool": StubSection(
        "tools",
        ("tool_code", "tool_group"),
        lambda request: {"tool_code": request["tool"]} if request["tool"] else {"tool_group": request["group"]},
        "result",
        "error",
        "result",
    ),
    "container": StubSection(
        "containers", ADDRESS, lambda request: {key: request[key] for key in ADDRESS}, "result", "error"
    ),
}
_BY_NAME = {section.name: section for section in _SECTIONS.values()}
SECTIONS = frozenset(_BY_NAME)
#: Errors of calls that reach nothing, with or without a stub.
_NOT_CALLED = frozenset({"NOT_REGISTERED", "NO_PROVIDER"})
#: How long the text of all stubs may be.
MAX_TEXT = 200_000


@dataclass(frozen=True)
class CallName:
    """What a stub answers: a section, the names there, and which of the calls with these names."""

    section: str
    names: Mapping[str, Json]
    number: int = 0

    @classmethod
    def of(cls, port: str, request: Json) -> "CallName | None":
        """The name of a call of a port. Returns None for a port without stubs."""
        section = _SECTIONS.get(port)
        return cls(section.name, section.read_names(request)) if section else None

    @classmethod
    def parse(cls, text: str) -> "CallName":
        """Raises ValueError for a text that names no call."""
        try:
            section, names, number = read_json(text)
            if number < 0:
                raise ValueError(number)
            return cls(_BY_NAME[section].name, dict(names), int(number))
        except (TypeError, KeyError, ValueError, OverflowError) as error:
            raise ValueError(f"{text[:200]} names no call") from error

    def __str__(self) -> str:
        return json.dumps([self.section, self.names, self.number])

    def fits(self, stub: Mapping[str, Json]) -> bool:
        names = {key: stub[key] for key in _BY_NAME[self.section].names if key in stub}
        if self.section == "llm":
            names = {"when": {"purpose": stub["when"]["purpose"]}}
        return names == self.names


def export_call(call: PortCall) -> Stub:
    """The stub that answers a call of a model, task, tool or container as it was answered."""
    section, request, answer = _SECTIONS[call.port], call.request, call.answer
    value = answer[section.answer]
    outcome = export_failure(answer[section.error], answer["error_message"], section.failure) or {
        section.result: _parse_reply(value) if call.port == "model" else value
    }
    more: Stub = {}
    if call.port == "tool":
        more = {"when_args": request["args"]}
    elif call.port == "task":
        effects = {
            "sets_context": answer["context"],
            "removes_context": answer["context_removed"],
            "sets_params": answer["input_params"],
        }
        more = {key: effect for key, effect in effects.items() if effect}
    return {**section.read_names(request), **outcome, **more}


def _parse_reply(text: str) -> Json:
    """An object or a list if it gives the same text; else the text."""
    value = read_json_or(text, None)
    return value if isinstance(value, (dict, list)) and dumps(value) == text else text


def export_failure(code: str | None, message: str | None, key: str = "error") -> Stub:
    """The text and the code of a failed call; empty for a successful one."""
    return {} if code is None else {key: message or code, "code": code}


@lru_cache(maxsize=32)
def parse_stubs(text: str) -> Stubs:
    """The stubs of a text. Raises ScenarioFileError with the position and the error.

    A page sends the same text with each message, and YAML is slow to read. Nobody changes what is returned.
    """
    if len(text) > MAX_TEXT:
        raise ScenarioFileError("", f"The stubs are longer than {MAX_TEXT} characters. Remove some.")
    document = parse_yaml(text) or {}
    if not isinstance(document, dict) or not set(document) <= SECTIONS:
        raise ScenarioFileError("", f"Stubs are lists under {', '.join(_BY_NAME)}. Remove everything else.")
    stubs = {section: entries for section, entries in document.items() if entries}
    read_scenario(_as_document(stubs))
    return stubs


def dump_stubs(stubs: Stubs) -> str:
    """The stubs as text; blank for none."""
    written = {section: [dict(stub) for stub in stubs[section]] for section in _BY_NAME if stubs.get(section)}
    return dump_yaml(written) if written else ""


def _as_document(stubs: Stubs) -> dict[str, Json]:
    return {"id": "simulated", "title": "Simulated", "turns": [{"user": None}], **stubs}


def build_outside(stubs: Stubs, real: Set[str] = frozenset()) -> ScenarioStubs:
    """The outside world of a simulated conversation: stubs answer first, and then nobody, or the real one.

    `real`: the sections that are really called. In the others, registered tasks and containers are known, and fail when
    no stub answers.
    """
    scripted = _build_scripted(stubs)
    if not real:
        return scripted
    model = wiring.model()
    live = build_stubs(
        replace(read_scenario(_as_document(stubs)), extensions=REAL), live=model if model.configured else None
    )
    base, whole = live if "tools" in real else scripted, live if real >= SECTIONS else scripted
    registry = replace(
        base.registry,
        tasks=(live if "tasks" in real else scripted).registry.tasks,
        providers=(live if "containers" in real else scripted).registry.providers,
        response_transformers=whole.registry.response_transformers,
    )
    model_port = (live if "llm" in real else scripted).model
    return replace(base, registry=registry, model=model_port, transformers=whole.transformers)


def _build_scripted(stubs: Stubs) -> ScenarioStubs:
    """The outside world in which only stubs answer: other registered tasks and containers fail."""
    wiring.load_extensions()
    scenario, model = read_scenario(_as_document(stubs)), wiring.model()
    # The model of demonstrations is no service: it answers with its prompt.
    live = model if isinstance(model, EchoModel) else None
    scenario = replace(scenario, extensions=STUBS, model=bool(scenario.llm) or model.configured)
    outside = build_stubs(scenario, live=live)
    for name, entry in registry.tasks.items():
        stubbed = outside.registry.tasks.get(name, TaskEntry({}))
        methods = {**dict.fromkeys(entry.methods, _refuse), **stubbed.methods}
        outside.registry.tasks[name] = replace(entry, methods=methods)
    for address in registry.providers:
        outside.registry.providers.setdefault(address, _refuse)
    # They read the message, and change nothing.
    outside.registry.finders.update(registry.finders)
    return outside


def _refuse(*_: Json) -> Json:
    raise ScriptedFailure(NO_ANSWER)


def set_answer(stubs: Stubs, call: CallName, text: str, *, fails: bool) -> Stubs:
    """The stubs with another answer to a call.

    It answers this call alone if stubs answer each call of these names once; else it replaces all of them.
    """
    section = _BY_NAME[call.section]
    answer = text if call.section == "llm" else read_json_or(text, text)
    outcome = {section.failure: text} if fails else {section.result: answer}
    entries = list(stubs.get(call.section, ()))
    own = [index for index, stub in enumerate(entries) if call.fits(stub)]
    if call.number < len(own) and all(entries[index].get("times") == 1 for index in own):
        index = own[call.number]
        conditions = {key: entries[index][key] for key in ("when_args", "times") if key in entries[index]}
        entries[index] = {**call.names, **conditions, **outcome}
    else:
        entries = [stub for stub in entries if not call.fits(stub)] + [{**call.names, **outcome}]
    return {**stubs, call.section: entries}


def forget_answers(stubs: Stubs, call: CallName) -> Stubs:
    """The stubs without those that answer calls of these names."""
    return {**stubs, call.section: [stub for stub in stubs.get(call.section, ()) if not call.fits(stub)]}


def read_stub_answer(stub: Mapping[str, Json]) -> tuple[str, bool]:
    """The answer of a stub as text, and whether it is a failure."""
    for section in _BY_NAME.values():
        if stub.get(section.failure) is not None:
            return str(stub[section.failure]), True
    value = next((stub[section.result] for section in _BY_NAME.values() if section.result in stub), None)
    return (value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2)), False


def export_answers(calls: Iterable[PortCall]) -> Iterator[tuple[str, Stub]]:
    """The stubs that answer these calls once as they were answered, each with its section.

    Calls that no stub or extension answered are left out.
    """
    for call in calls:
        section = _SECTIONS.get(call.port)
        if section and call.answer.get("error_type") not in _NOT_CALLED and not call.is_unanswered:
            yield section.name, {**export_call(call), "times": 1}


def keep_answers(stubs: Stubs, calls: Iterable[PortCall]) -> Stubs:
    answers: dict[str, list[Mapping[str, Json]]] = {}
    for section, stub in export_answers(calls):
        answers.setdefault(section, []).append(stub)
    for section, entries in stubs.items():
        answers.setdefault(section, []).extend(stub for stub in entries if "times" not in stub)
    return answers
