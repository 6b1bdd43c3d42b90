"""The first page of the admin: what is new and wrong, how the week was, what changed, and what to do next."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import islice
from typing import Any, NamedTuple

from django.contrib.humanize.templatetags.humanize import naturaltime
from django.db.models import Count, Exists, Max, Min, OuterRef, Q, QuerySet, Subquery
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.defaultfilters import pluralize
from django.urls import reverse
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.timezone import localtime
from django.views.decorators.http import require_POST

from config_admin.drafts.models import (
    CeDraft,
    CeDraftReview,
    CeDraftSchedule,
    DraftStatus,
    ReviewKind,
    ScheduleStatus,
)
from config_admin.drafts.review import REVIEW, list_waiting_drafts
from config_admin.drafts.schedule import UNSETTLED, list_schedules
from config_admin.editing.context import get_editor_context
from config_admin.editing.first_steps import FirstStep, list_noted_steps, note_first_step
from config_admin.editing.links import draft_url, find_readable_url, health_url, release_url, row_url, undo_url
from config_admin.editing.row_diff import first_rows
from config_admin.health.impact import Impact
from config_admin.health.stored_findings import summarise_findings
from config_admin.history.gradual.guard import GUARD
from config_admin.releases.diff import differences
from config_admin.releases.models import CeGradualRelease, CeRelease, GradualStatus, Origin
from config_admin.releases.release_seal import history_model
from config_admin.releases.undo import wanted_by_revert
from config_admin.test_cases.models import CeTestRun
from config_admin.validation import relations
from config_admin.validation.labels import row_title
from config_admin.workplace.settings_page import list_settings
from config_admin.workplace.start_empty import find_start_empty
from convengine.engine.rules.explain import list_faults
from convengine.engine.text.compare import shorten_line
from convengine.engine.turn import live_settings, rows
from convengine.engine.turn.labels import format_percent
from convengine.engine.turn.releases import MODE
from convengine.engine.turn.scope import UNKNOWN, intent_key
from convengine.engine.turn.snapshot import Snapshot
from convengine.server.admin_site.first_steps import list_session_steps
from convengine.server.deployment import conf
from convengine.server.interfaces.access_log import access_log
from convengine.server.interfaces.turn_reports import (
    MessageGroup,
    RateVerdict,
    ReleaseEffect,
    WeekRate,
    WeekSummary,
    turn_reports,
)
from convengine.server.jobs.background_runs import RunStatus
from convengine.server.sessions.models import SAMPLE, CeConversation, CeConversationHistory

NEWEST = 8
#: How many of the newest releases are searched for changes past the review, so that the cost of the page is constant.
LATEST_RELEASES = 50
#: For how many days the page says that a guard stopped a release.
GUARD_DAYS = 7
CONCERNS = 12
NEWEST_FINDINGS = 5
MOST_DRAFTS = 200
#: How many of the intents that a release moved, and of the rows that it changed, a notice names.
MOST_SHIFTS, MOST_CHANGED = 3, 3
#: What a rate says of its turns; the others “were” what they are called.
_VERBS = {
    "failed": "failed",
    "forms_completed": "were completed",
    "task_failed": "had a failed task or tool",
}
#: Home names these rates also when they count a single turn.
_NEVER_SILENT = ("failed", "task_failed")
FOR_YOU = "For you"


class HomeLink(NamedTuple):
    label: str
    url: str


class Notice(NamedTuple):
    """Something that is new or wrong: what kind it is, a sentence, and where to look."""

    badge: str
    text: str
    links: Sequence[HomeLink] = ()
    is_wrong: bool = True
    #: What it is about; its address may be blank.
    subject: HomeLink | None = None
    #: The rows that the release changed, and how many more.
    changed: Sequence[HomeLink] = ()
    more_changed: int = 0

    @property
    def steps(self) -> Sequence[HomeLink]:
        is_linked = self.subject is not None and self.subject.url
        return self.links or ([HomeLink("Open it", self.subject.url)] if self.subject and is_linked else [])


class ReleaseLine(NamedTuple):
    """A release on the page, with what it did to the rates."""

    release: CeRelease
    #: Blank without turns.
    effect: str
    is_worse: bool
    url: str


class _Home:
    """What the parts of the page share, as far as the user may see it."""

    def __init__(self, request: HttpRequest, context: dict[str, Any]) -> None:
        may = request.user.has_perm
        self.request, self.context = request, context
        if may("config_admin.view_cerule") or may("config_admin.view_cerelease"):
            # First, because writes outside of the application get their release here.
            self.snapshot = get_editor_context(request).snapshot
        self.week = turn_reports().summarise_week() if may("ce_sessions.view_ceconversationhistory") else None
        self.releases = _list_releases(request.user) if may("config_admin.view_cerelease") else None


def dashboard(request: HttpRequest, context: dict[str, Any]) -> dict[str, Any]:
    """The content of the page; each part only for users who may see what it links to."""
    may = request.user.has_perm
    home = _Home(request, context)
    notices = [notice for right, list_notices in _PARTS.items() if may(right) for notice in list_notices(home)]
    if may("config_admin.add_ceintent"):
        steps = context["first_steps"] = _list_first_steps(request, home)
        context["start_empty"] = find_start_empty(request) if steps else None
    has_first_steps = any(not step.is_done for step in context.get("first_steps", ()))
    may_teach = context["may_teach"] = may("config_admin.add_ceintentclassifier")
    next_step = _choose_next_step(notices, home.week, has_first_steps=has_first_steps, may_teach=may_teach)
    samples = CeConversation.objects.filter(channel=SAMPLE)
    # Whether the week has conversations that came with the demonstration.
    has_sample = bool(home.week and conf.get("DEMO")) and samples.exists()
    context |= {"week": home.week, "next_step": next_step, "is_sound": not notices, "has_sample": has_sample}
    context["notices"] = [notice for notice in notices if notice is not next_step]
    return context


def _choose_next_step(
    notices: Sequence[Notice], week: WeekSummary | None, *, has_first_steps: bool, may_teach: bool
) -> Notice | None:
    """The first notice with a link, else the largest group to teach. Hints wait until the first steps are done."""
    for notice in notices:
        if notice.steps and (notice.is_wrong or notice.badge == FOR_YOU or not has_first_steps):
            return notice
    if week and week.largest_groups:
        group = week.largest_groups[0]
        links = [HomeLink("Open the inbox", week.inbox_url)]
        if may_teach and group.text:
            page = reverse("admin:config_admin_ceintentclassifier_teach")
            links.insert(0, HomeLink("Choose its intent", f"{page}?group={group.number}"))
        return Notice("Teach", _describe_group(group), links)
    return None


def _describe_group(group: MessageGroup) -> str:
    text = f"“{group.text}”" if group.text else "A message that was erased"
    if group.messages == 1:
        return f"{text}: this message was not understood{' in the last seven days' if group.this_week else ''}."
    return (
        f"{text}: {group.messages} messages like this were not understood, {group.this_week} of them in the last seven "
        "days."
    )


def _list_alerts(_home: _Home) -> Iterator[Notice]:
    for alert in turn_reports().list_alerts():
        yield Notice(
            "Alert", f"{alert.text}, since {naturaltime(alert.since)}.", [HomeLink("Open the alert", alert.url)]
        )


def _list_week_notices(home: _Home) -> Iterator[Notice]:
    """The week; messages of people that the page shows are noted in the log."""
    if home.week:
        yield from _WeekNotices(home, home.week).list_all()
        if home.week.largest_groups:
            access_log().log_row_access(home.request, None)


class _WeekNotices:
    """What is worse than a week ago, or too high, and the releases since which messages have other intents."""

    def __init__(self, home: _Home, week: WeekSummary) -> None:
        self._request, self._week = home.request, week
        named = [rate.since for rate in week.rates if rate.since]
        last = {effect.last for effect in named}
        #: The releases that moved messages to other intents, if no rate names them.
        self._shifting = [effect for effect in week.effects if effect.shifts and effect.last not in last]
        #: The newest releases, and the last one of each effect.
        self._releases: dict[int, CeRelease] = {release.pk: release for release in home.releases or ()}
        missing = {effect.last for effect in (*named, *self._shifting)} - self._releases.keys()
        self._releases |= CeRelease.objects.defer("manifest").in_bulk(missing)

    def list_all(self) -> Iterator[Notice]:
        """The rates, the form that loses the most users, and the releases."""
        for rate in self._week.rates:
            if rate.is_worse or rate.is_high:
                yield self._describe_rate(rate)
            elif rate.name in _NEVER_SILENT and rate.number:
                text = f"{rate.counted} {_VERBS[rate.name]} in the last seven days."
                yield Notice("Failed", text, [HomeLink("See these turns", rate.url)])
        if form := self._week.losing_form:
            link, title = HomeLink("See the form, field by field", form.url), HomeLink(form.title, form.url)
            yield Notice("Losing users", form.text, [link], subject=title)
        for effect in self._shifting:
            name = self._name_releases(effect)
            text = f"Messages of the last 14 days have other intents since {name}. {_describe_shifts(effect)}"
            yield self._add_release(Notice("Moved", text, is_wrong=False), effect)

    def _describe_rate(self, rate: WeekRate) -> Notice:
        """A rate that is worse, or too high, with the release that stands out."""
        verb = _VERBS.get(rate.name, f"were {rate.label}")
        text = f"{format_percent(rate.share)} of the {rate.unit} of the last seven days {verb}"
        if rate.previous_share is not None:
            text += f", after {format_percent(rate.previous_share)} in the same days a week before"
        notice = Notice("Worse" if rate.is_worse else "High", f"{text}.")
        if rate.since:
            change = next(each for each in rate.since.rates if each.name == rate.name)
            name = self._name_releases(rate.since)
            text = f"{notice.text} It got worse with {name}: in the last 14 days "
            text += f"{format_percent(change.before)} before and {format_percent(change.after)} since."
            text += f" {rate.cause}"
            text += f" {_describe_shifts(rate.since)}" if rate.since.shifts else ""
            return self._add_release(notice._replace(text=text), rate.since)
        notice = notice._replace(text=f"{notice.text} {rate.cause}".strip())
        if rate.name == "not_understood":
            return notice._replace(links=[HomeLink("See what to teach", self._week.inbox_url)])
        return notice._replace(links=[HomeLink("See these turns", rate.url)] if rate.url else [])

    def _add_release(self, notice: Notice, effect: ReleaseEffect) -> Notice:
        """The notice with the links to the effect and to undo it, and with the rows that its releases changed.

        The newest release that is not taken back yet is offered.
        """
        links = [HomeLink(f"See the effect of release {effect.last}", effect.url)]
        in_force = (number for number in range(effect.last, effect.first - 1, -1) if any(wanted_by_revert(number)))
        newest = next(in_force, None)
        if newest is None:
            notice = notice._replace(text=f"{notice.text} What it changed is taken back by now.", is_wrong=False)
        elif self._request.user.has_perm("config_admin.change_cerule"):
            links.append(HomeLink("Take it back", undo_url(newest)))
        changed: list[HomeLink] = []
        total = 0
        if self._request.user.has_perm("config_admin.view_cerelease"):
            first = CeRelease.objects.filter(pk=effect.first).values_list("parent_id", flat=True).first()
            by_table = differences(first or 0, effect.last)
            total = sum(map(len, by_table.values()))
            for row in first_rows(by_table, MOST_CHANGED, self._request):
                name = f"{row.name} · {row.about}" if row.about else row.name
                changed.append(HomeLink(f"{name} ({row.how})", row.url))
        return notice._replace(links=links, changed=changed, more_changed=total - len(changed))

    def _name_releases(self, effect: ReleaseEffect) -> str:
        name = f"release {effect.last}" if effect.first == effect.last else f"releases {effect.first} to {effect.last}"
        release = self._releases.get(effect.last)
        if release is None:
            return name
        reason = f", “{shorten_line(release.reason)}”" if release.reason else ""
        return f"{name} of {date_format(localtime(release.created_at), 'l j F, H:i')}, by {release.made_by}{reason}"


def _describe_shifts(effect: ReleaseEffect) -> str:
    """The intents that have more messages since a release, and those that have fewer."""
    parts = []
    for word, shifts in (
        ("More", [shift for shift in effect.shifts if shift.after > shift.before]),
        ("Fewer", [shift for shift in effect.shifts if shift.after < shift.before]),
    ):
        if shifts:
            named = ", ".join(
                f"{each.intent} ({format_percent(each.before)} → {format_percent(each.after)} of the turns)"
                for each in shifts[:MOST_SHIFTS]
            )
            hidden = len(shifts) - MOST_SHIFTS
            more = f" and {hidden} more intent{pluralize(hidden)}" if hidden > 0 else ""
            parts.append(f"{word} messages: {named}{more}.")
    return " ".join(parts)


def _list_failing_tests(_home: _Home) -> Iterator[Notice]:
    """The newest run of tests on what is live, if tests failed."""
    run = CeTestRun.objects.filter(configuration="live", status=RunStatus.DONE).order_by("-run_id").first()
    if run and run.failed:
        counted = f"{run.failed} of {run.total} test{pluralize(run.total)}"
        text = f"{counted} failed on what is live, {naturaltime(run.created_at)}."
        url = reverse("admin:config_admin_cetestrun_change", args=[run.pk])
        yield Notice("Tests", text, [HomeLink("See the failing tests", url)])


def _show_drafts(home: _Home) -> Iterator[Notice]:
    """The user's own drafts and all schedules, with what became of schedules and waits for a review."""
    drafts = _list_drafts()
    schedules = list_schedules() if any(draft.is_scheduled for draft in drafts) else []
    yield from _list_failed_schedules(schedules)
    if home.request.user.has_perm(REVIEW) and any(draft.is_sent for draft in drafts):
        for draft in list_waiting_drafts(home.request.user):
            text = f"The draft “{draft.title}” by {draft.created_by or '-'} waits for your review."
            yield Notice(FOR_YOU, text, [HomeLink("Review it", draft_url(draft.pk))], is_wrong=False)
    pending = home.context["schedules"] = [row for row in schedules if row.status != ScheduleStatus.FAILED]
    author, scheduled = home.request.user.get_username(), {row.draft_id for row in pending}
    home.context["drafts"] = [
        draft
        for draft in drafts
        if draft.created_by == author and draft.status == DraftStatus.OPEN and draft.pk not in scheduled
    ][:NEWEST]


def _list_failed_schedules(schedules: Iterable[CeDraftSchedule]) -> Iterator[Notice]:
    for row in schedules:
        if row.status == ScheduleStatus.FAILED:
            done = "taken back" if row.draft.config_version else "published"
            text = f"“{row.draft.title}” was not {done} as scheduled. {row.problem}"
            yield Notice("Schedule", text, [HomeLink("Open the draft", draft_url(row.draft_id))])


def _list_drafts() -> list[Any]:
    """The drafts that are open or scheduled; each knows whether it was sent for review, and whether it is scheduled."""
    scheduled = CeDraftSchedule.objects.filter(draft=OuterRef("pk")).filter(UNSETTLED)
    sent = CeDraftReview.objects.filter(draft=OuterRef("pk"), kind=ReviewKind.SENT)
    drafts: Any = CeDraft.objects.annotate(is_scheduled=Exists(scheduled), is_sent=Exists(sent), changes=Count("edits"))
    return list(drafts.filter(Q(status=DraftStatus.OPEN) | Q(is_scheduled=True)).order_by("-draft_id")[:MOST_DRAFTS])


def _show_health(home: _Home) -> Iterator[Notice]:
    """The health of the configuration in force."""
    concerns = list(islice(list_concerns(home.snapshot), CONCERNS + 1))
    yield from concerns[:CONCERNS]
    if len(concerns) > CONCERNS:
        yield Notice("Wrong", "There are more.", [HomeLink("Open Health", health_url())])
    health = summarise_findings(NEWEST_FINDINGS)
    for finding in health.newest:
        row = home.snapshot.find_row(finding.table_name, finding.row_pk)
        subject = HomeLink(row_title(row), find_readable_url(home.request, row.table, row.pk)) if row else None
        badge = f"New · {finding.label}" if finding.since_version == health.config_version else finding.label
        text = f"{finding.message} (since release {finding.since_version})"
        links = [] if subject and subject.url else [HomeLink("Open Health", health_url())]
        yield Notice(badge, text, links, finding.impact == Impact.BREAKS, subject)
    if more := health.total - len(health.newest):
        text = f"{more} more finding{pluralize(more)}."
        yield Notice("Health", text, [HomeLink("Open Health", health_url())], is_wrong=False)
    home.context |= {"health": health, "health_url": health_url(), "in_force": home.snapshot.config_version}


def _list_releases(user: Any) -> list[Any]:
    """The newest releases that people made; each knows whether it is or was gradual, as far as Home says so.

    It also knows the time of the user's first release, and the number of the last one.
    """
    gradual = _select_gradual_releases().filter(config_version=OuterRef("pk"))
    releases: Any = CeRelease.objects.exclude(origin=Origin.MIGRATION).annotate(
        is_gradual=Exists(gradual),
        first_own=Subquery(_select_releases_of(user).order_by("pk").values("created_at")[:1]),
        last_own=Subquery(_select_releases_of(user).order_by("-pk").values("pk")[:1]),
    )
    return list(releases.defer("manifest").order_by("-config_version")[:NEWEST])


def _select_releases_of(user: Any) -> QuerySet[CeRelease]:
    return CeRelease.objects.exclude(origin=Origin.MIGRATION).filter(author=user.get_username())


def _select_gradual_releases() -> QuerySet[CeGradualRelease]:
    """The running one, and those that their guard stopped lately."""
    since = timezone.now() - timedelta(days=GUARD_DAYS)
    return CeGradualRelease.objects.filter(Q(status=GradualStatus.RUNNING) | Q(ended_by=GUARD, ended_at__gte=since))


def _show_gradual_releases(home: _Home) -> Iterator[Notice]:
    """The running one, and those that their guard stopped."""
    may_exist = home.releases is None or any(release.is_gradual for release in home.releases)
    rows = list(_select_gradual_releases().order_by("-gradual_id")[:3]) if may_exist else []
    home.context["gradual"] = next((row for row in rows if row.status == GradualStatus.RUNNING), None)
    for row in rows:
        if row.status != GradualStatus.RUNNING:
            ended = naturaltime(row.ended_at or row.started_at)
            text = f"Release {row.config_version} was stopped by its guard, {ended}. {row.ended_reason}"
            url = reverse("admin:config_admin_cegradualrelease_change", args=[row.pk])
            yield Notice("Stopped", text, [HomeLink("See both sides", url)])


def _show_releases(home: _Home) -> Iterator[Notice]:
    """The newest releases, and those that were made without the review."""
    week = home.week
    # What stands out over the whole time says more than the turns of one release.
    effects = [*(rate.since for rate in week.rates if rate.since), *week.effects] if week else []
    lines: list[ReleaseLine] = []
    home.context["releases"] = lines
    for release in home.releases or ():
        effect = next((each for each in effects if each.first <= release.pk <= each.last), None)
        text = _describe_effect(effect) if effect else ""
        lines.append(ReleaseLine(release, text, bool(effect and effect.worse_rates), effect.url if effect else ""))
    for release in list_releases_past_review(home.snapshot):
        author = f", {release.author}" if release.author else ""
        text = (
            f"Release {release.pk} changed the configuration without a draft, although changes are reviewed: "
            f"{release.get_origin_display()}{author}, {naturaltime(release.created_at)}."
        )
        yield Notice("Not reviewed", text, [HomeLink(f"See release {release.pk}", release_url(release.pk))])


def _describe_effect(effect: ReleaseEffect) -> str:
    """What a release did to the rates, in a few words."""
    unclear = (RateVerdict.SAME, RateVerdict.TOO_FEW)
    if clear := [rate for rate in effect.rates if rate.verdict not in unclear]:
        return ", ".join(
            f"{rate.verdict.value.capitalize()}: {rate.label} "
            f"{format_percent(rate.before)} → {format_percent(rate.after)}"
            for rate in clear
        )
    if effect.shifts:
        return f"Messages moved between intents: {', '.join(shift.intent for shift in effect.shifts[:MOST_SHIFTS])}"
    if effect.rates[0].verdict is RateVerdict.TOO_FEW:
        return f"Too few turns to say ({effect.turns})"
    return "No clear difference"


class ShownFirstStep(NamedTuple):
    """A first step on the page."""

    label: str
    url: str
    help: str
    is_done: bool
    #: True for the first one that is not done.
    is_next: bool = False


def _list_first_steps(request: HttpRequest, home: _Home) -> list[ShownFirstStep]:
    """What a new analyst does, each with whether it is done; empty for users who dismissed the list.

    Where there is no intent yet, the first flow comes first.
    """
    user, may = request.user, request.user.has_perm
    noted = list_noted_steps(user)
    if FirstStep.DISMISSED in noted:
        return []
    first, last = _find_own_releases(user, home.releases)
    noted |= _note_done_steps(request, noted, first)
    answers, releases, start = (
        reverse(f"admin:config_admin_{page}")
        for page in ("ceresponse_changelist", "cerelease_changelist", "ceintent_start")
    )
    change = "Change its text, and save. Then send the same message again: it gets the new text."
    undo = "Each change is a release. Its page shows what it changed, and undoes it."
    undone = _select_releases_of(user).filter(origin__in=(Origin.REVERT, Origin.ROLLBACK))
    steps = {
        "ce_sessions.try_conversation": ShownFirstStep(
            "Talk to the bot",
            reverse("admin:audit_ceaudit_simulate"),
            "Send it messages, as a user does.",
            FirstStep.TRY in noted,
        ),
        "ce_sessions.view_ceconversationhistory": ShownFirstStep(
            "Ask why",
            reverse("config_admin_last_turn"),
            "Open a turn: it says which rows decided, and why the others did not.",
            FirstStep.WHY in noted,
        ),
        "config_admin.change_ceresponse": ShownFirstStep("Change an answer", answers, change, last is not None),
        "config_admin.view_cerelease": ShownFirstStep(
            "Undo your change", release_url(last) if last else releases, undo, last is not None and undone.exists()
        ),
    }
    text = "Say what users want, what to ask them, and what to answer."
    flow = ShownFirstStep("Start a flow", start, text, first is not None and _has_added_intent(user))
    allowed = [step for right, step in steps.items() if may(right)]
    has_intents = get_editor_context(request).snapshot.enabled_rows(rows.Intent)
    ordered = [*allowed, flow] if has_intents else [flow, *allowed]
    next_step = next((step for step in ordered if not step.is_done), None)
    return [step._replace(is_next=step is next_step) for step in ordered]


def _note_done_steps(request: HttpRequest, noted: Collection[str], first: datetime | None) -> set[str]:
    """Note the steps that the user has done since."""
    done = {*list_session_steps(request)} - {*noted}
    if FirstStep.TRY not in {*noted, *done} and _has_talked_since(first):
        done.add(FirstStep.TRY)
    for step in done:
        note_first_step(request.user, FirstStep(step))
    return done


def _find_own_releases(user: Any, releases: Sequence[Any] | None) -> tuple[datetime | None, int | None]:
    """The time of the user's first release, and the number of the last one."""
    if releases is None:
        own = _select_releases_of(user).aggregate(first=Min("created_at"), last=Max("pk"))
        return own["first"], own["last"]
    return (releases[0].first_own, releases[0].last_own) if releases else (None, None)


def _has_talked_since(first: datetime | None) -> bool:
    """True if a conversation went on since. Those without an API key began on the page."""
    return first is not None and CeConversation.objects.filter(opened_by=None, updated_at__gte=first).exists()


def _has_added_intent(user: Any) -> bool:
    """True if a release has an intent that the user added; other changes start no flow."""
    added = history_model(rows.Intent.table)._default_manager.filter(history_type="+")
    own_releases = Q(config_version__in=_select_releases_of(user).values("pk"))
    return bool(added.filter(own_releases | Q(history_user_id=user.pk)).exists())


@require_POST
def hide_first_steps(request: HttpRequest) -> HttpResponse:
    """Home without the list, from now on."""
    note_first_step(request.user, FirstStep.DISMISSED)
    return HttpResponseRedirect(reverse("admin:index"))


def open_last_turn(request: HttpRequest) -> HttpResponse:
    """The page of the newest turn; without turns, that of conversations."""
    last = CeConversationHistory.objects.order_by("-pk").values_list("conversation_id", "turn_no").first()
    page = "audit_ceaudit_turn" if last else "ce_sessions_ceconversation_changelist"
    return HttpResponseRedirect(reverse(f"admin:{page}", args=last))


def list_releases_past_review(snapshot: Snapshot) -> list[CeRelease]:
    """Where changes are reviewed: the newest changes that scripts and SQL made without a draft."""
    if live_settings.read(snapshot, MODE).value != "REVIEWED":
        return []
    newest = CeRelease.objects.defer("manifest").order_by("-config_version")[:LATEST_RELEASES]
    return [release for release in newest if release.origin in (Origin.OUT_OF_BAND, Origin.SHELL)][:NEWEST]


#: The parts of the page that have notices, in their order, by the right to see what they link to.
_PARTS: Mapping[str, Callable[[_Home], Iterator[Notice]]] = {
    "audit.view_cealert": _list_alerts,
    "ce_sessions.view_ceconversationhistory": _list_week_notices,
    "config_admin.view_cetestrun": _list_failing_tests,
    "config_admin.view_cedraft": _show_drafts,
    "config_admin.view_cegradualrelease": _show_gradual_releases,
    "config_admin.view_cerule": _show_health,
    "config_admin.view_cerelease": _show_releases,
}


def list_concerns(snapshot: Snapshot) -> Iterator[Notice]:
    """The worst first: no answer at all, unused rows and settings, rows of intents that do not exist."""
    if not snapshot.in_scope(rows.Response, UNKNOWN, UNKNOWN):
        text = "No answer is enabled for messages that are not recognised (intent UNKNOWN, state UNKNOWN)."
        yield _warn("Responses", "", text)
    for row, fault in list_faults(snapshot):
        text = f"It is invalid, so no turn uses it: {fault.reason}. {fault.remedy or ''}".strip()
        yield _warn(row_title(row), row_url(row.table, row.pk), text)
    for setting in list_settings():
        reading = live_settings.read(snapshot, setting)
        if reading.problem:
            url = row_url(reading.row.table, reading.row.pk) if reading.row else ""
            text = f"Its value {reading.problem} The default is used instead."
            yield _warn(f"Setting “{setting.label}”", url, text)
    for intent, count in sorted(_count_rows_of_missing_intents(snapshot).items()):
        counted = "1 enabled row is" if count == 1 else f"{count} enabled rows are"
        yield _warn(f"Intent {intent}", "", f"{counted} not used, because the intent does not exist.")


def _warn(name: str, url: str, text: str) -> Notice:
    return Notice("Wrong", text, subject=HomeLink(name, url))


def _count_rows_of_missing_intents(snapshot: Snapshot) -> Counter[str]:
    """By code. An intent that is off was switched off on purpose."""
    counts: Counter[str] = Counter()
    known = snapshot.table(rows.Intent).by_pk
    for row_type in rows.ROW_TYPES:
        if row_type is not rows.Intent and "intent_code" in rows.columns(row_type):
            for intent, members in snapshot.index(row_type, intent_key, relations.rank).items():
                counts[intent] += len(members)
    return Counter({code: counts[code] for code in counts if not snapshot.is_active(code) and code not in known})
