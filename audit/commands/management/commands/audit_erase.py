"""`manage.py audit_erase`: erase a person's data."""

import argparse
import uuid
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from django.core.management.base import CommandError
from django.db import transaction
from django.template.defaultfilters import pluralize

from audit.erasure.erase import EraseOrder, NothingToErase, erase_conversation, erase_participant, find_conversations
from audit.erasure.searches import delete_saved_searches, empty_searches
from convengine.engine.errors import TurnInProgress
from convengine.server.deployment.exact_command import ExactCommand
from convengine.server.interfaces.stored_tests import stored_tests


class Command(ExactCommand):
    """Continues when it is run again after an interruption."""

    help = "Erase the messages of a participant in all conversations or in one. The integrity chain stays valid."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        whose = parser.add_mutually_exclusive_group(required=True)
        whose.add_argument("--participant", metavar="ID", help="the ID of the participant on the channel")
        whose.add_argument("--conversation", type=uuid.UUID, metavar="ID")
        whose.add_argument(
            "--searches",
            type=int,
            nargs="+",
            metavar="ID",
            help="entries of the access log: only what they searched for",
        )
        whose.add_argument("--saved-searches", type=int, nargs="+", metavar="ID", help="searches that users saved")
        parser.add_argument("--workspace", help="only here. Default: all")
        parser.add_argument("--channel", help="only here. Default: all")
        parser.add_argument("--by", required=True, help="the person who requests the erasure")
        parser.add_argument("--reason", required=True, help="the reason, which is recorded")
        parser.add_argument("--yes", action="store_true", help="erase. Without it, only a preview is shown")

    def handle(self, *args: Any, **options: Any) -> None:
        participant, key, within = (
            options["participant"],
            options["conversation"],
            (options["workspace"], options["channel"]),
        )
        if not options["reason"].strip() or not options["by"].strip():
            raise CommandError("--by and --reason must not be empty, because they are recorded.")
        if options["searches"] or options["saved_searches"]:
            self._erase_searches(options)
            return
        keys = [key] if key else find_conversations(participant, *within)
        if not options["yes"]:
            count = len(keys)
            self.stdout.write(
                f"{count} conversation{pluralize(count)} would be erased. Nothing was changed. Use --yes to erase."
            )
            self._list_tests("Tests that would be erased with them", keys)
            return
        who = EraseOrder(options["by"], options["reason"])
        done = Counter[str]()
        try:
            for counts in erase_conversation(key, who) if key else erase_participant(participant, who, *within):
                done.update(counts)
        except (NothingToErase, TurnInProgress) as fault:
            raise CommandError(str(fault)) from fault
        undecided = done.pop("undecided", 0)
        self.stdout.write("Erased: " + ", ".join(f"{count:,} {name}" for name, count in done.items()) + ".")
        if undecided:
            self.stdout.write(f"To be decided by a person: {undecided:,} searches or tests. The ledger lists them.")
        self._list_tests("Tests made from them, now empty", keys)

    def _erase_searches(self, options: Mapping[str, Any]) -> None:
        if not options["yes"]:
            self.stdout.write("Nothing was changed. Use --yes to erase these searches.")
            return
        erase, keys = (
            (empty_searches, options["searches"])
            if options["searches"]
            else (delete_saved_searches, options["saved_searches"])
        )
        with transaction.atomic():
            count = erase(keys, options["by"], options["reason"])
        self.stdout.write(f"Erased: {count} search{pluralize(count, 'es')}.")

    def _list_tests(self, label: str, conversations: Sequence[uuid.UUID]) -> None:
        if tests := stored_tests().list_titles(conversations):
            self.stdout.write(f"{label}: {'; '.join(tests)}.")
