"""The recorded answers from outside for a scenario file: models, tools, tasks, containers."""

import json
from collections.abc import Iterable, Iterator
from typing import Any

from audit.export.scenario.recorded_turns import NotExportable, RecordedTurn
from convengine.engine.turn.codec import dumps
from convengine.scenarios.scenario import scenario_purpose
from convengine.server.turns.turn_record import StoredRecording

Json = Any
Entry = dict[str, Json]


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
        for request, answer in iterate_calls(turn.recorded, "model"):
            entries.append(_model_entry(request["purpose"], answer["text"], _error_text(answer["error_code"], answer)))
        entries += [_model_entry(purpose, text, error) for purpose, text, error in turn.late_answers]
    return entries


def _error_text(code: str | None, answer: Entry) -> str | None:
    return None if code is None else answer["error_message"] or code


def _model_entry(purpose: str, text: str, error: str | None) -> Entry:
    outcome = {"error": error} if error is not None else {"reply": _parse_reply(text)}
    return {"when": {"purpose": scenario_purpose(purpose)}, **outcome, "times": 1}


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
        for request, answer in iterate_calls(turn.recorded, "tool"):
            name = {"tool_code": request["tool"]} if request["tool"] else {"tool_group": request["group"]}
            fault = answer["error_message"] or answer["error_type"] if answer["error_type"] else None
            outcome = {"error": fault} if fault is not None else {"result": answer["result"]}
            entries.append({**name, "when_args": request["args"], **outcome, "times": 1})
        for request, answer in iterate_calls(turn.recorded, "server.tools"):
            # A world's server offers the tools of these answers.
            codes = [f"mcp.{request['server']}.{tool['name']}" for tool in answer["tools"]]
            entries += [{"tool_code": code, "result": None} for code in codes]
    return [
        *(entry for entry in entries if "times" in entry),
        *_drop_duplicates([entry for entry in entries if "times" not in entry]),
    ]


def export_task_answers(turns: Iterable[RecordedTurn]) -> list[Entry]:
    """The answers of tasks; nothing for known methods that were not called. Raises NotExportable."""
    entries: list[Entry] = []
    known: list[Entry] = []
    for turn in turns:
        for request, answer in iterate_calls(turn.recorded, "task"):
            if answer["error_type"] == "NOT_REGISTERED":
                continue
            if answer["context_removed"] or answer["input_params"]:
                raise NotExportable(
                    f"Turn {turn.turn_no}: {request['task']}:{request['method']} removed context or wrote params; "
                    "a scenario file cannot say that. Save a range without this turn."
                )
            outcome = {"raises": answer["error_message"] or answer["error_type"]}
            if answer["error_type"] is None:
                outcome = {"returns": answer["value"]}
            written = {"sets_context": answer["context"]} if answer["context"] else {}
            entries.append({"bean": request["task"], "method": request["method"], **outcome, **written})
        for task, methods in iterate_calls(turn.recorded, "task.methods"):
            known += [{"bean": task, "method": method, "returns": None} for method in methods or ()]
    called = {(entry["bean"], entry["method"]) for entry in entries}
    return _merge_equal_answers(entries, ("bean", "method")) + _drop_duplicates(
        [entry for entry in known if (entry["bean"], entry["method"]) not in called]
    )


def export_container_answers(turns: Iterable[RecordedTurn]) -> list[Entry]:
    """The answers of container providers."""
    entries: list[Entry] = []
    address = ("page_id", "section_id", "container_id")
    for turn in turns:
        for request, answer in iterate_calls(turn.recorded, "container"):
            if answer["error_type"] == "NO_PROVIDER":
                continue
            outcome = {"result": answer["value"]}
            if answer["error_type"]:
                outcome = {"error": answer["error_message"] or answer["error_type"]}
            entries.append({**{name: request[name] for name in address}, **outcome})
    return _merge_equal_answers(entries, address)


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
