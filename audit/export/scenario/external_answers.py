"""The recorded answers from outside for a scenario file: models, tools, tasks, containers."""

from collections.abc import Iterable

from audit.export.scenario.recorded_turns import RecordedTurn
from convengine.engine.turn.codec import dumps
from convengine.json_value import Json
from convengine.play.seen_turn import PortCall
from convengine.play.stub_documents import ADDRESS, export_call, export_failure
from convengine.server.turns.stored_recording import StoredRecording

Entry = dict[str, Json]


def list_calls(recorded: StoredRecording, port: str) -> list[PortCall]:
    return [PortCall(*entry) for entry in recorded.tape if entry[0] == port]


def has_model(turns: Iterable[RecordedTurn]) -> bool:
    """False when one of the turns found that there is no model."""
    return all(answer for turn in turns for _, _, answer in list_calls(turn.recorded, "model.configured"))


def export_model_answers(turns: Iterable[RecordedTurn]) -> list[Entry]:
    """The answers of models, each for one call, in order."""
    entries: list[Entry] = []
    for turn in turns:
        entries += [export_call(call) for call in list_calls(turn.recorded, "model")]
        for purpose, text, error in turn.late_answers:
            answer = {"text": text, "error_code": error and "LLM_CALL_FAILED", "error_message": error}
            entries.append(export_call(PortCall("model", {"purpose": purpose}, answer)))
    return [{**entry, "times": 1} for entry in entries]


def export_tool_answers(turns: Iterable[RecordedTurn]) -> list[Entry]:
    entries: list[Entry] = []
    for turn in turns:
        entries += [{**export_call(call), "times": 1} for call in list_calls(turn.recorded, "tool")]
        for call in list_calls(turn.recorded, "server.tools"):
            # A world's server offers the tools of these answers.
            codes = [f"mcp.{call.request['server']}.{tool['name']}" for tool in call.answer["tools"]]
            entries += [{"tool_code": code, "result": None} for code in codes]
    return [
        *(entry for entry in entries if "times" in entry),
        *_drop_duplicates([entry for entry in entries if "times" not in entry]),
    ]


def export_task_answers(turns: Iterable[RecordedTurn]) -> list[Entry]:
    """The answers of tasks, as entries of a scenario. Known methods that were not called return null.

    Calls of unknown tasks or methods have no entry.
    """
    entries: list[Entry] = []
    known: list[Entry] = []
    for turn in turns:
        calls = list_calls(turn.recorded, "task")
        entries += [export_call(call) for call in calls if call.answer["error_type"] != "NOT_REGISTERED"]
        for call in list_calls(turn.recorded, "task.methods"):
            known += [{"bean": call.request, "method": method, "returns": None} for method in call.answer or ()]
    called = {(entry["bean"], entry["method"]) for entry in entries}
    return _merge_equal_answers(entries, ("bean", "method")) + _drop_duplicates(
        [entry for entry in known if (entry["bean"], entry["method"]) not in called]
    )


def export_container_answers(turns: Iterable[RecordedTurn]) -> list[Entry]:
    """The answers of container providers, as entries of a scenario; calls without a provider have no entry."""
    entries: list[Entry] = []
    for turn in turns:
        calls = list_calls(turn.recorded, "container")
        entries += [export_call(call) for call in calls if call.answer["error_type"] != "NO_PROVIDER"]
    return _merge_equal_answers(entries, ADDRESS)


def export_transformers(turn: RecordedTurn) -> list[Entry]:
    """What the transformers of answers gave, in order; empty if they changed no answer of the turn."""
    entries: list[Entry] = []
    changed = False
    for _, stage, answer in list_calls(turn.recorded, "transform"):
        if answer["transformer"] is None:
            continue
        outcome = export_failure(answer["errorType"], answer["errorMessage"])
        if answer["payload"] is not None:
            outcome = {"result": answer["payload"]["value"]}
        entries.append({"stage": stage, "name": answer["transformer"], **outcome})
        changed = changed or bool(outcome)
    return entries if changed else []


def _merge_equal_answers(entries: list[Entry], key: tuple[str, ...]) -> list[Entry]:
    """The answers by the values of `key`: once if all are equal, else each for one call, in order."""
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
