"""`manage.py convengine COMMAND`: the commands of ConvEngine in a Django project of somebody else."""

import sys
from argparse import REMAINDER, ArgumentParser
from typing import Any

from convengine.cli.main import run_in_django_project
from convengine.server.deployment.exact_command import ExactCommand


class Command(ExactCommand):
    """Runs what the manual writes as `convengine COMMAND`, with the settings of the project."""

    help = "Run a command of ConvEngine. Without a command, list all."
    #: The command that it runs has checks of its own.
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("words", nargs=REMAINDER, metavar="COMMAND", help="The command with its arguments.")

    def handle(self, *args: Any, words: list[str], **options: Any) -> None:
        """Run it; its exit status is that of this command."""
        if status := run_in_django_project(words):
            sys.exit(status)
