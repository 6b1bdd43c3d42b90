"""A draft is published at its time, and its release is taken back at the end, or both say why not."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import Group, Permission, User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from config_admin import models as m
from config_admin.drafts.open_draft import open_draft
from config_admin.drafts.publish_draft import discard_draft, publish_draft
from config_admin.drafts.schedule import (
    ScheduleRefused,
    cancel_schedule,
    find_schedule,
    list_schedules,
    run_schedules,
    schedule_draft,
)
from config_admin.releases import head
from config_admin.releases.audience import AudienceInvalid, AudienceSpec, Guard, find_gradual_release
from config_admin.releases.change_set import change_set
from convengine.engine.errors import GradualReleaseRunning
from convengine.server.api.models import CeApiKey
from convengine.server.jobs.running import all_jobs
from tests.config_admin.builders import make
from tests.config_admin.test_cases.builders import make_test
from tests.sign_in import sign_in_superuser

pytestmark = [pytest.mark.django_db, pytest.mark.dialects]


@pytest.fixture
def ada() -> User:
    user = User.objects.create_user("ada", is_staff=True)
    user.groups.add(Group.objects.get(name="analyst"))
    return user


@pytest.fixture
def draft(ada: User) -> m.CeDraft:
    with change_set():
        make(m.CeIntent, intent_code="HOURS", description="Before")
    draft = m.CeDraft.objects.create(title="Christmas hours", created_by="ada")
    edit(draft, ada, "Christmas")
    return draft


@pytest.fixture
def root() -> Client:
    return sign_in_superuser("root")


def edit(draft: m.CeDraft, user: User, description: str) -> None:
    with open_draft(draft.pk, user, writing=True), change_set():
        m.CeIntent.objects.filter(pk="HOURS").update(description=description)


def in_hours(hours: int) -> Any:
    return timezone.now() + timedelta(hours=hours)


def schedule(draft: m.CeDraft, user: User, *, ends: bool = False) -> m.CeDraftSchedule:
    return schedule_draft(draft.pk, user, in_hours(1), in_hours(3) if ends else None, "agreed")


def pass_time(**columns: Any) -> dict[str, int]:
    """The times of all schedules have come."""
    m.CeDraftSchedule.objects.update(**columns or {"publish_at": in_hours(-1)})
    counts: dict[str, int] = {}
    for batch in run_schedules():
        counts.update(batch)
    return counts


def read_live() -> str:
    return str(m.CeIntent.objects.get(pk="HOURS").description)


def test_a_draft_is_published_at_its_time(draft: m.CeDraft, ada: User) -> None:
    schedule(draft, ada)
    assert list(run_schedules()) == []
    before = head.newest()
    assert pass_time() == {"published": 1}
    release = m.CeRelease.objects.get(pk=before + 1)
    assert (read_live(), release.author, release.reason) == ("Christmas", "ada", "Christmas hours: agreed")
    assert pass_time() == {}
    assert list_schedules() == []
    assert "publish_scheduled_drafts" in all_jobs()


def test_a_release_is_taken_back_at_the_end(draft: m.CeDraft, ada: User) -> None:
    schedule(draft, ada, ends=True)
    pass_time()
    m.CeIntent.objects.filter(pk="HOURS").update(display_name="Later")
    assert list_schedules()[0].status == "PUBLISHED"
    before = head.newest()
    assert pass_time(take_back_at=in_hours(-1)) == {"taken_back": 1}
    assert (read_live(), m.CeIntent.objects.get(pk="HOURS").display_name) == ("Before", "Later")
    assert m.CeRelease.objects.get(pk=head.newest()).reason == "Christmas hours: taken back as scheduled"
    assert head.newest() == before + 1
    assert list_schedules() == []


def test_two_processes_take_a_release_back_once(draft: m.CeDraft, ada: User, monkeypatch: pytest.MonkeyPatch) -> None:
    schedule(draft, ada, ends=True)
    pass_time(publish_at=timezone.now())
    m.CeDraftSchedule.objects.update(take_back_at=in_hours(-1))
    seen_by_both = list(m.CeDraftSchedule.objects.select_related("draft", "author"))
    list(run_schedules())
    releases = head.newest()

    due = iter([[], seen_by_both])
    monkeypatch.setattr("config_admin.drafts.schedule._list_due", lambda _: next(due))
    list(run_schedules())
    assert m.CeDraftSchedule.objects.get().status == "ENDED"
    assert head.newest() == releases


def test_where_changes_are_reviewed_a_release_is_taken_back_too(draft: m.CeDraft, ada: User) -> None:
    m.CeConfig.objects.create(config_type="Releases", config_key="MODE", config_value="REVIEWED")
    schedule(draft, ada, ends=True)
    pass_time()
    assert pass_time(take_back_at=in_hours(-1)) == {"taken_back": 1}


def test_an_end_that_conflicts_with_later_edits_is_told(draft: m.CeDraft, ada: User) -> None:
    schedule(draft, ada, ends=True)
    pass_time()
    m.CeIntent.objects.filter(pk="HOURS").update(description="Later")
    assert pass_time(take_back_at=in_hours(-1)) == {"refused": 1}
    assert read_live() == "Later"
    failed = find_schedule(draft)
    assert failed is not None
    assert (failed.status, "Later releases changed these rows again" in failed.problem) == ("FAILED", True)
    assert pass_time(take_back_at=in_hours(-1)) == {}


def test_a_conflict_at_the_time_leaves_the_draft_open(draft: m.CeDraft, ada: User, root: Client) -> None:
    schedule(draft, ada)
    m.CeIntent.objects.filter(pk="HOURS").update(description="Live")
    page = root.get(reverse("admin:config_admin_cedraft_change", args=[draft.pk])).content.decode()
    assert "It will not be published then. 1 row was changed live and in the draft, differently." in page
    assert pass_time() == {"refused": 1}
    draft.refresh_from_db()
    failed = find_schedule(draft)
    assert failed is not None
    assert (draft.status, failed.status) == ("OPEN", "FAILED")
    assert draft.reviews.order_by("-id")[0].kind == "NOT_PUBLISHED"
    cancel_schedule(draft.pk, ada)
    assert find_schedule(draft) is None


def test_missing_approvals_leave_the_draft_open(draft: m.CeDraft, ada: User) -> None:
    m.CeConfig.objects.create(config_type="Releases", config_key="APPROVALS", config_value="1")
    schedule(draft, ada)
    assert pass_time() == {"refused": 1}
    failed = find_schedule(draft)
    assert failed is not None
    assert "1 person must approve" in failed.problem


def test_an_edit_after_scheduling_is_not_published(draft: m.CeDraft, ada: User) -> None:
    schedule(draft, ada)
    edit(draft, ada, "Something else")
    assert pass_time() == {"refused": 1}
    assert read_live() == "Before"


def lose_account(user: User) -> None:
    user.delete()


def lose_activity(user: User) -> None:
    User.objects.filter(pk=user.pk).update(is_active=False)


def lose_rights(user: User) -> None:
    user.groups.clear()


def lose_rights_to_rows(user: User) -> None:
    user.groups.clear()
    codes = ("publish_draft", "change_cedraft")
    user.user_permissions.set(Permission.objects.filter(codename__in=codes))


LOSSES_OF_USERS = [
    (lose_account, "ada, who scheduled it, has no account any more."),
    (lose_activity, "ada, who scheduled it, is not active any more."),
    (lose_rights, "ada, who scheduled it, may not publish drafts any more."),
    (lose_rights_to_rows, "ada, who scheduled it, may not make all of its changes any more."),
]


@pytest.mark.parametrize(("loss", "why"), LOSSES_OF_USERS)
def test_who_is_gone_or_lost_the_right_publishes_nothing(
    draft: m.CeDraft, ada: User, root: Client, loss: Callable[[User], None], why: str
) -> None:
    schedule(draft, ada)
    loss(ada)
    page = reverse("admin:config_admin_cedraft_change", args=[draft.pk])
    assert f"It will not be published then. {why}" in root.get(page).content.decode()
    assert pass_time() == {"refused": 1}
    assert read_live() == "Before"
    for url in (page, reverse("admin:index")):
        assert why in root.get(url).content.decode()


def test_a_draft_whose_owner_is_gone_is_held(draft: m.CeDraft, ada: User) -> None:
    ben = User.objects.create_superuser("ben")
    schedule(draft, ben)
    lose_account(ada)
    assert pass_time() == {"refused": 1}
    failed = find_schedule(draft)
    assert failed is not None
    assert failed.problem.startswith("ada, who owns the draft, has no account any more.")
    schedule(draft, ben)
    assert pass_time() == {"published": 1}


def test_a_pipeline_schedules_without_a_user(draft: m.CeDraft) -> None:
    schedule_draft(draft.pk, "API key of the pipeline", in_hours(1))
    assert pass_time() == {"published": 1}


def test_the_tests_of_the_gate_run_at_the_time(draft: m.CeDraft, ada: User) -> None:
    add_gate({"user": "hi", "expect": {"intent": "UNKNOWN"}})
    schedule(draft, ada)
    # A live edit: no test has a result on the draft over it.
    write_live("Later")
    assert pass_time() == {"published": 1}
    run = m.CeTestRun.objects.get()
    assert (run.passed, run.started_by, run.selection) == (1, "ada", {"tags": ["smoke"]})


def test_a_draft_whose_tests_fail_at_the_time_says_which(draft: m.CeDraft, ada: User) -> None:
    add_gate({"user": "hi", "expect": {"intent": "HOURS"}})
    schedule(draft, ada)
    assert pass_time() == {"refused": 1}
    failed = find_schedule(draft)
    assert failed is not None
    assert failed.problem == "1 test fails on this draft: “Of the gate”."
    assert pass_time() == {}


def test_tests_that_take_too_long_are_ended(draft: m.CeDraft, ada: User, monkeypatch: pytest.MonkeyPatch) -> None:
    add_gate({"user": "hi", "expect": {"intent": "UNKNOWN"}})
    monkeypatch.setattr("config_admin.drafts.schedule._TESTED_FOR", -1)
    monkeypatch.setattr("convengine.server.jobs.background_runs.REPORT_SECONDS", 0)
    schedule(draft, ada)
    make_test("Another one", {"user": "hi", "expect": {"intent": "UNKNOWN"}}, tags=("smoke",))
    assert pass_time() == {"refused": 1}
    assert m.CeTestRun.objects.get().status == "CANCELLED"
    failed = find_schedule(draft)
    assert failed is not None
    assert "1 test has no result" in failed.problem


def test_a_release_for_a_part_is_published_and_stopped_at_its_times(draft: m.CeDraft, ada: User) -> None:
    audience = AudienceSpec(share=10, guard=Guard("ERRORS"))
    schedule_draft(draft.pk, ada, in_hours(1), in_hours(3), "agreed", audience)
    assert pass_time() == {"published": 1}
    row = find_gradual_release()
    assert row is not None
    assert (row.share, row.guard_metric, row.status) == (10, "ERRORS", "RUNNING")
    assert pass_time(take_back_at=in_hours(-1)) == {"taken_back": 1}
    assert (find_gradual_release(), read_live()) == (None, "Before")


def test_an_audience_of_nobody_is_not_scheduled(draft: m.CeDraft, ada: User) -> None:
    with pytest.raises(AudienceInvalid):
        schedule_draft(draft.pk, ada, in_hours(1), audience=AudienceSpec())


def add_gate(turn: dict[str, Any]) -> None:
    with change_set():
        m.CeConfig.objects.create(config_type="Releases", config_key="GATE", config_value="smoke")
    make_test("Of the gate", turn, tags=("smoke",))


def write_live(description: str) -> None:
    with change_set():
        make(m.CeIntent, intent_code="OTHER", description=description)


def test_an_internal_error_of_one_schedule_does_not_stop_the_others(
    draft: m.CeDraft, ada: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    schedule(draft, ada)

    def fail(*args: Any, **values: Any) -> None:
        raise RuntimeError("no")

    monkeypatch.setattr("config_admin.drafts.schedule.publish_draft", fail)
    assert pass_time() == {"failed": 1}
    failed = find_schedule(draft)
    assert failed is not None
    assert failed.problem == "An internal error prevented it: RuntimeError."


def test_an_end_waits_for_no_gradual_release(draft: m.CeDraft, ada: User, monkeypatch: pytest.MonkeyPatch) -> None:
    schedule(draft, ada, ends=True)
    pass_time()

    def refuse(*args: Any, **values: Any) -> None:
        raise GradualReleaseRunning

    monkeypatch.setattr("config_admin.drafts.schedule.revert_release", refuse)
    assert pass_time(take_back_at=in_hours(-1)) == {"refused": 1}
    failed = find_schedule(draft)
    assert failed is not None
    assert "A gradual release is running" in failed.problem


def test_a_schedule_is_cancelled_and_replaced(draft: m.CeDraft, ada: User) -> None:
    schedule(draft, ada)
    second = schedule(draft, ada)
    assert [each.pk for each in list_schedules()] == [second.pk]
    cancel_schedule(draft.pk, ada)
    assert pass_time() == {}
    with pytest.raises(ScheduleRefused):
        cancel_schedule(draft.pk, ada)


def test_an_ended_draft_has_no_schedule(draft: m.CeDraft, ada: User) -> None:
    schedule(draft, ada, ends=True)
    publish_draft(draft.pk, ada)
    assert list_schedules() == []
    second = m.CeDraft.objects.create(title="New Year")
    edit(second, ada, "New Year")
    schedule(second, ada)
    discard_draft(second.pk)
    assert pass_time() == {}


def test_times_are_ahead_and_in_order(draft: m.CeDraft, ada: User) -> None:
    for times in ((in_hours(-1), None), (in_hours(2), in_hours(1))):
        with pytest.raises(ScheduleRefused):
            schedule_draft(draft.pk, ada, *times)
    with pytest.raises(ScheduleRefused, match="no changes"):
        schedule_draft(m.CeDraft.objects.create(title="Nothing").pk, ada, in_hours(1))


def revoke(key: CeApiKey, maker: User) -> None:
    CeApiKey.objects.filter(pk=key.pk).update(revoked=True)


def expire(key: CeApiKey, maker: User) -> None:
    CeApiKey.objects.filter(pk=key.pk).update(expiry_date=in_hours(-1))


def delete_key(key: CeApiKey, maker: User) -> None:
    key.delete()


def remove_scope(key: CeApiKey, maker: User) -> None:
    CeApiKey.objects.filter(pk=key.pk).update(scopes=["turns"])


def remove_group(key: CeApiKey, maker: User) -> None:
    maker.groups.clear()


def deactivate_maker(key: CeApiKey, maker: User) -> None:
    lose_activity(maker)


LOSSES_OF_KEYS = [
    (revoke, "This API key was revoked."),
    (expire, "This API key has expired."),
    (delete_key, "This API key does not exist any more."),
    (remove_scope, "This API key does not have the scope config"),
    (remove_group, "or its creator no longer has permission for it."),
    (deactivate_maker, "The user who created this API key is not active."),
]


def schedule_with_key(draft: m.CeDraft, *, has_maker: bool, **times: str) -> tuple[User, Any]:
    maker = User.objects.create_user("may", is_staff=True)
    maker.groups.set(Group.objects.filter(name__in=["config_admin", "integrator"]))
    key, secret = CeApiKey.objects.create_key(name="of may", scopes=["config"], made_by=maker if has_maker else None)
    body = {"publishAt": in_hours(1).isoformat(), **times}
    url, headers = f"/api/v1/config/drafts/{draft.pk}/schedule", {"Authorization": f"Api-Key {secret}"}
    assert Client().post(url, body, "application/json", headers=headers).status_code == 200
    return maker, key


@pytest.mark.parametrize("has_maker", [True, False])
@pytest.mark.parametrize(("loss", "why"), LOSSES_OF_KEYS)
def test_a_key_that_would_be_refused_at_the_time_publishes_nothing(
    draft: m.CeDraft, root: Client, loss: Callable[[CeApiKey, User], None], why: str, has_maker: bool
) -> None:
    maker, key = schedule_with_key(draft, has_maker=has_maker)
    loss(key, maker)
    is_refused = has_maker or loss not in (remove_group, deactivate_maker)
    page = reverse("admin:config_admin_cedraft_change", args=[draft.pk])
    assert (why in root.get(page).content.decode()) == is_refused
    assert pass_time() == ({"refused": 1} if is_refused else {"published": 1})
    assert read_live() == ("Before" if is_refused else "Christmas")
    for address in (page, reverse("admin:index")):
        assert (why in root.get(address).content.decode()) == is_refused


@pytest.mark.parametrize(("loss", "why"), LOSSES_OF_KEYS)
def test_the_end_of_a_key_that_would_be_refused_happens_in_the_name_of_the_schedule(
    draft: m.CeDraft, root: Client, loss: Callable[[CeApiKey, User], None], why: str
) -> None:
    maker, key = schedule_with_key(draft, has_maker=True, takeBackAt=in_hours(3).isoformat())
    assert pass_time() == {"published": 1}
    loss(key, maker)
    check_end_in_the_name_of_the_schedule(draft, root, why)


@pytest.mark.parametrize(("loss", "why"), LOSSES_OF_USERS)
def test_the_end_of_who_is_gone_happens_in_the_name_of_the_schedule(
    draft: m.CeDraft, ada: User, root: Client, loss: Callable[[User], None], why: str
) -> None:
    schedule(draft, ada, ends=True)
    assert pass_time() == {"published": 1}
    loss(ada)
    check_end_in_the_name_of_the_schedule(draft, root, why)


def check_end_in_the_name_of_the_schedule(draft: m.CeDraft, root: Client, why: str) -> None:
    page = reverse("admin:config_admin_cedraft_change", args=[draft.pk])
    expected = root.get(page).content.decode()
    assert why in expected
    assert "It is taken back all the same, in the name of “schedule”." in expected
    assert pass_time(take_back_at=in_hours(-1)) == {"taken_back": 1}
    assert read_live() == "Before"
    release = m.CeRelease.objects.get(pk=head.newest())
    assert (release.author, why in release.reason) == ("schedule", True)
    url = reverse("admin:config_admin_cerelease_change", args=[release.pk])
    for address in (page, url):
        assert why in root.get(address).content.decode()
    entry = draft.reviews.order_by("-id")[0]
    assert (entry.kind, entry.author_name, why in entry.text) == ("TAKEN_BACK", "schedule", True)


def test_a_gradual_release_of_who_is_gone_is_stopped_in_the_name_of_the_schedule(
    draft: m.CeDraft, ada: User, root: Client
) -> None:
    schedule_draft(draft.pk, ada, in_hours(1), in_hours(3), "agreed", AudienceSpec(share=10))
    assert pass_time() == {"published": 1}
    lose_account(ada)
    check_end_in_the_name_of_the_schedule(draft, root, "ada, who scheduled it, has no account any more.")
    assert find_gradual_release() is None
