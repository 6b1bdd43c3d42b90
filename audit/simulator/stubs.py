"""The stubs of a simulated conversation, in the format of scenario files."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from audit.export.scenario.document import dump_yaml
from audit.export.scenario.external_answers import (
    ADDRESS,
    export_container_call,
    export_model_call,
    export_task_call,
    export_tool_call,
)
from convengine.engine.llm.scripted import NO_ANSWER
from convengine.play.loading import parse_yaml, read_scenario
from convengine.play.scenario import REAL, STUBS
from convengine.play.schema import ScenarioFileError
from convengine.play.seen_turn import Call, scenario_purpose
from convengine.play.stubs import ScenarioStubs, ScriptedFailure, build_stubs
from convengine.server import wiring
from convengine.server.extensions.registry import TaskEntry, registry
from convengine.server.model_clients.offline import EchoModel

Json = Any
#: The stubs by section of a scenario file.
Stubs = Mapping[str, Sequence[Mapping[str, Json]]]
#: The section of a port, and the keys of a stub with the result and the text of a failure.
_SECTIONS = {"model": "llm", "task": "tasks", "tool": "tools", "container": "containers"}
SECTIONS = frozenset(_SECTIONS.values())
_RESULTS = {"llm": "reply", "tasks": "returns", "tools": "result", "containers": "result"}
_FAILURES = {"llm": "error", "tasks": "raises", "tools": "error", "containers": "error"}
_EXPORTS = {
    "model": export_model_call,
    "task": export_task_call,
    "tool": export_tool_call,
    "container": export_container_call,
}
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
        """The name of a call of a port; null for a port without stubs."""
        names: Mapping[str, Json]
        match port:
            case "model":
                names = {"purpose": scenario_purpose(request["purpose"])}
            case "task":
                names = {"bean": request["task"], "method": request["method"]}
            case "tool":
                names = {"tool_code": request["tool"]} if request["tool"] else {"tool_group": request["group"]}
            case "container":
                names = {key: request[key] for key in ADDRESS}
            case _:
                return None
        return cls(_SECTIONS[port], names)

    @classmethod
    def of_stub(cls, section: str, stub: Mapping[str, Json]) -> "CallName":
        """What a stub answers."""
        if section == "llm":
            return cls(section, {"purpose": stub["when"]["purpose"]})
        keys = {"tasks": ("bean", "method"), "containers": ADDRESS}.get(section, ("tool_code", "tool_group"))
        return cls(section, {key: stub[key] for key in keys if key in stub})

    @classmethod
    def parse(cls, text: str) -> "CallName":
        """Raises ValueError for a text that names no call."""
        try:
            section, names, number = json.loads(text)
            return cls(_check_section(section), dict(names), int(number))
        except (TypeError, KeyError, ValueError) as error:
            raise ValueError(f"{text} names no call") from error

    def __str__(self) -> str:
        return json.dumps([self.section, self.names, self.number])

    def fits(self, stub: Mapping[str, Json]) -> bool:
        """True for a stub that answers calls of these names."""
        return CallName.of_stub(self.section, stub).names == self.names


def _check_section(section: str) -> str:
    _RESULTS[section]
    return section


@lru_cache(maxsize=32)
def parse_stubs(text: str) -> Stubs:
    """The stubs of a text. Raises ScenarioFileError with the position and the error.

    A page sends the same text with each message, and YAML is slow to read. Nobody changes what is returned.
    """
    if len(text) > MAX_TEXT:
        raise ScenarioFileError("", f"The stubs are longer than {MAX_TEXT} characters. Remove some.")
    document = parse_yaml(text) or {}
    if not isinstance(document, dict) or not set(document) <= set(_RESULTS):
        raise ScenarioFileError("", f"Stubs are lists under {', '.join(_RESULTS)}. Remove everything else.")
    stubs = {section: entries for section, entries in document.items() if entries}
    read_scenario(_as_document(stubs))
    return stubs


def dump_stubs(stubs: Stubs) -> str:
    """The stubs as text; blank for none."""
    written = {section: [dict(stub) for stub in stubs[section]] for section in _RESULTS if stubs.get(section)}
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
    """Stubs alone answer."""
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

    It answers this call alone if stubs answer each call of these names once; else all of them.
    """
    outcome = {_FAILURES[call.section]: text} if fails else {_RESULTS[call.section]: _read_answer(call, text)}
    entries = list(stubs.get(call.section, ()))
    own = [index for index, stub in enumerate(entries) if call.fits(stub)]
    if call.number < len(own) and all(entries[index].get("times") == 1 for index in own):
        index = own[call.number]
        conditions = {key: entries[index][key] for key in ("when_args", "times") if key in entries[index]}
        entries[index] = {**_name_stub(call), **conditions, **outcome}
    else:
        entries = [stub for stub in entries if not call.fits(stub)] + [{**_name_stub(call), **outcome}]
    return {**stubs, call.section: entries}


def forget_answers(stubs: Stubs, call: CallName) -> Stubs:
    """The stubs without those that answer calls of these names."""
    return {**stubs, call.section: [stub for stub in stubs.get(call.section, ()) if not call.fits(stub)]}


def _name_stub(call: CallName) -> dict[str, Json]:
    return {"when": dict(call.names)} if call.section == "llm" else dict(call.names)


def _read_answer(call: CallName, text: str) -> Json:
    if call.section == "llm":
        return text
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def read_stub_answer(stub: Mapping[str, Json]) -> tuple[str, bool]:
    """The answer of a stub as text, and whether it is a failure."""
    for key in set(_FAILURES.values()):
        if stub.get(key) is not None:
            return str(stub[key]), True
    value = next((stub[key] for key in set(_RESULTS.values()) if key in stub), None)
    return (value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)), False


def export_answers(calls: Iterable[Sequence[Json]]) -> Iterator[tuple[str, dict[str, Json]]]:
    """The stubs that answer these calls of a tape as they were answered, each with its section."""
    for port, request, answer in calls:
        is_call = port in _EXPORTS and answer.get("error_type") not in _NOT_CALLED
        if is_call and not Call(port, request, answer).is_unanswered:
            yield _SECTIONS[port], {**_EXPORTS[port](request, answer), "times": 1}


def keep_answers(stubs: Stubs, calls: Iterable[Sequence[Json]]) -> Stubs:
    """The stubs that answer these calls, one by one, before those that answer any number."""
    answers: dict[str, list[Mapping[str, Json]]] = {}
    for section, stub in export_answers(calls):
        answers.setdefault(section, []).append(stub)
    for section, entries in stubs.items():
        answers.setdefault(section, []).extend(stub for stub in entries if "times" not in stub)
    return answers
