"""`manage.py audit_anchor FILE`: write a root, and append the roots with their ends of chains to a file elsewhere."""

import argparse
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError
from django.db import transaction

from audit.integrity.ledger import AnchorFailed, copy_roots, create_root
from convengine.server.deployment.exact_command import ExactCommand


class Command(ExactCommand):
    """The first run adds all conversations, later ones those with new turns."""

    help = "Append the latest seals of all changed conversations to an anchor file."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("file", type=Path)

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            with transaction.atomic():
                create_root("audit_anchor", "for an anchor file")
                count = copy_roots(options["file"])
        except AnchorFailed as fault:
            raise CommandError(str(fault)) from fault
        self.stdout.write(f"{count:,} chains written to {options['file']}.")
