"""`manage.py gradual`: look at a gradual release, stop it, give it to more or to all."""

import sys
from argparse import ArgumentParser
from typing import Any

from config_admin.commands.authors import add_author_argument, read_author
from config_admin.history.gradual.command_line import add_audience_arguments, read_audience, write_gradual_release
from config_admin.history.gradual.sides import describe_gradual_release
from config_admin.releases.audience import (
    AudienceInvalid,
    AudienceSpec,
    NotGradual,
    change_audience,
    find_gradual_release,
    give_to_all,
)
from config_admin.releases.changes import name_author
from config_admin.releases.models import CeGradualRelease
from config_admin.releases.restore_rows import RowsBelongTogether
from config_admin.releases.undo import stop_gradual_release
from convengine.engine.turn.codec import dumps
from convengine.server.admin_site.rights import PUBLISH_DRAFT
from convengine.server.deployment.exact_command import ExactCommand, ExactParser


class Command(ExactCommand):
    """The exit status is 0 when it was done; 1 when no gradual release is running, or the audience is not valid."""

    help = "Show the gradual release with the counts of both sides; stop it, or give it to more or to all."

    def add_arguments(self, parser: ArgumentParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True, parser_class=ExactParser)
        for action, about in (
            ("show", "Show the release and both sides."),
            ("stop", "Stop the gradual release: make a release equal to the one that all other conversations have."),
            ("all", "Give the release to every conversation."),
            ("audience", "Give the release to more or fewer conversations. Without --guard, the guard stays."),
        ):
            added = actions.add_parser(action, help=about)
            added.add_argument("--json", action="store_true", help="Print one JSON document instead of text.")
            if action == "stop":
                added.add_argument("--reason", default="", help="The reason, which the new release names.")
            if action in ("stop", "all"):
                add_author_argument(added, "Who does it")
            if action == "audience":
                add_audience_arguments(added)

    def handle(self, *args: Any, action: str, json: bool, **options: Any) -> None:
        try:
            row = self._do(action, options)
        except (NotGradual, AudienceInvalid, RowsBelongTogether) as refused:
            self.stdout.write(dumps({"problem": str(refused)}) if json else str(refused))
            sys.exit(1)
        self.stdout.write(dumps(describe_gradual_release(row)) if json else "\n".join(write_gradual_release(row)))

    def _do(self, action: str, options: dict[str, Any]) -> CeGradualRelease:
        author = name_author(read_author(options.get("author", ""), PUBLISH_DRAFT))
        if action == "stop":
            return stop_gradual_release(author, options["reason"])
        if action == "all":
            return give_to_all(author)
        if action == "audience":
            return change_audience(read_audience(options) or AudienceSpec(), keeps_guard=not options["guard"])
        row = find_gradual_release()
        if row is None:
            raise NotGradual
        return row
