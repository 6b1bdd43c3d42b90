"""`manage.py config_rollback N`: make every row what it was in release N, as a new release."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from config_admin.commands.authors import add_author_argument, read_author, require_rights, require_rights_to_rows
from config_admin.history.release_admin import UNDONE_BY_EDITORS
from config_admin.releases.queries import NoSuchRelease, release_of
from config_admin.releases.restore_rows import RestoreRefused, RowsBelongTogether
from config_admin.releases.undo import RevertConflict
from config_admin.transfer.import_report import describe_differences, serialize_differences, serialize_stranded
from config_admin.transfer.restore_release import plan_restore, restore_release
from convengine.engine.errors import DraftRequired
from convengine.engine.turn.codec import dumps
from convengine.server.admin_site.rights import ROLL_BACK
from convengine.server.deployment.exact_command import ExactCommand


class Command(ExactCommand):
    """Nothing is lost: every release stays, and the roll-back can be rolled back."""

    help = "Roll back to release N as a new release. With --undo, take back only what release N changed."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("release", type=int, metavar="N", help="The number of a release.")
        parser.add_argument("--undo", action="store_true", help="Undo the changes of release N and keep later ones.")
        parser.add_argument("--preview", action="store_true", help="Show what would change. Changes nothing.")
        parser.add_argument("--reason", default="", help="The reason for the release.")
        add_author_argument(parser)
        parser.add_argument("--json", action="store_true", help="Print one JSON document instead of text.")

    def handle(self, *args: Any, release: int, undo: bool, preview: bool, json: bool, **options: Any) -> None:
        """Print, and roll back. Raises CommandError for an unknown release, and for rows that may not come back."""
        try:
            plan = plan_restore(release, only=undo)
            author, reason = read_author(options["author"]), options["reason"]
            if undo and release_of(release).origin in UNDONE_BY_EDITORS:
                require_rights_to_rows(author, plan.differences)
            else:
                require_rights(author, ROLL_BACK)
            made = None if preview else restore_release(release, only=undo, author=author, reason=reason)
        except (NoSuchRelease, RestoreRefused, RevertConflict, RowsBelongTogether) as error:
            raise CommandError(str(error)) from None
        except DraftRequired as refused:
            raise CommandError(refused.message) from None
        number = made.config_version if made else None
        if json:
            diff, stranded = serialize_differences(plan.differences), serialize_stranded(plan.stranded)
            self.stdout.write(dumps({"release": number, "diff": diff, "stranded": stranded}))
            return
        for line in describe_differences(plan.differences):
            self.stdout.write(line)
        for each in plan.stranded:
            self.stdout.write(f"Warning: {each}")
        if preview:
            self.stdout.write("Nothing was changed.")
        else:
            self.stdout.write(f"Made release {number}." if number else "There is nothing to change.")
