"""Publish a draft at a time, and take its release back at another, by a job."""

import time
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from typing import Any

import structlog
from django.contrib.auth import get_user_model
from django.contrib.auth.base_user import AbstractBaseUser
from django.db import OperationalError, transaction
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.utils.timezone import localtime
from rest_framework.exceptions import APIException

from config_admin.drafts.conditions import PublicationRefused, judge_draft_gate
from config_admin.drafts.edits import DraftConflict, MergedEdits, hash_edits, merge_edits
from config_admin.drafts.models import CeDraft, CeDraftSchedule, DraftStatus, ReviewKind, ScheduleStatus
from config_admin.drafts.open_draft import DraftEnded
from config_admin.drafts.publish_draft import DraftEmpty, publish_draft
from config_admin.drafts.review import add_entry, lock_draft, send_mail_about
from config_admin.editing.confirmation import list_missing_rights
from config_admin.releases.audience import AudienceInvalid, AudienceSpec, find_gradual_release
from config_admin.releases.changes import name_author
from config_admin.releases.diff import RowDifferences, changes_of
from config_admin.releases.head import lock_head
from config_admin.releases.models import CeRelease, Origin
from config_admin.releases.restore_rows import RestoreRefused, RowsBelongTogether
from config_admin.releases.undo import RevertConflict, revert_release, stop_gradual_release
from config_admin.test_cases.gate import read_gate_tags
from config_admin.test_cases.runs import SelectedTests, create_run, iterate_run, test_runs
from convengine.engine.errors import DraftRequired
from convengine.engine.turn.job import Counts, Every, Job
from convengine.server.admin_site.rights import PUBLISH_DRAFT
from convengine.server.api.authentication import require_key
from convengine.server.database.sql import database_time
from convengine.server.interfaces.configuration import ConfigurationName

log = structlog.get_logger(__name__)
#: What an API key needs to schedule a draft.
SCOPE = "config"
#: Who takes a release back when the user or the key of its schedule is gone.
SCHEDULER = "schedule"
#: How long the tests of one draft may run at its time, in seconds, and how often live changes make them run again.
_TESTED_FOR, _RUNS = 900, 3


class ScheduleRefused(ValueError):
    """The schedule cannot be made or done; the message says why."""


def schedule_draft(
    draft_id: int,
    author: Any,
    publish_at: datetime,
    take_back_at: datetime | None = None,
    reason: str = "",
    audience: AudienceSpec | None = None,
    api_key: str = "",
) -> CeDraftSchedule:
    """Publish the draft at a time, as it is now; the schedule before, if any, is cancelled.

    `take_back_at`: when its release is taken back; None for never. `audience`: who gets the release; None for all.
    `api_key`: the prefix of the key that asks for it. Raises DraftEnded, ScheduleRefused, AudienceInvalid.
    """
    if audience:
        audience.validate()
    if publish_at <= database_time():
        raise ScheduleRefused("The time has passed. Choose a later one, or publish now.")
    if take_back_at and take_back_at <= publish_at:
        raise ScheduleRefused("The end must be after the time of publishing.")
    user: Any = author if isinstance(author, AbstractBaseUser) else None
    with transaction.atomic():
        draft = lock_draft(draft_id)
        if not draft.edits.exists():
            raise ScheduleRefused("The draft has no changes yet, so there is nothing to publish.")
        draft.schedules.filter(status=ScheduleStatus.WAITING).update(status=ScheduleStatus.CANCELLED)
        _dismiss_failures(draft)
        schedule = CeDraftSchedule.objects.create(
            draft=draft,
            publish_at=publish_at,
            take_back_at=take_back_at,
            reason=reason,
            edits_hash=hash_edits(draft),
            author=user,
            author_name=name_author(author),
            api_key=api_key,
            people=_list_people(draft, user),
            audience=audience and audience.to_json(),
        )
        end = f", take back at {format_time(take_back_at)}" if take_back_at else ""
        add_entry(draft, ReviewKind.SCHEDULED, author, f"Publish at {format_time(publish_at)}{end}")
    return schedule


def cancel_schedule(draft_id: int, author: Any) -> None:
    """Cancel what is still to be done for a draft: publishing it, or taking its release back. Also hides a failure.

    Raises ScheduleRefused if nothing is to be done, and CeDraft.DoesNotExist.
    """
    with transaction.atomic():
        draft = CeDraft.objects.select_for_update().get(pk=draft_id)
        cancelled = draft.schedules.filter(_PENDING).update(status=ScheduleStatus.CANCELLED)
        if not cancelled and not _dismiss_failures(draft):
            raise ScheduleRefused("Nothing is scheduled for this draft any more.")
        if cancelled:
            add_entry(draft, ReviewKind.CANCELLED, author)


#: Schedules with something still to be done.
_PENDING = Q(status=ScheduleStatus.WAITING) | Q(status=ScheduleStatus.PUBLISHED, take_back_at__isnull=False)
#: The schedules that are still to be done, or that failed.
UNSETTLED = _PENDING | Q(status=ScheduleStatus.FAILED)


def find_schedule(draft: CeDraft) -> CeDraftSchedule | None:
    """The schedule of a draft that is still to be done, or that failed."""
    return draft.schedules.filter(UNSETTLED).order_by("-id").first()


def list_schedules() -> list[CeDraftSchedule]:
    """All schedules that are still to be done, or that failed, the next one first."""
    wanted = CeDraftSchedule.objects.filter(UNSETTLED)
    return list(wanted.select_related("draft").order_by("publish_at")[:50])


def run_schedules() -> Iterator[Counts]:
    """Publish the drafts and take back the releases whose time has come."""
    now = database_time()
    for schedule in _list_due(Q(status=ScheduleStatus.WAITING, publish_at__lte=now)):
        yield from _run_gate_tests(schedule)
        yield _attempt(schedule, _publish, ReviewKind.NOT_PUBLISHED, "published")
    for schedule in _list_due(Q(status=ScheduleStatus.PUBLISHED, take_back_at__lte=now)):
        yield _attempt(schedule, _take_back, ReviewKind.NOT_TAKEN_BACK, "taken_back")


def _list_due(due: Q) -> Iterable[CeDraftSchedule]:
    return list(CeDraftSchedule.objects.filter(due).select_related("draft", "author").order_by("publish_at"))


def _attempt(
    schedule: CeDraftSchedule, work: Callable[[CeDraftSchedule], None], failure: ReviewKind, success: str
) -> Counts:
    """Do the work of a schedule, and count how it ended. A refusal or a failure is noted at the schedule.

    Nothing is counted if the draft has ended meanwhile. Raises OperationalError: the next run tries again.
    """
    try:
        with transaction.atomic():
            work(schedule)
    except DraftEnded:
        _find_unchanged(schedule).update(status=ScheduleStatus.CANCELLED)
        return {}
    except (
        *(DraftConflict, DraftEmpty, PublicationRefused, RestoreRefused, RevertConflict, RowsBelongTogether),
        *(AudienceInvalid, DraftRequired, ScheduleRefused),
    ) as error:
        _note_failure(schedule, failure, str(error))
        return {"refused": 1}
    except OperationalError:
        # The database was busy or away: the next run tries again.
        raise
    except Exception as error:
        # Other schedules go on.
        log.exception("scheduled draft failed", draft=schedule.draft.title)
        _note_failure(schedule, failure, f"An internal error prevented it: {type(error).__name__}.")
        return {"failed": 1}
    return {success: 1}


def _publish(schedule: CeDraftSchedule) -> None:
    """Publish the draft of a waiting schedule. Raises DraftEnded, ScheduleRefused, and what `publish_draft` raises."""
    lock_head()
    draft = lock_draft(schedule.draft_id)
    if not draft.schedules.filter(pk=schedule.pk, status=ScheduleStatus.WAITING).exists():
        raise DraftEnded(schedule.draft_id)
    if obstacle := find_obstacle(schedule, merge_edits(draft)):
        raise ScheduleRefused(obstacle)
    audience = AudienceSpec.read(schedule.audience) if schedule.audience else None
    publish_draft(draft.pk, schedule.author or schedule.author_name, schedule.reason, audience=audience)
    draft.schedules.filter(pk=schedule.pk).update(status=ScheduleStatus.PUBLISHED)


def find_obstacle(schedule: CeDraftSchedule, merged: MergedEdits) -> str:
    """Why a waiting schedule is held; blank if nothing does.

    Somebody who stands for it is gone, the draft is another one, or it has conflicts.
    """
    if obstacle := next(_check_people(schedule, merged), ""):
        return f"{obstacle} Look at the changes, then schedule it again."
    if schedule.edits_hash != hash_edits(schedule.draft):
        return "The draft was edited after it was scheduled. Look at the changes, then schedule it again."
    return str(DraftConflict(list(merged.conflicts))) if merged.conflicts else ""


def _list_people(draft: CeDraft, author: Any) -> list[str]:
    """The names of those who must still be active then, without those who never were users."""
    names = [*([name_author(author)] if author else []), *([draft.created_by] if _find_user(draft.created_by) else [])]
    return list(dict.fromkeys(names))


def _check_people(schedule: CeDraftSchedule, merged: MergedEdits) -> Iterator[str]:
    """A sentence for each person, and for the API key, who may no longer publish what was scheduled."""
    yield from _check_author(schedule, merged.differences)
    for name in schedule.people:
        if name != schedule.author_name:
            yield from _check_user(
                _find_user(name), f"{name}, who owns the draft,", "config_admin.change_cedraft", "change"
            )


def find_loss(schedule: CeDraftSchedule) -> str:
    """Why `schedule` takes the release back instead of the author; blank if the author may still do it."""
    release = CeRelease.objects.filter(pk=schedule.draft.config_version or 0).first()
    changes = changes_of(release) if release else {}
    return next(_check_author(schedule, changes), "")


def _check_author(schedule: CeDraftSchedule, changes: RowDifferences) -> Iterator[str]:
    """Sentences if the user or the API key that scheduled it could not make these changes now."""
    if schedule.api_key:
        try:
            require_key(schedule.api_key, SCOPE)
        except APIException as refused:
            yield f"It was scheduled with the API key {schedule.api_key}…. {refused.detail}"
    author: Any = schedule.author
    who = f"{schedule.author_name}, who scheduled it,"
    if schedule.author_name in schedule.people:
        yield from _check_user(author, who, PUBLISH_DRAFT, "publish")
    if author:
        request = HttpRequest()
        request.user = author
        if list_missing_rights(request, changes):
            yield f"{who} may not make all of its changes any more."


def _check_user(user: Any, who: str, right: str, deed: str) -> Iterator[str]:
    """A sentence if the user is gone, not active, or has not the right. `deed`: what the right allows, as a verb."""
    if user is None:
        yield f"{who} has no account any more."
    elif not user.is_active:
        yield f"{who} is not active any more."
    elif not user.has_perm(right):
        yield f"{who} may not {deed} drafts any more."


def _find_user(name: str) -> Any:
    users: Any = get_user_model()
    return users.objects.filter(**{users.USERNAME_FIELD: name}).first() if name else None


def _run_gate_tests(schedule: CeDraftSchedule) -> Iterator[Counts]:
    """Run the tests of the gate that have no result on the draft over what is live now, for a bounded time.

    A live change removes the results of earlier runs. The attempt to publish reports the tests that fail.
    """
    deadline = time.monotonic() + _TESTED_FOR
    try:
        for _ in range(_RUNS):
            draft = CeDraft.objects.filter(pk=schedule.draft_id, status=DraftStatus.OPEN).first()
            if draft is None or find_obstacle(schedule, merge_edits(draft)) or not judge_draft_gate(draft).missing:
                return
            tags = SelectedTests(tags=read_gate_tags())
            run = create_run(ConfigurationName("draft", draft.pk), tags, schedule.author_name)
            for _ in iterate_run(run.pk):
                yield {}
                if time.monotonic() > deadline:
                    test_runs.cancel(run.pk)
                    return
    except OperationalError:
        raise
    except Exception:
        log.exception("tests of a scheduled draft failed", draft=schedule.draft.title)


def _take_back(schedule: CeDraftSchedule) -> None:
    """Take back the release of a draft, even if its author has left: its content was never meant to stay.

    A gradual release is stopped. Raises ScheduleRefused if there is no release, DraftEnded if the schedule changed
    meanwhile, and what `revert_release` raises.
    """
    draft = schedule.draft
    if draft.config_version is None:
        raise ScheduleRefused("The draft has no release.")
    loss = find_loss(schedule)
    author = SCHEDULER if loss else schedule.author or schedule.author_name
    reason, gradual = f"{draft.title}: taken back as scheduled", find_gradual_release()
    if loss:
        reason += f" ({loss})"
    if gradual and gradual.config_version == draft.config_version:
        stop_gradual_release(name_author(author), reason, gradual.pk)
    else:
        revert_release(draft.config_version, author=author, reason=reason, origin=Origin.DRAFT)
    waiting = CeDraftSchedule.objects.filter(pk=schedule.pk, status=ScheduleStatus.PUBLISHED)
    if not waiting.update(status=ScheduleStatus.ENDED):
        raise DraftEnded(draft.pk)
    add_entry(draft, ReviewKind.TAKEN_BACK, author, loss)


def _note_failure(schedule: CeDraftSchedule, kind: ReviewKind, problem: str) -> None:
    """Mark a schedule as failed, and tell its authors; nothing happens if the schedule was changed meanwhile."""
    draft = schedule.draft
    log.warning("scheduled draft refused", draft=draft.title, problem=problem)
    with transaction.atomic():
        if not _find_unchanged(schedule).update(status=ScheduleStatus.FAILED, problem=problem):
            return
        add_entry(draft, kind, "", problem)
        lines = [f"The draft “{draft.title}” was {str(kind.label).lower()}.", problem]
        names = dict.fromkeys([draft.created_by, schedule.author_name])
        send_mail_about(draft, f"Draft “{draft.title}”: {str(kind.label).lower()}", lines, names)


def _find_unchanged(schedule: CeDraftSchedule) -> QuerySet[CeDraftSchedule]:
    """Its row, unless somebody cancelled it, or another process did it meanwhile."""
    return CeDraftSchedule.objects.filter(pk=schedule.pk, status=schedule.status)


def _dismiss_failures(draft: CeDraft) -> int:
    return draft.schedules.filter(status=ScheduleStatus.FAILED).update(status=ScheduleStatus.CANCELLED)


def format_time(moment: datetime) -> str:
    """In the time zone of the workspace, such as `Mon 5 Oct 2026 08:00 CEST`."""
    local = localtime(moment)
    return f"{local:%a} {local.day} {local:%b %Y %H:%M %Z}"


JOB = Job(
    "publish_scheduled_drafts",
    "Publish scheduled drafts",
    "Publishes drafts whose time has come, and takes their releases back at the end of their time.",
    Every(30),
    run_schedules,
)
