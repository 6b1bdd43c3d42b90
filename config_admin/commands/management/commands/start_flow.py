"""`manage.py start_flow FILE`: make the rows of a flow document as one release, as the page Start a flow does."""

import json
from argparse import ArgumentParser
from functools import partial
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError
from django.template.defaultfilters import pluralize

from config_admin.commands.authors import add_author_argument, read_author
from config_admin.flows.document import FlowRefused
from config_admin.flows.flow_file import write_flow_file
from config_admin.flows.page import list_flow_rights
from config_admin.flows.saving import create_flow, update_flow
from config_admin.transfer.apply_import import ImportRefused
from config_admin.transfer.document import BaseRelease
from config_admin.transfer.import_report import describe_plan
from convengine.engine.errors import DraftRequired
from convengine.server.deployment.exact_command import ExactCommand


class Command(ExactCommand):
    """The exit status is 1 when the document or a row of it is refused; then nothing is made."""

    help = "Make a flow from a flow document (JSON; config_admin/flows/flow.schema.json describes it)."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, metavar="FILE")
        parser.add_argument("--update", action="store_true", help="Change the existing flow of this code.")
        parser.add_argument(
            "--overwrite", action="store_true", help="Undo changes made here since the base release of the file."
        )
        parser.add_argument(
            "--update-base", action="store_true", help="Write the new release into the file as its base."
        )
        parser.add_argument("--reason", default="", help="The reason for the release. Default: the name of the file.")
        add_author_argument(parser)

    def handle(self, *args: Any, file: Path, update: bool, **options: Any) -> None:
        """Raises CommandError when nothing was made."""
        rights = list_flow_rights(*(("change", "add", "delete") if update else ("add",)))
        author, reason = read_author(options["author"], *rights), options["reason"] or f"Flow of {file.name}"
        try:
            flow = json.loads(file.read_text("utf-8"))
            store_flow = partial(update_flow, overwrite=options["overwrite"]) if update else create_flow
            result = store_flow(flow, author=author, reason=reason)
            if options["update_base"] and result.release:
                base = BaseRelease(result.release.config_version, result.release.content_hash)
                write_flow_file({**flow, "base": base._asdict()}, file)
        except OSError as error:
            raise CommandError(f"{file} cannot be read: {error.strerror}.") from None
        except DraftRequired as refused:
            raise CommandError(refused.message) from None
        except ImportRefused as refused:
            raise CommandError("\n".join(describe_plan(refused.plan))) from None
        except ValueError as error:
            problems = error.problems if isinstance(error, FlowRefused) else [f"not JSON: {error}"]
            raise CommandError("\n".join(f"{file}: {problem}" for problem in problems)) from None
        count = sum(map(len, result.plan.differences.values()))
        done = "changed" if update else "made"
        self.stdout.write(
            f"{count} row{pluralize(count)} {done}." if count else "Nothing changed: these rows exist already."
        )
