"""The layout of the admin: sidebar entries, their pages, and the rights."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from operator import itemgetter
from typing import Any

from django.apps import apps
from django.contrib.admin import site
from django.http import HttpRequest
from django.urls import get_script_prefix, reverse


@dataclass(frozen=True)
class SidebarLink:
    model: str
    title: str
    help: str
    #: The kind of page; default is the list.
    page: str = "changelist"
    #: The right for the page; default is to view the model.
    right: str = ""
    #: The section whose page it is; below *More*, the heading above it.
    section: str = ""


@dataclass(frozen=True)
class SidebarSection:
    """A sidebar entry with its pages; it opens the first."""

    title: str
    icon: str
    entries: Sequence[SidebarLink]


_ENGINE_ROOM = "Engine room"
#: Pages that no task of the manual's first hours needs: they are below *More*, and so is all of the engine room.
_SELDOM = frozenset(
    {
        *("Forms", "State graph", "Policies", "Changed settings", "Prompt templates", "Progress texts", "Data sources"),
        *("Documents", "Collections", "Direct tool calls", "Database tools", "HTTP tools", "Planner prompts"),
        *("Import a document", "SQL guardrails", "Coverage of tests", "Test runs", "Compare releases", "Ledger"),
        "Come over",
    }
)
#: Grouped by what users want to do, not by tables: first what analysts work with.
#: Pages that are no lists of models declare their entries themselves (`SidebarEntry`).
_SECTIONS: Sequence[SidebarSection] = (
    SidebarSection(
        "Intents",
        "flag",
        (
            SidebarLink("config_admin.CeIntent", "Intents", "The goals of users."),
            SidebarLink("config_admin.CeIntentClassifier", "Phrases", "Texts that lead to an intent."),
            SidebarLink("config_admin.CeOutputSchema", "Forms", "The fields to collect."),
        ),
    ),
    SidebarSection(
        "Rules & settings",
        "rule",
        (
            SidebarLink("config_admin.CeRule", "Rules", "If a condition is met, do one action."),
            SidebarLink("config_admin.CeStateGraph", "State graph", "The allowed moves between states."),
            SidebarLink("config_admin.CePolicy", "Policies", "Messages that are blocked."),
            SidebarLink("config_admin.CeConfig", "Changed settings", "The stored values of settings."),
        ),
    ),
    SidebarSection(
        "Answers",
        "chat",
        (
            SidebarLink("config_admin.CeResponse", "Answers", "The texts for users, by state."),
            SidebarLink("config_admin.CeAnswerDocument", "Answer documents", "Texts whose sections answer questions."),
            SidebarLink("config_admin.CePromptTemplate", "Prompt templates", "Instructions for models."),
            SidebarLink("config_admin.CeVerbose", "Progress texts", "Texts that users see while they wait."),
            SidebarLink("config_admin.CeContainerConfig", "Data sources", "Data from other systems, by state."),
            SidebarLink("ce_executors.CeDocument", "Documents", "The texts for document searches."),
            SidebarLink("ce_executors.CeDocumentCollection", "Collections", "Groups of documents."),
        ),
    ),
    SidebarSection(
        "Actions & tools",
        "bolt",
        (
            SidebarLink("config_admin.CePendingAction", "Pending actions", "Actions that run after the user confirms."),
            SidebarLink("config_admin.CeMcpTool", "Tools", "The tools and their scope."),
            SidebarLink("config_admin.CeTool", "Direct tool calls", "Tools that are always called in a state."),
            SidebarLink("config_admin.CeMcpDbTool", "Database tools", "The SQL statement of a tool."),
            SidebarLink("config_admin.CeMcpHttpTool", "HTTP tools", "The HTTP request of a tool."),
            SidebarLink(
                "config_admin.CeMcpPlanner", "Planner prompts", "Instructions for the model that plans tool calls."
            ),
            SidebarLink(
                "config_admin.CeMcpSqlGuardrail",
                "SQL guardrails",
                "Functions and keywords that SQL may or must not use.",
            ),
        ),
    ),
    SidebarSection(
        "Try & test",
        "science",
        (
            SidebarLink("config_admin.CeTestCase", "Tests", "Conversations with expected results."),
            SidebarLink("config_admin.CeTestRun", "Test runs", "Which tests passed, on which configuration."),
        ),
    ),
    SidebarSection(
        "Releases",
        "history",
        (
            SidebarLink("config_admin.CeRelease", "Releases", "All versions of the configuration."),
            SidebarLink("config_admin.CeDraft", "Drafts", "Changes that are tried before they are live."),
            SidebarLink(
                "config_admin.CeGradualRelease",
                "Gradual releases",
                "Releases that a part of the conversations gets first.",
            ),
        ),
    ),
    SidebarSection(
        "Conversations",
        "forum",
        (
            SidebarLink("ce_sessions.CeConversation", "Conversations", "All conversations with their status."),
            SidebarLink("ce_sessions.CeConversationHistory", "Turns", "Messages and answers."),
            SidebarLink("audit.CeMcpUserFeedback", "Feedback", "Ratings and comments on answers."),
        ),
    ),
    SidebarSection(
        "Reports",
        "bar_chart",
        (
            SidebarLink("audit.CeAlert", "Alerts", "When a number was beyond its limit, and who was informed."),
            SidebarLink("audit.CeAlertRule", "Alert rules", "Rules that watch numbers and send messages."),
        ),
    ),
    SidebarSection(
        _ENGINE_ROOM,
        "settings_suggest",
        (
            SidebarLink("audit.CeAudit", "Audit events", "Everything that happened in turns."),
            SidebarLink("audit.CeTurnIndex", "Used rows", "The rows that decided each turn."),
            SidebarLink("audit.CeLlmCallLog", "Model calls", "Prompts and responses of models."),
            SidebarLink("ce_sessions.CePendingActionExecution", "Action runs", "Executions of actions and tasks."),
            SidebarLink("ce_executors.CeNotification", "Sent messages", "E-mails and webhooks sent by tools."),
            SidebarLink("ce_webhooks.CeWebhookDelivery", "Webhook deliveries", "Events that go to webhooks."),
            SidebarLink("ce_sessions.CeThread", "Threads", "Participants and their channels."),
            SidebarLink("ce_sessions.CeMemory", "Memory", "Summaries of long conversations."),
            SidebarLink("ce_sessions.CeSessionUnit", "Session units", "Facts from earlier turns."),
            SidebarLink("ce_sessions.CeTurnTicket", "Waiting turns", "Turns that wait for a running turn."),
            SidebarLink("ce_channels.CeChannelMessage", "Channel messages", "Answers that go to channels."),
            SidebarLink("ce_channels.CeOptOut", "Opted out", "Users of channels who want no messages."),
            SidebarLink("ce_queued.CeQueuedMessage", "Queued messages", "Messages whose callers do not wait."),
            SidebarLink("ce_sessions.CeIdempotency", "Stored answers", "Answers for repeated requests."),
            SidebarLink("config_admin.CeMcpServer", "MCP servers", "External servers that offer tools."),
            SidebarLink("ce_jobs.CeJob", "Background jobs", "Scheduled tasks."),
            SidebarLink("ce_jobs.CeJobRun", "Runs of jobs", "Results of the runs."),
        ),
    ),
    SidebarSection(
        "Access",
        "key",
        (
            SidebarLink("auth.User", "Users", "Accounts of people."),
            SidebarLink("auth.Group", "Groups", "Permissions of roles."),
            SidebarLink("ce_sign_in.CeGroupMapping", "Groups of the provider", "Which group here each of them is."),
            SidebarLink("socialaccount.SocialAccount", "Connected accounts", "Users who sign in through the provider."),
            SidebarLink("mfa.Authenticator", "Second factors", "Apps, keys and recovery codes of users."),
            SidebarLink("usersessions.UserSession", "Sessions", "Where users are signed in."),
            SidebarLink("ce_api.CeApiKey", "API keys", "Access for other systems."),
            SidebarLink("ce_channels.CeChannel", "Channels", "Where conversations happen, such as Telegram."),
            SidebarLink("ce_webhooks.CeWebhook", "Webhooks", "Events that other systems get."),
            SidebarLink("audit.CeAccessLog", "Access log", "Who opened which conversations, and who signed in."),
            SidebarLink("audit.CeErasure", "Erasures", "Erased data, with author and reason."),
            SidebarLink("audit.CeLedger", "Ledger", "Daily hashes of the whole record, and what was removed by rule."),
        ),
    ),
)


@cache
def list_sections() -> Sequence[SidebarSection]:
    """The sections with their entries, and *More* with those that are seldom needed."""
    located = _list_located_entries()
    seldom = [entry for entry in located if entry.section == _ENGINE_ROOM or entry.title in _SELDOM]
    sections = [
        replace(section, entries=[entry for entry in located if entry.section == section.title and entry not in seldom])
        for section in _SECTIONS
    ]
    return [*(section for section in sections if section.entries), SidebarSection("More", "more_horiz", seldom)]


def _list_located_entries() -> list[SidebarLink]:
    """All entries with their sections, in the order of the sections."""
    entries = {section.title: list(filter(_is_installed, section.entries)) for section in _SECTIONS}
    declared = [
        (page.entry, known.opts.label, page.name, page.right if "." in page.right else "")
        for known in site._registry.values()
        # `PagesAdmin` cannot be imported here: its base renders a template, whose tags need this module.
        for page in getattr(known, "list_pages", list)()
        if page.entry
    ]
    for entry, model, name, right in sorted(declared, key=lambda each: each[0].position):
        entries[entry.section].insert(entry.position, SidebarLink(model, entry.title, entry.help, name, right))
    return [replace(entry, section=title) for title, listed in entries.items() for entry in listed]


def _is_installed(entry: SidebarLink) -> bool:
    """Whether the page of an entry exists: some installations leave out its app, or do not register it."""
    app, _, model = entry.model.partition(".")
    return app in apps.app_configs and bool(entry.right or site.is_registered(apps.get_model(app, model)))


def sidebar(request: HttpRequest) -> list[dict[str, Any]]:
    """Home, and the entries with the pages that this user works with, or is on."""
    places = list_places(request)
    shown = [{**item, "items": [page for page in item["items"] if page["listed"]]} for item in places[1:]]
    return [{"items": [*places[:1], *filter(itemgetter("items"), shown)]}] if places else []


def list_places(request: HttpRequest) -> list[dict[str, Any]]:
    """Home, and all sections with the pages that this user may see; `listed` says whether the sidebar has a page.

    A view may set the request's `ce_place` to the address of the page that should be active.
    """
    sections = []
    for section in list_sections():
        if pages := [_describe_page(entry, request) for entry in section.entries if _visible(entry, request)]:
            item = {"title": section.title, "icon": section.icon, "link": pages[0]["link"], "items": pages}
            sections.append(item)
    if not sections:
        return []
    home = {"title": "Home", "icon": "home", "link": reverse("admin:index"), "items": []}
    links = [page["link"] for section in sections for page in section["items"]]
    path = getattr(request, "ce_place", request.path)
    active_link = max((link for link in links if path.startswith(link)), key=len, default=path)
    for item in (home, *sections):
        for page in item["items"]:
            page["active"] = page["link"] == active_link
        item["active"] = active_link in (item["link"], *(page["link"] for page in item["items"]))
    _list_engine_room([page for section in sections for page in section["items"]])
    return [home, *sections]


def _list_engine_room(pages: Sequence[dict[str, Any]]) -> None:
    """The engine room is for users who may do more there than read; others find its pages by the search."""
    engine_room = [page for page in pages if page["section"] == _ENGINE_ROOM]
    listed = any(page["changes"] or page["active"] for page in engine_room)
    for page in engine_room:
        page["listed"] = listed


def find_entry_right(path: str) -> str:
    """The right of its own that the page of a sidebar entry needs; blank for other pages."""
    entries = (entry for section in list_sections() for entry in section.entries if entry.right)
    return next((entry.right for entry in entries if _address(entry) == path), "")


def find_entry_help(path: str) -> str:
    """What the sidebar entry of a page says about it; blank for other pages."""
    entries = (entry for section in list_sections() for entry in section.entries)
    return next((entry.help for entry in entries if _address(entry) == path), "")


def find_nearest_page(request: HttpRequest) -> tuple[str, str] | None:
    """The page of the sidebar that the request's address lies below, as (address, title), if the user may open it."""
    pages = [page for section in list_places(request) for page in section["items"]]
    above = [page for page in pages if request.path.startswith(page["link"]) and request.path != page["link"]]
    nearest = max(above, key=lambda page: len(page["link"]), default=None)
    return (nearest["link"], nearest["title"]) if nearest else None


def _visible(entry: SidebarLink, request: HttpRequest) -> bool:
    model = apps.get_model(entry.model)
    if entry.right:
        return request.user.has_perm(entry.right)
    return site.is_registered(model) and site.get_model_admin(model).has_view_or_change_permission(request)


def _describe_page(entry: SidebarLink, request: HttpRequest) -> dict[str, Any]:
    """A page of the sidebar; `changes` says whether the user may do more there than read."""
    opts = apps.get_model(entry.model)._meta
    actions = (f"{action}_{opts.model_name}" for action in opts.default_permissions if action != "view")
    rights = (*actions, *(right for right, _ in opts.permissions))
    return {
        "title": entry.title,
        "help": entry.help,
        "link": _address(entry),
        "section": entry.section,
        "listed": True,
        "changes": any(request.user.has_perm(f"{opts.app_label}.{right}") for right in rights),
    }


def _address(entry: SidebarLink) -> str:
    return _reverse_page(entry.model, entry.page, get_script_prefix())


@cache
def _reverse_page(model: str, page: str, prefix: str) -> str:
    """The address of a model's page below the deployment's `prefix`. Each page of the admin needs some forty."""
    opts = apps.get_model(model)._meta
    return reverse(f"admin:{opts.app_label}_{opts.model_name}_{page}")
