"""`manage.py audit_anchor FILE`: append the ends of all chains to a file elsewhere."""

import argparse
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from audit.integrity import anchor
from convengine.server.deployment.exact_command import ExactCommand


class Command(ExactCommand):
    """The first run adds all conversations, later ones those with new turns."""

    help = "Append the latest seals of all changed conversations to an anchor file."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("file", type=Path)

    def handle(self, *args: Any, **options: Any) -> None:
        """Append, and print how many."""
        try:
            count = anchor.write_anchor(options["file"])
        except (OSError, anchor.UnreadableAnchor) as fault:
            raise CommandError(str(fault)) from fault
        self.stdout.write(f"{count:,} chains written to {options['file']}.")
