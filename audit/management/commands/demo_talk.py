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

from audit.expand import expanded
from audit.queries import whole_turns
from audit.reasons import Reason, Told, reasons
from convengine import conf
from convengine.domain.turn import TurnRequest
from convengine.errors import ConvEngineError
from convengine.sessions.turns import TurnAnswer, take_turn


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
        for reason in reasons(events):
            self.stdout.write(f"        · {_line(reason)}")
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


def _line(reason: Reason) -> str:
    """What won, and the rows that were tested and did not."""
    lost = ", ".join(f"{_named(row)} ({row.reason})" for row in reason.lost)
    return f"{reason.subject}: {', '.join(map(_named, reason.won)) or 'nothing'} won" + (
        f"; not {lost}" if lost else ""
    )


def _named(row: Told) -> str:
    return f"{row.pk}" + (f" “{row.about}”" if row.about else "")
