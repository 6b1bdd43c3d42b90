"""Admin pages of alerts and their rules."""

from abc import abstractmethod
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.template.response import TemplateResponse
from django.urls import reverse

from audit.alerts.current_alerts import LONGEST_REASON, SilenceRefused, end_silence, find_rule, silence_rule
from audit.alerts.evaluate import (
    describe_rule,
    does_fire,
    find_measure,
    format_limit,
    format_value,
    name_base,
    read_counted_until,
    read_rule,
    simulate_rule,
)
from audit.alerts.form import AlertRuleForm
from audit.alerts.job import end_alert_of
from audit.alerts.messages import list_addresses
from audit.models import CeAlert, CeAlertRule
from convengine.engine.text.whole_numbers import parse_whole_number
from convengine.server.admin_site.missing_rights import require_right
from convengine.server.admin_site.pages import PagesAdmin, page
from convengine.server.admin_site.read_only import ReadOnlyAdmin
from convengine.server.admin_site.record_columns import badge_column, turns_url
from convengine.server.database.sql import database_time
from convengine.server.deployment import conf

SILENCE = "audit.silence_alert"
#: How far back the form looks, and how many alerts it lists.
PREVIEW_DAYS, _MOST_EPISODES, _NEWEST_ALERTS = 30, 10, 10
_HOURS = ((1, "an hour"), (8, "8 hours"), (24, "a day"), (168, "a week"), (720, "30 days"))
STATUS_BADGES = {"FIRING": "danger", "SILENCED": "warning", "ENDED": "success", "OK": "success", "OFF": "default"}


class SilenceForm(forms.Form):
    """For how long, and why."""

    hours = forms.TypedChoiceField(label="For", choices=_HOURS, coerce=int, initial=24)
    reason = forms.CharField(
        label="Reason", max_length=LONGEST_REASON, widget=forms.TextInput(attrs={"autocomplete": "off"})
    )

    @property
    def until(self) -> datetime:
        return database_time() + timedelta(hours=self.cleaned_data["hours"])


class SilencePages(PagesAdmin):
    """The addresses that silence a rule, and that end its silence: of its page, and of those of its alerts."""

    @abstractmethod
    def find_rule(self, pk: int) -> CeAlertRule:
        """The rule of a row. Raises Http404, SilenceRefused."""

    @page("<int:pk>/silence/")
    def silence_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Send nothing about it for a while."""
        if refusal := _refuse(request):
            return refusal
        form = SilenceForm(request.POST)
        try:
            rule = self.find_rule(pk)
            if not form.is_valid():
                raise SilenceRefused(f"The {self.opts.verbose_name} is not silenced: enter a reason.")
            silence_rule(rule, form.until, form.cleaned_data["reason"], request.user.get_username())
        except SilenceRefused as refused:
            messages.error(request, str(refused))
        else:
            hours = dict(_HOURS)[form.cleaned_data["hours"]]
            messages.success(request, f"Silenced for {hours}: no mail and no webhook. {rule.silence_reason}")
            self.log_change(request, rule, f"Silenced for {hours}: {rule.silence_reason}")
        return self._open(pk)

    @page("<int:pk>/unsilence/")
    def unsilence_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Send messages about it again."""
        if refusal := _refuse(request):
            return refusal
        try:
            rule = self.find_rule(pk)
            end_silence(rule)
            messages.success(request, "Messages are sent again.")
            self.log_change(request, rule, "Ended the silence.")
        except SilenceRefused as refused:
            messages.error(request, str(refused))
        return self._open(pk)

    def _open(self, pk: int) -> HttpResponse:
        return HttpResponseRedirect(reverse(f"admin:audit_{self.opts.model_name}_change", args=[pk]))


@admin.register(CeAlertRule)
class AlertRuleAdmin(SilencePages):
    change_form_template = "audit/alert_rule.html"
    form = AlertRuleForm
    list_display = ("title", "status_label", "sentence", "repeat_hours", "changed_by", "changed_at")
    list_filter = ("is_enabled",)
    search_fields = ("title",)
    ordering = ("title", "rule_id")
    show_full_result_count = False
    fieldsets = (
        (None, {"fields": ("title", "is_enabled")}),
        ("When it fires", {"fields": ("measure", ("direction", "bound"), ("hours", "fewest"))}),
        (
            "Which turns",
            {"fields": (("intent_code", "channel"), ("config_version", "workspace_id"))},
        ),
        ("Recipients", {"fields": ("users", "addresses", "webhook", "repeat_hours")}),
    )

    class Media:
        js = ("convengine/alert.js",)

    def find_rule(self, pk: int) -> CeAlertRule:
        return get_object_or_404(CeAlertRule, pk=pk)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """With whether they fire, and are silent."""
        firing = CeAlert.objects.filter(rule=OuterRef("pk"), status=CeAlert.Status.FIRING)
        is_silent = Q(silenced_until__gt=database_time())
        rules: QuerySet[Any] = super().get_queryset(request).annotate(is_firing=Exists(firing), is_silent=is_silent)
        return rules

    @badge_column(STATUS_BADGES, "status")
    def status_label(self, rule: Any) -> tuple[str, str]:
        return _name_status(rule)

    @admin.display(description="rule")
    def sentence(self, rule: CeAlertRule) -> str:
        return describe_rule(rule)

    def changeform_view(
        self, request: HttpRequest, object_id: str | None = None, form_url: str = "", extra_context: Any = None
    ) -> Any:
        """The form with the preview, the silences, and the newest alerts."""
        rule: Any = self.get_object(request, object_id) if object_id else None
        context: dict[str, Any] = {
            "preview_url": reverse("admin:audit_cealertrule_preview"),
            "mail_is_off": not conf.get("NOTIFICATION_FROM"),
            "preview_days": PREVIEW_DAYS,
        }
        if rule:
            user: Any = request.user
            context |= {
                "rule": rule,
                "rule_status": _name_status(rule),
                **preview_rule(rule),
                "silenced_rule": rule if rule.is_silent else None,
                "silence_form": SilenceForm(),
                "alerts": [
                    (alert, show_value(alert, "worst_value"))
                    for alert in rule.alerts.order_by("-alert_id")[:_NEWEST_ALERTS]
                ],
                "may_silence": user.has_perm(SILENCE),
                "has_recipients": bool(rule.webhook or list_addresses(rule)),
            }
        return super().changeform_view(request, object_id, form_url, {**context, **(extra_context or {})})

    def save_model(self, request: HttpRequest, obj: CeAlertRule, form: Any, change: bool) -> None:
        """Store the rule. An alert of the rule as it was ends; the next look may open a new one."""
        obj.changed_by, obj.changed_at = request.user.get_username(), database_time()
        obj.site_url = request.build_absolute_uri(reverse("admin:index"))
        with transaction.atomic():
            if change:
                before = CeAlertRule.objects.select_for_update().get(pk=obj.pk)
                if describe_rule(before) != describe_rule(obj) or before.is_enabled != obj.is_enabled:
                    end_alert_of(before)
            super().save_model(request, obj, form, change)

    def delete_model(self, request: HttpRequest, obj: CeAlertRule) -> None:
        """Its alerts stay in the history."""
        with transaction.atomic():
            end_alert_of(obj)
            super().delete_model(request, obj)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        """Delete several rules. Their alerts stay in the history."""
        with transaction.atomic():
            for rule in CeAlertRule.objects.filter(pk__in=list(queryset.values_list("pk", flat=True))):
                end_alert_of(rule)
                rule.delete()

    @page("preview/")
    def preview_view(self, request: HttpRequest) -> HttpResponse:
        """What a form would have done in the last days, before it is saved."""
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        if not self.has_add_permission(request):
            require_right(request, "audit.change_cealertrule")
        rule = CeAlertRule.objects.filter(pk=parse_whole_number(request.POST.get("rule", "")) or 0).first()
        form = self.get_form(request, rule, change=bool(rule))(request.POST, instance=rule)
        # A rule without a title can be tried, too.
        errors = [
            (str(form.fields[name].label or name).capitalize() if name in form.fields else "", text)
            for name, texts in form.errors.items()
            if name != "title"
            for text in texts
        ]
        context: dict[str, Any] = {"errors": errors} if errors else preview_rule(form.instance)
        context |= {"is_part": "part" in request.GET, "title": "What the rule would have done"}
        return TemplateResponse(
            request,
            "audit/alert_preview.html" if context["is_part"] else "audit/alert_preview_page.html",
            {**self.admin_site.each_context(request), **context},
        )


@admin.register(CeAlert)
class AlertAdmin(SilencePages, ReadOnlyAdmin):
    """Alerts, newest first."""

    change_form_template = "audit/alert.html"
    list_display = ("title", "status_label", "value_label", "rule_label", "started_at", "ended_at")
    list_filter = ("status",)
    ordering = ("-alert_id",)

    def find_rule(self, pk: int) -> CeAlertRule:
        return find_rule(get_object_or_404(CeAlert, pk=pk))

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """With whether they are silent."""
        is_silent = Q(rule__silenced_until__gt=database_time())
        alerts: QuerySet[Any] = super().get_queryset(request).select_related("rule").annotate(is_silent=is_silent)
        return alerts

    @badge_column(STATUS_BADGES, "status")
    def status_label(self, alert: Any) -> tuple[str, str]:
        """Whether it fires, and messages are sent."""
        return _name_alert_status(alert, bool(alert.is_silent))

    @admin.display(description="rule")
    def rule_label(self, alert: CeAlert) -> str:
        return alert.sentence

    @admin.display(description="worst value")
    def value_label(self, alert: CeAlert) -> str:
        return show_value(alert, "worst_value")

    def change_view(self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None) -> Any:
        """The alert with its messages and silences."""
        alert: Any = self.get_object(request, object_id)
        context: Mapping[str, Any] = {}
        if alert:
            user: Any = request.user
            rules = "audit.view_cealertrule"
            context = {
                "alert": alert,
                "status": _name_alert_status(alert, bool(alert.is_silent)),
                "values": {name: show_value(alert, name) for name in ("first_value", "worst_value", "value")}
                | {"bound": format_limit(find_measure(alert.measure), alert.bound)},
                "measure_label": find_measure(alert.measure).label,
                "turns_url": turns_url(user, **alert.search) if alert.search is not None else "",
                "rule_url": reverse("admin:audit_cealertrule_change", args=[alert.rule_id])
                if alert.rule_id and user.has_perm(rules)
                else "",
                "alert_messages": list(alert.messages.order_by("created_at", "channel", "recipient")),
                "silenced_rule": alert.rule if alert.is_silent else None,
                "is_firing": alert.status == CeAlert.Status.FIRING,
                "silence_form": SilenceForm(),
                "may_silence": user.has_perm(SILENCE),
            }
        return super().change_view(request, object_id, form_url, {**context, **(extra_context or {})})


def preview_rule(rule: CeAlertRule) -> dict[str, Any]:
    measure, now = find_measure(rule.measure), database_time()
    simulation = simulate_rule(rule, PREVIEW_DAYS, now)
    reading = read_rule(rule, read_counted_until() or now)
    newest = list(reversed(simulation.episodes))
    return {
        "sentence": describe_rule(rule),
        "days": PREVIEW_DAYS,
        "count": len(newest),
        "episodes": [(episode, format_value(measure, episode.worst)) for episode in newest[:_MOST_EPISODES]],
        "older": max(len(newest) - _MOST_EPISODES, 0),
        "direction": "highest" if rule.direction == CeAlertRule.Direction.OVER else "lowest",
        "extreme": None if simulation.extreme is None else format_value(measure, simulation.extreme),
        "now": None if reading.value is None else format_value(measure, reading.value),
        "turns": reading.turns,
        "is_enough": reading.is_enough,
        "fires": does_fire(rule, reading),
        "base": name_base(measure),
    }


def show_value(alert: CeAlert, name: str) -> str:
    return format_value(find_measure(alert.measure), getattr(alert, name))


def _name_status(rule: Any) -> tuple[str, str]:
    if not rule.is_enabled:
        return "OFF", "Off"
    if rule.is_silent:
        return "SILENCED", "Silenced, fires" if rule.is_firing else "Silenced"
    return ("FIRING", "Fires") if rule.is_firing else ("OK", "OK")


def _name_alert_status(alert: CeAlert, is_silent: bool) -> tuple[str, str]:
    if alert.status == CeAlert.Status.FIRING and is_silent:
        return "SILENCED", "Firing, silenced"
    return alert.status, str(alert.get_status_display())


def _refuse(request: HttpRequest) -> HttpResponse | None:
    if request.method != "POST":
        return HttpResponseNotAllowed(["POST"])
    require_right(request, SILENCE)
    return None
