"""`manage.py replay CONVERSATION TURN`: run a stored turn again from its recording."""

import json
import uuid
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from audit.replay.replay import NotReplayable, find_replay_difference
from convengine.server.deployment.exact_command import ExactCommand
from convengine.server.sessions.models import CeConversationHistory


class Command(ExactCommand):
    """Prints "equal", or the first event that differs; the exit status is 0 only when equal."""

    help = "Replay a stored turn on its release and compare every event."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("conversation", type=uuid.UUID)
        parser.add_argument("turn", type=int)

    def handle(self, *args: Any, conversation: uuid.UUID, turn: int, **options: Any) -> None:
        record = CeConversationHistory.objects.filter(conversation_id=conversation, turn_no=turn).first()
        if record is None:
            raise CommandError(f"Conversation {conversation} has no turn {turn}.")
        try:
            difference = find_replay_difference(record)
        except NotReplayable as error:
            raise CommandError(f"Turn {turn} cannot be replayed: {error}") from error
        if difference is None:
            self.stdout.write("equal")
            return
        self.stdout.write(f"event {difference.seq} differs")
        self.stdout.write(f"  recorded: {json.dumps(difference.recorded, ensure_ascii=False)}")
        self.stdout.write(f"  replayed: {json.dumps(difference.replayed, ensure_ascii=False)}")
        for call in difference.calls:
            self.stdout.write(f"  {call}")
        raise CommandError("The replay is different from the record.")
