"""`manage.py audit_anchor FILE`: note how every chain ends, in a file that is kept elsewhere."""

import argparse
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from audit.chain import anchor


class Command(BaseCommand):
    """The first time all conversations are noted, later those that went on since."""

    help = "Add to a file how the chains of all conversations end that went on since it was last written."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Where to."""
        parser.add_argument("file", type=Path)

    def handle(self, *args: Any, **options: Any) -> None:
        """Add, and say how much."""
        try:
            count = anchor.write(options["file"])
        except (OSError, anchor.Unreadable) as fault:
            raise CommandError(str(fault)) from fault
        self.stdout.write(f"{count:,} chains noted in {options['file']}.")
