"""`manage.py audit_erase`: take a person's data out of everything that is kept."""

import argparse
import uuid
from collections import Counter
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from audit.erasing.erase import NothingToErase, Who, conversations_of, erase_conversation, erase_participant
from convengine.errors import TurnInProgress


class Command(BaseCommand):
    """Told again after it was killed, it goes on."""

    help = "Erase what a participant said and was told, in all their conversations or in one. The chain stays whole."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Whose, and why."""
        whose = parser.add_mutually_exclusive_group(required=True)
        whose.add_argument("--participant", metavar="ID", help="as the channel calls them")
        whose.add_argument("--conversation", type=uuid.UUID, metavar="ID")
        parser.add_argument("--workspace", help="only there; all unless said otherwise")
        parser.add_argument("--channel", help="only there; all unless said otherwise")
        parser.add_argument("--by", required=True, help="who has it erased")
        parser.add_argument("--reason", required=True, help="why, for whoever reads the record later")
        parser.add_argument("--yes", action="store_true", help="do it; without, say only what would be erased")

    def handle(self, *args: Any, **options: Any) -> None:
        """Erase, and say how much."""
        participant, key, within = (
            options["participant"],
            options["conversation"],
            (options["workspace"], options["channel"]),
        )
        if not options["reason"].strip() or not options["by"].strip():
            raise CommandError(
                "--by and --reason must say something: whoever reads this later must be able to follow it."
            )
        if not options["yes"]:
            count = 1 if key else len(conversations_of(participant, *within))
            self.stdout.write(f"{count} conversations would be erased. Nothing was changed; say --yes to do it.")
            return
        who = Who(options["by"], options["reason"])
        done = Counter[str]()
        try:
            for counts in erase_conversation(key, who) if key else erase_participant(participant, who, *within):
                done.update(counts)
        except (NothingToErase, TurnInProgress) as fault:
            raise CommandError(str(fault)) from fault
        self.stdout.write("Erased: " + ", ".join(f"{count:,} {name}" for name, count in done.items()) + ".")
