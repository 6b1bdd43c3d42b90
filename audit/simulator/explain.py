"""How a played turn came about, for the page of the simulator: in words, decisions, changes, calls."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.safestring import SafeString

from audit.narration import Fact, Sentence, narrate_turn
from audit.narration.reasons import describe_fields_read
from audit.narration.wording import name_rows
from audit.record.document import list_unstored_events
from audit.record.events import expand_events
from audit.simulator.play import NamedCall, PlayedLine
from audit.timeline.decisions import Decision, build_decisions
from audit.timeline.session_changes import StepChanges, unsaved_changes
from convengine.engine.turn.labels import purpose_label
from convengine.engine.turn.rows import ROW_TYPE_OF
from convengine.engine.turn.snapshot import Snapshot
from convengine.play.seen_turn import Call
from convengine.server.admin_site.record_columns import row_link

Json = Any
_KINDS = {"model": "Model", "task": "Task", "tool": "Tool", "container": "Data source"}


@dataclass(frozen=True)
class SentenceView:
    """A sentence of what happened."""

    tone: str
    pieces: Sequence[str | SafeString]
    conditions: Sequence[str]
    patterns: Sequence[str]


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


@dataclass(frozen=True)
class Explanation:
    """Everything about one turn."""

    sentences: Sequence[SentenceView]
    fields_read: Sequence[str]
    decisions: Sequence[Decision]
    changes: StepChanges
    calls: Sequence[CallView]


def explain_line(line: PlayedLine) -> Explanation:
    """Explain a played line; no query."""
    turn = line.played.turn
    events = list(expand_events(list_unstored_events(turn)))
    decisions = build_decisions(events, turn.snapshot)
    return Explanation(
        list(_build_sentences(narrate_turn(events, turn.snapshot), turn.snapshot)),
        describe_fields_read(events),
        [decision for decision in decisions if decision.winners or decision.tested],
        unsaved_changes(events),
        [_build_call(call) for call in line.calls],
    )


def _build_sentences(sentences: Sequence[Sentence], snapshot: Snapshot) -> Iterator[SentenceView]:
    for sentence in sentences:
        texts = name_rows(sentence.parts, snapshot)
        pieces = [_link_part(part, text) for part, text in zip(sentence.parts, texts, strict=True)]
        yield SentenceView(sentence.tone.value, pieces, sentence.conditions, sentence.patterns)


def _link_part(part: str | Fact, text: str) -> str | SafeString:
    if isinstance(part, str) or part.row is None or part.column or part.row.table not in ROW_TYPE_OF:
        return text
    return row_link(part.row.table, part.row.pk, text)


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
