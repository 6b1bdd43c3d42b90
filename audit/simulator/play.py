"""Play the lines of a simulated conversation from the start; nothing is stored. Stored answers are offered as stubs."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from audit.narration.decisions import role_label
from audit.narration.wording import label_row
from audit.simulator.posted import SentMessage
from convengine.engine.cached_property import cached_property
from convengine.engine.rules.row_names import name_row
from convengine.engine.text.difference import Difference, diff_json
from convengine.engine.turn.codec import to_plain
from convengine.engine.turn.conversation import PLAIN_CHANNEL
from convengine.engine.turn.labels import purpose_label
from convengine.engine.turn.params import remove_reserved
from convengine.engine.turn.snapshot import Snapshot
from convengine.files import Unreadable
from convengine.files.json_text import read_json
from convengine.json_value import Json
from convengine.play import play, scenario
from convengine.play.comparison import Aspect, Summary, compare_turns, summarise
from convengine.play.play import PlayedConversation, PlayedMessage, PlayedTurn
from convengine.play.seen_turn import PortCall
from convengine.play.stub_documents import ADDRESS, CallName, export_answers, export_call, read_stub_answer
from convengine.play.stubs import ScenarioStubs
from convengine.server.admin_site.record_columns import answer_text, describe_named_position
from convengine.server.channels.answers import read_answer
from convengine.server.channels.contract import Provider
from convengine.server.sessions.models import CeConversationHistory
from convengine.server.turns.stored_recording import read_recording

_KINDS = {"model": "Model", "task": "Task", "tool": "Tool", "container": "Data source"}


@dataclass(frozen=True)
class NamedCall:
    """A call of a model, task, tool or container, with the name that its stub has."""

    name: CallName
    call: PortCall

    @property
    def kind(self) -> str:
        return _KINDS[self.call.port]

    @property
    def title(self) -> str:
        request = self.call.request
        match self.call.port:
            case "model":
                return purpose_label(request["purpose"])
            case "task":
                return f"{request['task']}:{request['method']}"
            case "tool":
                return str(request["tool"] or request["group"])
            case _:
                return " / ".join(str(request[key]) for key in ADDRESS)

    @property
    def request(self) -> str:
        request = self.call.request
        if self.call.port == "model":
            return "\n\n".join(filter(None, (request["system"], request["user"])))
        sent = {"tool": "args", "container": "input_params"}.get(self.call.port)
        return json.dumps(request[sent], ensure_ascii=False, indent=2, default=str) if sent else ""

    @cached_property
    def answer(self) -> tuple[str, bool]:
        """The answer as text, and whether it is a failure; blank for a call that nobody answered."""
        return ("", False) if self.call.is_unanswered else read_stub_answer(export_call(self.call))


@dataclass(frozen=True)
class PlayedLine:
    """A line, and what the turn made of it."""

    #: 1, 2, 3 …
    number: int
    line: SentMessage
    played: PlayedTurn
    calls: Sequence[NamedCall]
    #: The kinds of channels whose limits are shown.
    providers: Sequence[Provider] = ()

    @property
    def message(self) -> str:
        return self.line.message

    @property
    def answer(self) -> str:
        """The text of the answer; blank for a failed turn."""
        return "" if self.played.error else answer_text(to_plain(self.played.session.last_assistant))

    @property
    def error(self) -> str:
        """Code and text of the failure, or blank."""
        error = self.played.outcome.error
        return f"{error.code}: {error.message}" if error else ""

    @cached_property
    def channel_notes(self) -> list[tuple[str, str]]:
        """How channels show the answer where they cannot show it as it is: their kind, and what differs and why."""
        if self.played.error or not self.providers:
            return []
        answer = read_answer(self.played.seen.body)
        notes = ((provider.title, " ".join(provider.arrange(answer).notes)) for provider in self.providers)
        return [(title, text) for title, text in notes if text]

    @property
    def position(self) -> str:
        """Intent and state after it, in words."""
        return describe_named_position(self.played.session.intent, self.played.session.state)

    @property
    def unanswered(self) -> int:
        return sum(named.call.is_unanswered for named in self.calls)

    @cached_property
    def summary(self) -> Summary:
        """What of the turn is compared with the next time that it is played."""
        return {"message": self.message, **summarise(self.played)}

    def list_differences(self, before: Summary) -> list[Difference]:
        """The differences to an earlier summary of the same message."""
        if before.get("message") != self.message:
            return []
        differing = compare_turns(before, self.summary, set(Aspect) - {Aspect.REMEMBERED})
        return [self._describe_difference(aspect, *sides) for aspect, sides in differing.items()]

    def _describe_difference(self, aspect: Aspect, before: Json, after: Json) -> Difference:
        within: Sequence[Difference] = ()
        match aspect:
            case Aspect.FIELDS:
                within = list(diff_json(before or {}, after or {}))
            case Aspect.DECISIONS if isinstance(before, list) and isinstance(after, list):
                before, after = self._name_rows(set(before) - set(after)), self._name_rows(set(after) - set(before))
            case Aspect.ANSWER:
                before, after = answer_text(before), answer_text(after)
        return Difference((aspect.value,), before or "", after or "", aspect.label, within=within)

    def _name_rows(self, decisions: Iterable[str]) -> str:
        return ", ".join(self._name_row(*decision.split(" ", 2)) for decision in sorted(decisions))

    def _name_row(self, role: str, table: str, pk: str) -> str:
        row = self.played.snapshot.find_row(table, pk)
        return f"{role_label(role)}: {label_row(table, pk, name_row(table, row) if row else '')}"


def play_lines(
    snapshot: Snapshot,
    lines: Sequence[SentMessage],
    at: datetime,
    stubs: ScenarioStubs,
    channel: str = PLAIN_CHANNEL,
    *,
    providers: Sequence[Provider] = (),
) -> list[PlayedLine]:
    """Play the lines of one conversation, the first at this time."""
    conversation, played = PlayedConversation.begin(at, channel=channel), []
    counts: Counter[str] = Counter()
    for number, line in enumerate(lines, start=1):
        stubs.begin(scenario.ScenarioTurn(user=line.message))
        params, _ = remove_reserved(line.read_params(), may_approve=True)
        (turn,) = play.play(snapshot, conversation, [PlayedMessage(line.message, params)], stubs.outside)
        calls = []
        for call in turn.calls:
            if (name := CallName.of(call.port, call.request)) is not None:
                calls.append(NamedCall(replace(name, number=counts[str(name)]), call))
                counts[str(name)] += 1
        played.append(PlayedLine(number, line, turn, calls, providers))
        conversation = turn.after
    return played


def read_summaries(text: str) -> list[Mapping[str, Json]]:
    """The summaries that a page sends back; none for another text."""
    try:
        summaries = read_json(text or "[]")
    except Unreadable:
        return []
    if not isinstance(summaries, list):
        return []
    return [summary if isinstance(summary, dict) else {} for summary in summaries]


#: How many turns are read, and how many different answers are offered.
_READ, _OFFERED = 100, 3


@dataclass(frozen=True)
class RecordedAnswer:
    text: str
    is_failure: bool
    conversation_id: UUID
    turn_no: int
    at: datetime


def find_recorded_answers(call: CallName) -> list[RecordedAnswer]:
    """The newest different answers to calls of these names. One query."""
    answers: dict[tuple[str, bool], RecordedAnswer] = {}
    for answer in _read_answers(call):
        answers.setdefault((answer.text, answer.is_failure), answer)
        if len(answers) == _OFFERED:
            break
    return list(answers.values())


def _read_answers(call: CallName) -> Iterator[RecordedAnswer]:
    turns: Any = CeConversationHistory.objects.filter(recording__isnull=False)
    if call.section == "llm":
        turns = turns.filter(model_calls__gt=0)
    turns = turns.only("conversation_id", "turn_no", "created_at", "recording").order_by("-history_id")
    for turn in turns[:_READ]:
        try:
            tape = read_recording(turn.recording).tape
        except ValueError:
            continue
        for section, stub in export_answers(PortCall(*entry) for entry in tape):
            if section == call.section and call.fits(stub):
                yield RecordedAnswer(*read_stub_answer(stub), turn.conversation_id, turn.turn_no or 0, turn.created_at)
