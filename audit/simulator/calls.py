"""The calls of a played turn for the page of the simulator, each with its answer to edit."""

import json
from dataclasses import dataclass

from audit.simulator.play import NamedCall, PlayedLine
from convengine.engine.turn.labels import purpose_label
from convengine.json_value import Json
from convengine.play.seen_turn import Call

_KINDS = {"model": "Model", "task": "Task", "tool": "Tool", "container": "Data source"}


@dataclass(frozen=True)
class CallView:
    """A call of the turn, with its answer to edit."""

    kind: str
    title: str
    request: str
    answer: str
    is_failure: bool
    is_unanswered: bool
    name: str
    #: The section of its stubs.
    section: str


def list_calls(line: PlayedLine) -> list[CallView]:
    """The calls of a played line."""
    return [_build_call(call) for call in line.calls]


def _build_call(named: NamedCall) -> CallView:
    name, call = named.name, named.call
    answer, (title, request) = call.answer, _describe_call(call)
    if call.port == "model":
        result, error = answer["text"], answer["error_message"]
    else:
        result, error = answer["result" if call.port == "tool" else "value"], answer["error_message"]
    is_failure = bool(answer["error_code" if call.port == "model" else "error_type"])
    text = "" if call.is_unanswered else str(error or "") if is_failure else _write_value(result)
    return CallView(_KINDS[call.port], title, request, text, is_failure, call.is_unanswered, str(name), name.section)


def _describe_call(call: Call) -> tuple[str, str]:
    """What was called, and with what."""
    request = call.request
    match call.port:
        case "model":
            prompt = "\n\n".join(filter(None, (request["system"], request["user"])))
            return purpose_label(request["purpose"]), prompt
        case "task":
            return f"{request['task']}:{request['method']}", ""
        case "tool":
            return str(request["tool"] or request["group"]), _write_value(request["args"])
        case _:
            address = (request[key] for key in ("page_id", "section_id", "container_id"))
            return " / ".join(map(str, address)), _write_value(request["input_params"])


def _write_value(value: Json) -> str:
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(value, ensure_ascii=False, indent=2, default=str)
