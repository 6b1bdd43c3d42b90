"""`manage.py draft`: make, list and show drafts; review, publish, schedule and discard them."""

import sys
from argparse import ArgumentParser
from datetime import datetime
from typing import Any

from django.core.management.base import CommandError
from django.utils.dateparse import parse_datetime
from django.utils.timezone import is_naive, make_aware

from config_admin.commands.authors import (
    AuthorRefused,
    add_author_argument,
    read_author,
    require_rights_to_rows,
)
from config_admin.drafts.conditions import PublicationRefused
from config_admin.drafts.describe import describe_draft, describe_review
from config_admin.drafts.edits import DraftConflict, merge_edits
from config_admin.drafts.models import CeDraft, DraftStatus, ReviewKind
from config_admin.drafts.publish_draft import DraftEmpty, DraftMoved, discard_draft, publish_draft
from config_admin.drafts.review import REVIEW, ReviewRefused, add_comment, judge_draft, send_for_review
from config_admin.drafts.schedule import ScheduleRefused, cancel_schedule, schedule_draft
from config_admin.history.gradual.command_line import add_audience_arguments, read_audience
from config_admin.releases.audience import AudienceInvalid
from config_admin.releases.changes import Author, name_author
from config_admin.releases.restore_rows import RestoreRefused, RowsBelongTogether
from convengine.engine.errors import DraftRequired
from convengine.engine.turn.codec import dumps
from convengine.server.admin_site.rights import PUBLISH_DRAFT
from convengine.server.deployment.exact_command import ExactCommand, ExactParser

#: What prevents something, in words of the exception.
_REFUSALS = (
    *(DraftConflict, DraftEmpty, DraftMoved, PublicationRefused, RestoreRefused, RowsBelongTogether, DraftRequired),
    *(ReviewRefused, ScheduleRefused, AudienceInvalid, AuthorRefused),
)
#: What the pages need, by action.
_RIGHTS = {
    "create": "config_admin.add_cedraft",
    **dict.fromkeys(["send", "discard"], "config_admin.change_cedraft"),
    **dict.fromkeys(["comment", "approve", "return"], REVIEW),
    **dict.fromkeys(["publish", "schedule", "cancel"], PUBLISH_DRAFT),
}
_ACTIONS = {
    "list": "List the open drafts.",
    "create": "Make an empty draft.",
    "show": "Show what a draft would change live, its review, and what prevents publishing.",
    "send": "Send a draft for review.",
    "comment": "Comment on a draft.",
    "approve": "Approve a draft. Those who edited it cannot.",
    "return": "Return a draft with a comment.",
    "publish": "Publish a draft as one release. If a row has an error, nothing is published.",
    "schedule": "Publish a draft at a time.",
    "cancel": "Cancel the schedule of a draft.",
    "discard": "End a draft without a release.",
}
_TIME = "As 2026-12-24T08:00, in the time zone of the workspace, or with an offset."


class Command(ExactCommand):
    """The exit status is 0 when it was done, 1 when it was refused, 2 for wrong use."""

    help = "Make, list and show drafts; review, publish, schedule and discard them."

    def add_arguments(self, parser: ArgumentParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True, parser_class=ExactParser)
        added = {action: actions.add_parser(action, help=about) for action, about in _ACTIONS.items()}
        for action, each in added.items():
            each.add_argument("--json", action="store_true", help="Print one JSON document instead of text.")
            if action != "list":
                each.add_argument("title", help="The title of an open draft.")
            if action not in ("list", "show"):
                add_author_argument(each, "Who does it")
            if action in ("send", "comment", "approve", "return"):
                each.add_argument("--text", default="", help="The comment.")
            if action in ("publish", "schedule"):
                each.add_argument("--reason", default="", help="The reason for the release, after the title.")
        added["publish"].add_argument(
            "--override-gate",
            default="",
            metavar="REASON",
            help="Publish although tests of the gate did not pass; the reason stands with the release.",
        )
        added["create"].add_argument("--description", default="", help="Why, for those who review it.")
        added["send"].add_argument("--reviewer", action="append", default=[], help="A user. Repeatable.")
        added["send"].add_argument("--group", default="", help="A group of users.")
        add_audience_arguments(added["publish"])
        add_audience_arguments(added["schedule"])
        added["schedule"].add_argument("--at", required=True, help=_TIME)
        added["schedule"].add_argument("--until", default="", help=f"When the release is taken back. {_TIME}")

    def handle(self, *args: Any, action: str, json: bool, **options: Any) -> None:
        """Do it. Raises CommandError for a draft that does not exist, and for a name or time that cannot be read."""
        if action == "list":
            self._list(json)
            return
        if action == "create":
            creator = read_author(options["author"], _RIGHTS[action])
            self._create(options["title"], options["description"], name_author(creator), json)
            return
        draft = CeDraft.objects.filter(title=options["title"], status=DraftStatus.OPEN).first()
        if draft is None:
            raise CommandError(f"There is no open draft “{options['title']}”. List them: draft list.", returncode=2)
        if action == "show":
            merged = merge_edits(draft)
            self._tell(json, describe_draft(draft, merged) | describe_review(draft, merged))
            return
        try:
            author = read_author(options["author"], _RIGHTS[action])
            self._tell(json, {"draft": draft.title, **_act(action, draft, author, options)})
        except _REFUSALS as refused:
            answer = describe_draft(draft, merge_edits(draft)) if action == "publish" else {"draft": draft.title}
            published = {"published": False} if action == "publish" else {}
            self._tell(json, {**answer, **published, "problem": str(refused)})
            sys.exit(1)

    def _list(self, json: bool) -> None:
        drafts = [
            {"draft": draft.title, "changes": draft.edits.count(), "createdBy": draft.created_by}
            for draft in CeDraft.objects.filter(status=DraftStatus.OPEN).order_by("title")
        ]
        if json:
            self.stdout.write(dumps({"drafts": drafts}))
            return
        for draft in drafts:
            self.stdout.write(f"{draft['draft']}: {draft['changes']} changes, by {draft['createdBy'] or '-'}")
        if not drafts:
            self.stdout.write("No drafts are open.")

    def _create(self, title: str, description: str, author: str, json: bool) -> None:
        if CeDraft.objects.filter(title=title, status=DraftStatus.OPEN).exists():
            self._tell(json, {"draft": title, "problem": "An open draft of this title already exists."})
            sys.exit(1)
        CeDraft.objects.create(title=title[:150], description=description, created_by=author)
        self._tell(json, {"draft": title, "status": DraftStatus.OPEN.value})

    def _tell(self, json: bool, answer: dict[str, Any]) -> None:
        if json:
            self.stdout.write(dumps(answer))
            return
        for name, value in answer.items():
            if isinstance(value, list):
                for entry in value:
                    self.stdout.write(f"{name}: {' '.join(map(str, entry.values()))}")
            else:
                self.stdout.write(f"{name}: {value}")


def _act(action: str, draft: CeDraft, author: Author, options: dict[str, Any]) -> dict[str, Any]:
    """Do it, and say what was done. Raises one of `_REFUSALS`, and CommandError."""
    if action in ("publish", "schedule"):
        return _publish(action, draft, author, options)
    if action == "cancel":
        cancel_schedule(draft.pk, author)
        return {"scheduled": False}
    if action == "discard":
        discard_draft(draft.pk)
        return {"status": DraftStatus.DISCARDED.value}
    entry: Any
    if action == "send":
        entry = send_for_review(draft.pk, author, options["reviewer"], options["group"], options["text"])
    elif action == "comment":
        entry = add_comment(draft.pk, author, options["text"])
    elif not options["author"]:
        raise CommandError("Name the user who approves or returns the draft: --author NAME.", returncode=2)
    else:
        kind = ReviewKind.APPROVED if action == "approve" else ReviewKind.RETURNED
        entry = judge_draft(draft.pk, author, kind, options["text"])
    return {"entry": entry.kind, "by": entry.author_name}


def _publish(action: str, draft: CeDraft, author: Author, options: dict[str, Any]) -> dict[str, Any]:
    """Publish the draft now, or schedule it."""
    audience, reason = read_audience(options), options["reason"]
    gradual = {"isGradual": True} if audience else {}
    if action == "publish":
        merged = merge_edits(draft)
        require_rights_to_rows(author, merged.differences)
        override = options["override_gate"]
        release = publish_draft(draft.pk, author, reason, merged, audience=audience, override=override)
        return {"published": True, "release": release.pk, **gradual}
    until = _read_time(options["until"]) if options["until"] else None
    require_rights_to_rows(author, merge_edits(draft).differences)
    schedule = schedule_draft(draft.pk, author, _read_time(options["at"]), until, reason, audience)
    return {"publishAt": schedule.publish_at, "takeBackAt": schedule.take_back_at, **gradual}


def _read_time(text: str) -> datetime:
    """Raises CommandError."""
    try:
        moment = parse_datetime(text)
    except ValueError:
        moment = None
    if moment is None:
        raise CommandError(f"“{text}” is not a time. Write it {_TIME[:1].lower()}{_TIME[1:]}", returncode=2)
    return make_aware(moment) if is_naive(moment) else moment
