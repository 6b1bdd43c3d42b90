"""`manage.py demo_talk`: a conversation in the terminal with its decisions."""

import logging
import sys
import textwrap
import traceback
import uuid
from argparse import ArgumentParser
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from io import TextIOWrapper
from typing import Any

from django.core.management.base import CommandError
from django.db import DatabaseError

from audit.narration import narrate_turn
from audit.narration.explanation import describe_reasons
from audit.record.events import expand_events
from audit.record.queries import read_turns
from convengine.engine.errors import ConvEngineError
from convengine.engine.turn.stage import Tone
from convengine.engine.turn.turn import TurnRequest
from convengine.server import wiring
from convengine.server.deployment.exact_command import ExactCommand
from convengine.server.extensions import faults
from convengine.server.interfaces.configuration import configuration
from convengine.server.sessions.models import CeExtensionFault
from convengine.server.startup.reload import ExtensionWatcher, reload_extensions
from convengine.server.turns.answer import TurnAnswer
from convengine.server.turns.take_turn import take_turn


@contextmanager
def _silence_faults() -> Iterator[None]:
    """The log has the traceback of an extension on one line; here it follows the answer."""
    log = logging.getLogger(faults.__name__)
    level = log.level
    log.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        log.setLevel(level)


class Command(ExactCommand):
    """Reads messages, one per line, until the input ends or `quit` comes; prints answers, reasons and failures."""

    requires_system_checks = "__all__"
    help = "Talk to the configuration of this installation in the terminal."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--debug",
            action="store_true",
            help="Load extensions again when their files change, and print tracebacks of their exceptions.",
        )
        parser.add_argument(
            "--conversation", type=uuid.UUID, help="Continue this conversation. Without it, a new one starts."
        )

    def handle(self, *args: Any, conversation: uuid.UUID | None, debug: bool = False, **options: Any) -> None:
        """Talk. Raises CommandError if the tables of the configuration cannot be read."""
        try:
            configuration().current()
        except DatabaseError as error:
            raise CommandError(
                "No configuration is loaded yet. Run `convengine manage migrate`, or `make demo` in a checkout."
            ) from error
        if isinstance(sys.stdin, TextIOWrapper):
            # A terminal may send bytes that are invalid in its encoding.
            sys.stdin.reconfigure(errors="replace")
        conversation_id = str(conversation or uuid.uuid4())
        self.stdout.write(f"Conversation {conversation_id}. Enter a message, or `quit` to end.\n")
        watcher = self._watch_extensions() if debug else None
        for line in self._lines():
            if line.strip().lower() == "quit":
                break
            if watcher and watcher.has_changed():
                self._reload()
            if not debug:
                self._turn(conversation_id, line)
                continue
            with _silence_faults():
                turn_no = self._turn(conversation_id, line)
            if turn_no is not None:
                self._print_tracebacks(conversation_id, turn_no)

    def _watch_extensions(self) -> ExtensionWatcher:
        wiring.load_extensions()
        return ExtensionWatcher()

    def _reload(self) -> None:
        try:
            reload_extensions()
            self.stdout.write("        Extensions changed and were loaded again.")
        except Exception as error:
            self.stdout.write("error   The changed extensions cannot be loaded; the earlier ones stay.")
            self.stdout.write("".join(traceback.format_exception(error)))

    def _print_tracebacks(self, conversation_id: str, turn_no: int) -> None:
        of_turn = CeExtensionFault.objects.filter(conversation_id=uuid.UUID(conversation_id), turn_no=turn_no)
        for fault in of_turn.order_by("id"):
            self.stdout.write(f"error   {fault.label} {fault.name}\n{fault.traceback}")

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

    def _turn(self, conversation_id: str, text: str) -> int | None:
        try:
            answer = take_turn(TurnRequest(conversation_id, text))
        except ConvEngineError as error:
            self.stdout.write(f"error   {error.code}: {error.message}\n")
            return None
        assert isinstance(answer, TurnAnswer)  # Without a key nothing is replayed.
        self._say(answer)
        events = list(expand_events(read_turns(uuid.UUID(conversation_id), [answer.turn_no])))
        for line in describe_reasons(events):
            self.stdout.write(f"        · {line}")
        for sentence in narrate_turn(events):
            if sentence.tone is Tone.ERROR:
                self.stdout.write(f"        ! {sentence.text}")
        self.stdout.write("")
        return answer.turn_no

    def _say(self, answer: TurnAnswer) -> None:
        if answer.error:
            self.stdout.write(f"error   {answer.error.code}: {answer.error.message}")
            return
        words = str(answer.payload.value) if answer.payload else ""
        self.stdout.write(textwrap.fill(words, 100, initial_indent="bot     ", subsequent_indent="        "))
        session = answer.session
        self.stdout.write(
            f"        {session.intent}/{session.state}  turn {answer.turn_no}, release {answer.config_version}, "
            f"{answer.duration_ms:.0f} ms"
        )
