"""The recorded answers from outside for a scenario file: models, tools, tasks, containers."""

import json
from collections.abc import Iterable, Iterator
from typing import Any

from audit.export.scenario.recorded_turns import RecordedTurn
from convengine.engine.turn.codec import dumps
from convengine.play.seen_turn import scenario_purpose
from convengine.server.turns.turn_record import StoredRecording

Json = Any
Entry = dict[str, Json]
#: The keys of the address of a container.
ADDRESS = ("page_id", "section_id", "container_id")


def iterate_calls(recorded: StoredRecording, port: str) -> Iterator[tuple[Json, Json]]:
    """Request and answer of each call of a port, in order."""
    return ((request, answer) for name, request, answer in recorded.tape if name == port)


def has_model(turns: Iterable[RecordedTurn]) -> bool:
    """False when one of the turns found that there is no model."""
    return all(answer for turn in turns for _, answer in iterate_calls(turn.recorded, "model.configured"))


def export_model_answers(turns: Iterable[RecordedTurn]) -> list[Entry]:
    """The answers of models, each for one call, in order."""
    entries: list[Entry] = []
    for turn in turns:
        entries += [export_model_call(*call) for call in iterate_calls(turn.recorded, "model")]
        entries += [
            _model_entry(purpose, text, error and "LLM_CALL_FAILED", error)
            for purpose, text, error in turn.late_answers
        ]
    return entries


def export_model_call(request: Json, answer: Json) -> Entry:
    """The stub that answers one call of a model as it was answered."""
    return _model_entry(request["purpose"], answer["text"], answer["error_code"], answer["error_message"])


def _model_entry(purpose: str, text: str, code: str | None, message: str | None) -> Entry:
    outcome = _failure(code, message) or {"reply": _parse_reply(text)}
    return {"when": {"purpose": scenario_purpose(purpose)}, **outcome, "times": 1}


def _failure(code: str | None, message: str | None, key: str = "error") -> Entry:
    """The text and the code of a failed call; empty for a successful one."""
    return {} if code is None else {key: message or code, "code": code}


def _parse_reply(text: str) -> Json:
    """An object or a list if it gives the same text; else the text."""
    try:
        value = json.loads(text)
    except ValueError:
        return text
    return value if isinstance(value, (dict, list)) and dumps(value) == text else text


def export_tool_answers(turns: Iterable[RecordedTurn]) -> list[Entry]:
    """The answers of tools, likewise."""
    entries: list[Entry] = []
    for turn in turns:
        entries += [export_tool_call(*call) for call in iterate_calls(turn.recorded, "tool")]
        for request, answer in iterate_calls(turn.recorded, "server.tools"):
            # A world's server offers the tools of these answers.
            codes = [f"mcp.{request['server']}.{tool['name']}" for tool in answer["tools"]]
            entries += [{"tool_code": code, "result": None} for code in codes]
    return [
        *(entry for entry in entries if "times" in entry),
        *_drop_duplicates([entry for entry in entries if "times" not in entry]),
    ]


def export_tool_call(request: Json, answer: Json) -> Entry:
    """The stub that answers one call of a tool as it was answered."""
    name = {"tool_code": request["tool"]} if request["tool"] else {"tool_group": request["group"]}
    outcome = _failure(answer["error_type"], answer["error_message"]) or {"result": answer["result"]}
    return {**name, "when_args": request["args"], **outcome, "times": 1}


def export_task_answers(turns: Iterable[RecordedTurn]) -> list[Entry]:
    """The answers of tasks; nothing for known methods that were not called."""
    entries: list[Entry] = []
    known: list[Entry] = []
    for turn in turns:
        for request, answer in iterate_calls(turn.recorded, "task"):
            if answer["error_type"] != "NOT_REGISTERED":
                entries.append(export_task_call(request, answer))
        for task, methods in iterate_calls(turn.recorded, "task.methods"):
            known += [{"bean": task, "method": method, "returns": None} for method in methods or ()]
    called = {(entry["bean"], entry["method"]) for entry in entries}
    return _merge_equal_answers(entries, ("bean", "method")) + _drop_duplicates(
        [entry for entry in known if (entry["bean"], entry["method"]) not in called]
    )


def export_task_call(request: Json, answer: Json) -> Entry:
    """The stub that answers a call of a task as it was answered."""
    outcome = _failure(answer["error_type"], answer["error_message"], "raises") or {"returns": answer["value"]}
    effects = {
        "sets_context": answer["context"],
        "removes_context": answer["context_removed"],
        "sets_params": answer["input_params"],
    }
    written = {key: value for key, value in effects.items() if value}
    return {"bean": request["task"], "method": request["method"], **outcome, **written}


def export_container_answers(turns: Iterable[RecordedTurn]) -> list[Entry]:
    """The answers of container providers."""
    entries: list[Entry] = []
    for turn in turns:
        for request, answer in iterate_calls(turn.recorded, "container"):
            if answer["error_type"] != "NO_PROVIDER":
                entries.append(export_container_call(request, answer))
    return _merge_equal_answers(entries, ADDRESS)


def export_container_call(request: Json, answer: Json) -> Entry:
    """The stub that answers a fetch of a container as it was answered."""
    outcome = _failure(answer["error_type"], answer["error_message"]) or {"result": answer["value"]}
    return {**{name: request[name] for name in ADDRESS}, **outcome}


def export_transformers(turn: RecordedTurn) -> list[Entry]:
    """What the transformers of answers gave, in order; empty if they changed no answer of the turn."""
    entries: list[Entry] = []
    changed = False
    for stage, answer in iterate_calls(turn.recorded, "transform"):
        if answer["transformer"] is None:
            continue
        outcome = _failure(answer["errorType"], answer["errorMessage"])
        if answer["payload"] is not None:
            outcome = {"result": answer["payload"]["value"]}
        entries.append({"stage": stage, "name": answer["transformer"], **outcome})
        changed = changed or bool(outcome)
    return entries if changed else []


def _merge_equal_answers(entries: list[Entry], key: tuple[str, ...]) -> list[Entry]:
    """Equal answers once; different ones each for the number of successive calls."""
    merged: list[Entry] = []
    for name in dict.fromkeys(tuple(entry[part] for part in key) for entry in entries):
        same = [entry for entry in entries if tuple(entry[part] for part in key) == name]
        if all(entry == same[0] for entry in same):
            merged.append(same[0])
        else:
            merged += [{**entry, "times": 1} for entry in same]
    return merged


def _drop_duplicates(entries: list[Entry]) -> list[Entry]:
    return list({dumps(entry): entry for entry in entries}.values())
