"""`manage.py start_flow FILE…`: make the rows of flow documents as one release, as the page Start a flow does."""

import json
from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError
from django.template.defaultfilters import pluralize

from config_admin.commands.authors import add_author_argument, read_author
from config_admin.flows.document import FlowRefused
from config_admin.flows.reading import write_flow_file
from config_admin.flows.saving import create_flow, list_flow_rights, update_flow
from config_admin.releases.change_set import change_set
from config_admin.releases.changes import Author
from config_admin.releases.models import Origin
from config_admin.transfer.apply_import import ImportFailed, ImportRefused, ImportResult
from config_admin.transfer.document import BaseRelease
from config_admin.transfer.import_report import describe_plan
from convengine.engine.errors import DraftRequired
from convengine.server.deployment.exact_command import ExactCommand


class Command(ExactCommand):
    """The exit status is 1 when a document or a row of it is refused; then nothing is made."""

    help = "Make flows from flow documents (JSON; config_admin/flows/flow.schema.json describes them)."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, metavar="FILE", nargs="+", help="All of them become one release.")
        parser.add_argument("--update", action="store_true", help="Change the existing flow of this code.")
        parser.add_argument(
            "--overwrite", action="store_true", help="Undo changes made here since the base release of the file."
        )
        parser.add_argument(
            "--update-base", action="store_true", help="Write the new release into the file as its base."
        )
        parser.add_argument("--reason", default="", help="The reason for the release. Default: the names of the files.")
        add_author_argument(parser)

    def handle(self, *args: Any, file: Sequence[Path], update: bool, **options: Any) -> None:
        """Raises CommandError when nothing was made."""
        rights = list_flow_rights(*(("change", "add", "delete") if update else ("add",)))
        author = read_author(options["author"], *rights)
        reason = options["reason"] or f"Flow of {', '.join(each.name for each in file)}"
        flows = {each: _read_flow(each) for each in file}
        try:
            with change_set(Origin.IMPORT, author, reason) as change:
                results = {
                    each: _store_flow(each, flow, update=update, overwrite=options["overwrite"], author=author)
                    for each, flow in flows.items()
                }
        except DraftRequired as refused:
            raise CommandError(refused.message) from None
        if options["update_base"] and change.release:
            base = BaseRelease(change.release.config_version, change.release.content_hash)
            for each, result in results.items():
                if result.plan.differences:
                    write_flow_file({**flows[each], "base": base._asdict()}, each)
        count = sum(len(rows) for result in results.values() for rows in result.plan.differences.values())
        done = "changed" if update else "made"
        self.stdout.write(
            f"{count} row{pluralize(count)} {done}." if count else "Nothing changed: these rows exist already."
        )


def _read_flow(file: Path) -> Any:
    """The document of a file. Raises CommandError."""
    try:
        return json.loads(file.read_text("utf-8"))
    except OSError as error:
        raise CommandError(f"{file} cannot be read: {error.strerror}.") from None
    except ValueError as error:
        raise CommandError(f"{file}: not JSON: {error}") from None


def _store_flow(file: Path, flow: Any, *, update: bool, overwrite: bool, author: Author) -> ImportResult:
    """Store a flow in the open change set. Raises CommandError, and DraftRequired."""
    try:
        if update:
            return update_flow(flow, author=author, reason="", overwrite=overwrite)
        return create_flow(flow, author=author, reason="")
    except ImportRefused as refused:
        raise CommandError("\n".join([f"{file}:", *describe_plan(refused.plan)])) from None
    except FlowRefused as refused:
        raise CommandError("\n".join(f"{file}: {problem}" for problem in refused.problems)) from None
    except ImportFailed as failed:
        raise CommandError(f"{file}: {failed}") from None
