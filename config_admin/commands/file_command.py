"""What `apply` and `config_import` share: their file, its author and reason, and their exit status."""

import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import NoReturn

from config_admin.commands.authors import add_author_argument
from convengine.server.deployment.exact_command import ExactCommand

#: The exit status of a preview that found changes; an error has 1.
WOULD_CHANGE = 2


class FileCommand(ExactCommand):
    """Applies a file, or says what it would change."""

    _would_change = False

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, metavar="FILE")
        parser.add_argument("--reason", default="", help="The reason for the release. Default: the name of the file.")
        add_author_argument(parser)

    def exit_from_preview(self, *, would_change: bool) -> NoReturn:
        """End a preview with the status of what it found."""
        self._would_change = would_change
        sys.exit(WOULD_CHANGE if would_change else 0)

    def run_from_argv(self, argv: list[str]) -> None:
        """Errors of usage, which end with 2 elsewhere, end with 1."""
        try:
            super().run_from_argv(argv)
        except SystemExit as ended:
            sys.exit(1 if ended.code and not self._would_change else ended.code)
