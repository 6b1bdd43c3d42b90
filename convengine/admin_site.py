"""How the admin is laid out: what stands in the sidebar, in which groups, for whom."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.apps import apps
from django.contrib.admin import site
from django.http import HttpRequest
from django.templatetags.static import static
from django.urls import reverse


@dataclass(frozen=True)
class Entry:
    """A list of the admin, by its model's label, and how it is called there."""

    model: str
    title: str
    icon: str
    help: str


GROUPS: Sequence[tuple[str, Sequence[Entry]]] = (
    (
        "Conversation",
        (
            Entry("config_admin.CeIntent", "Intents", "flag", "What users may want."),
            Entry("config_admin.CeIntentClassifier", "Classifiers", "alt_route", "Wordings that mean an intent."),
            Entry("config_admin.CeRule", "Rules", "rule", "When a condition holds, do one thing."),
            Entry("config_admin.CeStateGraph", "State graph", "account_tree", "Which state may follow which."),
            Entry("config_admin.CeResponse", "Responses", "chat", "What the user gets in a state."),
            Entry("config_admin.CePromptTemplate", "Prompt templates", "edit_note", "What a model is told."),
        ),
    ),
    (
        "Data and actions",
        (
            Entry("config_admin.CeOutputSchema", "Output schemas", "list_alt", "The fields to collect."),
            Entry("config_admin.CeContainerConfig", "Container data", "database", "Data to fetch for a state."),
            Entry("config_admin.CePendingAction", "Pending actions", "task_alt", 'What needs a "yes" before it runs.'),
            Entry("config_admin.CeMcpTool", "Tools", "build", "What may be called, and where."),
            Entry("config_admin.CeTool", "Direct tool calls", "bolt", "Tools that a state always calls."),
            Entry("config_admin.CeMcpDbTool", "Database tools", "table", "The SQL behind a tool."),
            Entry("config_admin.CeMcpHttpTool", "HTTP tools", "http", "The call behind a tool."),
            Entry("ce_executors.CeDocument", "Documents", "description", "What document searches find."),
            Entry("ce_executors.CeDocumentCollection", "Collections", "folder", "Documents that belong together."),
            Entry("config_admin.CeMcpServer", "MCP servers", "dns", "Servers whose tools are discovered."),
            Entry("config_admin.CeMcpPlanner", "Planner prompts", "psychology", "How a model plans its calls."),
        ),
    ),
    (
        "Safety",
        (
            Entry("config_admin.CePolicy", "Policies", "gpp_maybe", "What is never processed."),
            Entry("config_admin.CeMcpSqlGuardrail", "SQL guardrails", "shield", "What SQL may not use."),
        ),
    ),
    (
        "Settings and releases",
        (
            Entry("config_admin.CeConfig", "Live settings", "tune", "Switches of the engine, live."),
            Entry("config_admin.CeVerbose", "Progress texts", "hourglass_top", "What users read while they wait."),
            Entry("config_admin.CeRelease", "Releases", "history", "Every version of all of this."),
        ),
    ),
    (
        "Record",
        (
            Entry("ce_sessions.CeConversation", "Conversations", "forum", "Where each conversation stands."),
            Entry("ce_sessions.CeConversationHistory", "Turns", "sync_alt", "What was said and answered."),
            Entry("audit.CeAudit", "Audit events", "manage_search", "Every stage that a turn reached."),
            Entry("audit.CeTurnRow", "Deciding rows", "gavel", "Which rows decided which turns."),
            Entry("audit.CeLlmCallLog", "Model calls", "smart_toy", "What models were asked and said."),
            Entry("ce_sessions.CePendingActionExecution", "Action runs", "play_circle", "Actions that were claimed."),
            Entry("ce_executors.CeNotification", "Sent messages", "mail", "What tools sent, and to whom."),
            Entry("ce_sessions.CeMemory", "Memory", "psychology_alt", "Summaries beyond the prompt window."),
            Entry("ce_sessions.CeSessionUnit", "Session units", "lightbulb", "Facts taken from the turns."),
            Entry("ce_sessions.CeTurnTicket", "Waiting turns", "queue", "Turns that wait for their conversation."),
            Entry("ce_sessions.CeIdempotency", "Stored answers", "replay", "Answers to repeated requests."),
        ),
    ),
    (
        "Access",
        (
            Entry("auth.User", "Users", "person", "People who work here."),
            Entry("auth.Group", "Groups", "group", "What they may do."),
            Entry("ce_api.CeApiKey", "API keys", "key", "How other systems get in."),
        ),
    ),
)


def sidebar(request: HttpRequest) -> list[dict[str, Any]]:
    """The groups with the lists that this user may see; a group without any is left out."""
    groups = ((title, [_item(entry) for entry in entries if _visible(entry, request)]) for title, entries in GROUPS)
    found = [{"title": title, "separator": True, "items": items} for title, items in groups if items]
    return [group | {"separator": place > 0} for place, group in enumerate(found)]


def icon(request: HttpRequest) -> str:
    """The icon of the browser's tab."""
    return static("convengine/icon.svg")


def style_sheet(request: HttpRequest) -> str:
    """The style sheet of our own pages and widgets."""
    return static("convengine/admin.css")


def work_sheet(request: HttpRequest) -> str:
    """The style sheet of workspaces, and of what forms try out."""
    return static("convengine/work.css")


def script(request: HttpRequest) -> str:
    """The script of pickers, choices with help, and copying."""
    return static("convengine/admin.js")


def _visible(entry: Entry, request: HttpRequest) -> bool:
    model = apps.get_model(entry.model)
    return site.is_registered(model) and site.get_model_admin(model).has_view_or_change_permission(request)


def _item(entry: Entry) -> dict[str, Any]:
    opts = apps.get_model(entry.model)._meta
    address = reverse(f"admin:{opts.app_label}_{opts.model_name}_changelist")
    return {"title": entry.title, "icon": entry.icon, "link": address, "help": entry.help}
