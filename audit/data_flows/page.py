"""The page *Data kept and sent*: what is kept where and how long, and what leaves the machine, as configured now."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Any, NamedTuple

from django.apps import apps
from django.db import connection
from django.db.models import CASCADE
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse

from audit.data_flows.destinations import list_outlets
from convengine.engine.rules.conditions.time_points import describe_count
from convengine.engine.turn import live_settings
from convengine.engine.turn.job import Retention
from convengine.engine.turn.snapshot import Snapshot
from convengine.server.admin_site import layout
from convengine.server.admin_site.pages import VIEW, SidebarEntry, page
from convengine.server.deployment import conf
from convengine.server.interfaces.configuration import configuration

TITLE = "What is kept, and what leaves the machine"
_ENTRY = SidebarEntry("Access", "Data kept and sent", f"{TITLE}.")
#: The section of tables that have no page.
_INTERNAL = "Internal"


class RetentionRule(NamedTuple):
    """How long data stays, and the setting or the variable that controls it, if there is one."""

    time: str
    setting: str = ""
    help: str = ""
    url: str = ""


@page("data/", of="audit.CeAccessLog", methods=("GET",), right=VIEW, entry=_ENTRY)
def data_page(request: HttpRequest) -> HttpResponse:
    links = {entry["title"]: entry["link"] for section in layout.list_places(request) for entry in section["items"]}
    database, snapshot = connection.settings_dict, configuration().current()
    context = {
        "title": TITLE,
        "database": f"{database['NAME']} on {database['HOST'] or 'this machine'}",
        "limited": list_limited_data(snapshot, links.get("All settings", "")),
        "unlimited": list_unlimited_data(),
        "sent": [(outlet, links.get(outlet.page)) for outlet in list_outlets(snapshot)],
    }
    return TemplateResponse(request, "audit/data.html", context)


def list_limited_data(snapshot: Snapshot, settings_url: str) -> Sequence[tuple[RetentionRule, Sequence[str]]]:
    """The data that jobs remove, grouped by retention rule."""
    groups = defaultdict[RetentionRule, list[str]](list)
    titles = map_table_titles()
    for retention in list_retentions():
        models = list_models(retention)
        names = [f"{titles[model][1]}: {retention.part}" if retention.part else titles[model][1] for model in models]
        groups[_describe_rule(retention.period, snapshot, settings_url)] += names
    # Rules that a setting controls come first.
    ordered = sorted(groups.items(), key=lambda group: not group[0].help)
    return [(rule, list(dict.fromkeys(names))) for rule, names in ordered]


def list_unlimited_data() -> Sequence[tuple[str, Sequence[str]]]:
    """The data that stays until somebody deletes it, grouped by section of the sidebar."""
    limited = {model for retention in list_retentions() if not retention.part for model in list_models(retention)}
    groups = defaultdict[str, list[str]](list)
    for model, (section, title) in map_table_titles().items():
        if model not in limited:
            groups[section].append(title)
    return [(section, list(dict.fromkeys(titles))) for section, titles in groups.items()]


def list_retentions() -> list[Retention]:
    return [retention for job in conf.load_all("JOBS") for retention in job.removes]


def list_models(retention: Retention) -> Iterator[Any]:
    """The models of a retention, and those whose rows are deleted together with theirs."""
    for label in retention.tables:
        model = apps.get_model(label)
        yield model
        if not retention.part:
            yield from (each.related_model for each in model._meta.related_objects if each.on_delete is CASCADE)


def map_table_titles() -> Mapping[Any, tuple[str, str]]:
    """The section and the title of each table in the sidebar. A table without a page has its own name."""
    entries = [(apps.get_model(entry.model), entry) for each in layout.list_sections() for entry in each.entries]
    known = {model: (entry.section, entry.title) for model, entry in entries if entry.page == "changelist"}
    rest = [model for model in apps.get_models() if model._meta.managed and model not in known]
    stored = {model: title for model, title in known.items() if model._meta.managed}
    return stored | {model: (_INTERNAL, _name_table(model)) for model in rest}


def _name_table(model: Any) -> str:
    if hasattr(model, "history_change_reason"):
        return "history of changed rows"
    name = str(model._meta.verbose_name)
    # Django derived this name from the name of the class.
    return str(model._meta.db_table) if name.startswith("ce ") else name


def _describe_rule(period: Any, snapshot: Snapshot, settings_url: str) -> RetentionRule:
    if isinstance(period, live_settings.Setting):
        days = live_settings.read(snapshot, period).value
        url = f"{settings_url}#{period.name.replace('/', '-')}" if settings_url else ""
        return RetentionRule(describe_count(days, "day") if days else "no limit", period.label, period.help, url)
    if isinstance(period, timedelta):
        return RetentionRule(_describe_time(period))
    return RetentionRule(_describe_time(timedelta(hours=conf.get(period))), f"CE_{period}")


def _describe_time(time: timedelta) -> str:
    hours = round(time.total_seconds() / 3600)
    return describe_count(hours, "hour") if hours % 24 else describe_count(hours // 24, "day")
