"""`manage.py save_scenario CONVERSATION`: a conversation, or some of its turns, as a scenario file."""

import re
import uuid
from argparse import ArgumentParser, ArgumentTypeError
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from audit.export.scenario.document import build_passing_scenario, scenario_name
from audit.export.scenario.recorded_turns import NotExportable
from convengine.play.loading import dump_yaml
from convengine.server.deployment.exact_command import ExactCommand
from convengine.server.sessions.models import CeConversation

_RANGE = re.compile(r"^(\d{1,9})(?:-(\d{1,9}))?$")


def turns(given: str) -> tuple[int, int]:
    """A turn, or a range of turns such as `3-7`. Raises ArgumentTypeError."""
    match = _RANGE.match(given)
    if match is None:
        raise ArgumentTypeError(f"{given!r} is not a turn or a range of turns such as 3-7.")
    return int(match[1]), int(match[2] or match[1])


class Command(ExactCommand):
    """Writes the file for `manage.py scenarios FILE`, and prints its name."""

    help = "Save a conversation or some of its turns as a scenario file, with recorded answers and configuration."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("conversation", type=uuid.UUID)
        parser.add_argument("--turns", type=turns, default=(None, None), help="One, or a range such as 3-7.")
        parser.add_argument("-o", "--output", type=Path, help="The file; its name becomes the scenario's id.")

    def handle(self, *args: Any, conversation: uuid.UUID, output: Path | None, **options: Any) -> None:
        """Save, if the file passes when it is played. Raises CommandError."""
        row = CeConversation.objects.filter(pk=conversation).first()
        if row is None:
            raise CommandError(f"The conversation does not exist: {conversation}.")
        first, last = options["turns"]
        file = output or Path(f"{scenario_name(row, first, last)}.yaml")
        try:
            document = build_passing_scenario(row, first, last, named=file.stem)
        except NotExportable as error:
            raise CommandError(str(error)) from error
        file.write_text(dump_yaml(document), encoding="utf-8")
        self.stdout.write(f"{file}: {len(document['turns'])} turns")
