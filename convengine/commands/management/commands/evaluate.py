"""`manage.py evaluate`: how well a configuration of the project understands messages."""

import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from convengine.cli import evaluate as cli
from convengine.evaluation.configuration import evaluate_messages, validate_configuration
from convengine.evaluation.cross_validation import Progress
from convengine.evaluation.labelled import read_files
from convengine.server.admin_site.configuration_choice import read_name
from convengine.server.deployment.exact_command import ExactCommand
from convengine.server.interfaces.configuration import named_configurations


class Command(ExactCommand):
    """The exit status is 0, 1 when a required measure is not reached, and 2 when nothing could be evaluated."""

    help = "Measure how well messages are understood: labelled ones, or the phrases without themselves."

    def add_arguments(self, parser: ArgumentParser) -> None:
        cli.add_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            name = read_name(options["configuration"])
        except ValueError as refused:
            raise CommandError(str(refused), returncode=cli.IMPOSSIBLE) from refused

        def evaluate(report: Progress) -> dict[str, Any]:
            snapshot = named_configurations().read(name)
            if not options["files"]:
                document = validate_configuration(snapshot, folds=options["folds"], report=report)
            else:
                files = read_files(options["files"])
                document = evaluate_messages(snapshot, files.messages, report=report)
                document["notes"] = [*files.notes, *document["notes"]]
            return {"configuration": str(name), "configVersion": snapshot.config_version, **document}

        if status := cli.run(options, evaluate):
            sys.exit(status)
