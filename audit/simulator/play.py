"""Play the lines of a simulated conversation from the start; nothing is stored."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any, NamedTuple

from audit.narration.reasons import role_label
from audit.narration.session_values import value_text
from audit.narration.wording import row_name
from audit.simulator.posted import SentMessage
from audit.simulator.stubs import CallName, is_unanswered
from convengine.engine.rules.row_names import name_row, quote_name
from convengine.engine.turn.codec import to_plain
from convengine.engine.turn.params import remove_reserved
from convengine.engine.turn.rows import ROW_TYPE_OF
from convengine.engine.turn.snapshot import Snapshot
from convengine.engine.turn.turn import DecidingRow
from convengine.play import scenario
from convengine.play.play import PlayedTurn, begin_conversation, play_turn
from convengine.play.stubs import ScenarioStubs
from convengine.server.admin_site.record_columns import answer_text, describe_named_position

Json = Any
#: The time between two lines.
_PAUSE = timedelta(seconds=10)
#: Entries of the context that only the engine reads.
_INTERNAL = frozenset({"mcp", "memory", "intent_lock", "pending_action_runtime"})
#: What a turn is compared by, and what it is called.
_COMPARED = {
    "answer": "Answer",
    "error": "Error",
    "position": "Intent and state",
    "fields": "Fields",
    "rows": "Decided by",
}


class Difference(NamedTuple):
    """What differs in a line from when it was played before."""

    label: str
    before: str
    after: str


@dataclass(frozen=True)
class Call:
    """A call of a model, task, tool or container, and its answer."""

    port: str
    name: CallName
    request: Json
    answer: Json

    @property
    def is_unanswered(self) -> bool:
        """True if no stub answered it."""
        return is_unanswered(self.port, self.answer)


@dataclass(frozen=True)
class PlayedLine:
    """A line, and what the turn made of it."""

    #: 1, 2, 3 …
    number: int
    line: SentMessage
    tried: PlayedTurn
    calls: Sequence[Call]

    @property
    def message(self) -> str:
        """The text of the user."""
        return self.line.message

    @property
    def answer(self) -> str:
        """The text of the answer; blank for a failed turn."""
        return "" if self.tried.outcome.error else answer_text(to_plain(self.tried.outcome.session.last_assistant))

    @property
    def error(self) -> str:
        """Code and text of the failure, or blank."""
        error = self.tried.outcome.error
        return f"{error.code}: {error.message}" if error else ""

    @property
    def position(self) -> str:
        """Intent and state after it, in words."""
        session = self.tried.outcome.session
        return describe_named_position(session.intent, session.state)

    @property
    def unanswered(self) -> int:
        """The number of calls without an answer."""
        return sum(call.is_unanswered for call in self.calls)

    @cached_property
    def summary(self) -> dict[str, Json]:
        """What of the turn is compared with the next time that it is played."""
        session = self.tried.outcome.session
        context = {name: value for name, value in session.context.items() if name not in _INTERNAL}
        return {
            "message": self.message,
            "answer": self.answer,
            "error": self.error,
            "position": self.position,
            "fields": to_plain(context),
            "rows": {
                f"{row.role} {row.table} {row.row_pk}": f"{role_label(row.role)}: {self._name_row(row)}"
                for row in self.tried.turn.decided_rows
            },
        }

    def _differs(self, key: str, before: Json) -> bool:
        after = self.summary[key]
        # Rows are the same whatever they are called.
        return set(before) != set(after) if key == "rows" and isinstance(before, dict) else bool(before != after)

    def _name_row(self, decided: DecidingRow) -> str:
        key = int(decided.row_pk) if decided.row_pk.isdecimal() else decided.row_pk
        row = self.tried.turn.snapshot.row(ROW_TYPE_OF[decided.table], key)
        title = name_row(decided.table, row) if row else ""
        return f"{row_name(decided.table, decided.row_pk)}{f' {quote_name(title)}' if title else ''}"

    def list_differences(self, before: Mapping[str, Json]) -> list[Difference]:
        """The differences to an earlier summary of the same message."""
        if before.get("message") != self.message:
            return []
        return [
            Difference(label, *_show_both(key, before.get(key), self.summary[key]))
            for key, label in _COMPARED.items()
            if self._differs(key, before.get(key))
        ]


def _show_both(key: str, before: Json, after: Json) -> tuple[str, str]:
    if key == "fields" and isinstance(before, dict):
        names = [name for name in {**before, **after} if before.get(name) != after.get(name)]
        before, after = ({name: each[name] for name in names if name in each} for each in (before, after))
    if key == "rows" and isinstance(before, dict):
        return _join_missing(before, after), _join_missing(after, before)
    return value_text(before or ""), value_text(after or "")


def _join_missing(rows: Mapping[str, Json], others: Mapping[str, Json]) -> str:
    return ", ".join(str(label) for row, label in rows.items() if row not in others)


def play_lines(
    snapshot: Snapshot, lines: Sequence[SentMessage], at: datetime, stubs: ScenarioStubs, channel: str = "api"
) -> list[PlayedLine]:
    """Play the lines of one conversation, the first at this time."""
    conversation, played = begin_conversation(at, channel=channel), []
    counts: dict[str, int] = {}
    for number, line in enumerate(lines, start=1):
        stubs.begin(scenario.Turn(user=line.message))
        params, _ = remove_reserved(line.read_params(), may_approve=True)
        moment = at + (number - 1) * _PAUSE
        tried = play_turn(snapshot, conversation, line.message, moment, stubs.outside, params=params)
        played.append(PlayedLine(number, line, tried, list(_list_calls(tried, counts))))
        conversation = tried.after
    return played


def _list_calls(tried: PlayedTurn, counts: dict[str, int]) -> Iterator[Call]:
    for port, request, answer in tried.calls:
        name = CallName.of(port, request)
        if name is None:
            continue
        key = str(name)
        yield Call(port, CallName(name.section, name.names, counts.get(key, 0)), request, answer)
        counts[key] = counts.get(key, 0) + 1


def read_summaries(text: str) -> list[Mapping[str, Json]]:
    """The summaries that a page sends back; none for another text."""
    try:
        summaries = json.loads(text or "[]")
    except (ValueError, RecursionError):
        return []
    if not isinstance(summaries, list):
        return []
    return [summary if isinstance(summary, dict) else {} for summary in summaries]
