"""`manage.py demo_talk`: a conversation in the terminal, the decisions beside it."""

import sys
import textwrap
import uuid
from argparse import ArgumentParser
from collections.abc import Iterable
from io import TextIOWrapper
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError

from audit.expand import Event, expanded
from audit.queries import whole_turns
from audit.why import why
from convengine import conf
from convengine.domain.turn import TurnRequest
from convengine.errors import ConvEngineError
from convengine.sessions.turns import TurnAnswer, take_turn

#: How many rows of a decision are shown beside a turn; `why?turn=N` of the API has all of them.
_ROWS = 3


class Command(BaseCommand):
    """Reads messages, one a line, until the input ends or `quit` comes; prints each answer and why it was given."""

    help = "Talk to the configuration of this installation in the terminal."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Which conversation."""
        parser.add_argument("--conversation", type=uuid.UUID, help="Go on with this one; without it a new one begins.")

    def handle(self, *args: Any, conversation: uuid.UUID | None, **options: Any) -> None:
        """Talk. Raises CommandError when there is nothing to talk to."""
        try:
            conf.load("SNAPSHOT").current()
        except DatabaseError as error:
            raise CommandError("There is nothing to talk to yet: run `make demo` first.") from error
        if isinstance(sys.stdin, TextIOWrapper):
            # A terminal may send bytes that are no text in its own encoding.
            sys.stdin.reconfigure(errors="replace")
        conversation_id = str(conversation or uuid.uuid4())
        self.stdout.write(f"Conversation {conversation_id}. Say something; `quit` ends.\n")
        for line in self._lines():
            if line.strip().lower() == "quit":
                break
            self._turn(conversation_id, line)

    def _lines(self) -> Iterable[str]:
        interactive = sys.stdin.isatty()
        while True:
            if interactive:
                self.stdout.write("you     ", ending="")
                self.stdout.flush()
            line = sys.stdin.readline()
            if not line:
                return
            if not interactive:
                self.stdout.write(f"you     {line.rstrip()}")
            if line.strip():
                yield line.rstrip("\n")

    def _turn(self, conversation_id: str, text: str) -> None:
        try:
            answer = take_turn(TurnRequest(conversation_id, text))
        except ConvEngineError as error:
            self.stdout.write(f"error   {error.code}: {error.message}\n")
            return
        assert isinstance(answer, TurnAnswer)  # Without a key nothing is replayed.
        self._say(answer)
        events = list(expanded(whole_turns(uuid.UUID(conversation_id), [answer.turn_no])))
        # A second pass of the same rules says the same.
        for line in dict.fromkeys(_reasons(events)):
            self.stdout.write(f"        · {line}")
        self.stdout.write("")

    def _say(self, answer: TurnAnswer) -> None:
        if answer.error:
            self.stdout.write(f"error   {answer.error.code}: {answer.error.message}")
            return
        words = str(answer.payload.value) if answer.payload else ""
        self.stdout.write(textwrap.fill(words, 100, initial_indent="desk    ", subsequent_indent="        "))
        session = answer.session
        self.stdout.write(
            f"        {session.intent}/{session.state}  turn {answer.turn_no}, release {answer.config_version}, "
            f"{answer.duration_ms:.0f} ms"
        )


def _reasons(events: list[Event]) -> Iterable[str]:
    """A line for each decision: what won, and the rows that were tested and did not."""
    if not events:
        return
    for decision in why(events, _ROWS)["decisions"]:
        tested = [row for row in decision["candidates"] if not row["derived"]]
        won = [row for row in tested if row["matched"]]
        lost = [row for row in tested if not row["matched"]]
        if not tested and not won:
            continue
        name = decision["kind"].lower() if decision["kind"] != "RULE" else f"rules ({decision['source']})"
        yield f"{name}: {_named(won) or 'nothing'} won" + (f"; not {_named(lost, why_not=True)}" if lost else "")


def _named(rows: list[dict[str, Any]], *, why_not: bool = False) -> str:
    return ", ".join(
        f"{row['id']}"
        + (f" “{row['description']}”" if row["description"] else "")
        + (f" ({row['reason']})" if why_not and row["reason"] else "")
        for row in rows
    )
