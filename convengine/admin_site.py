"""How the admin is laid out: the places of the sidebar, the pages of each, and for whom."""

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
    """A page of the admin that belongs to a model, and how it is called there."""

    model: str
    title: str
    help: str
    #: Which page of the model; the list unless said otherwise.
    page: str = "changelist"
    #: The right that the page asks for; to see the model unless said otherwise.
    right: str = ""


@dataclass(frozen=True)
class Place:
    """Where somebody goes to do something, with the pages that belong there; the first is what its link opens."""

    title: str
    icon: str
    entries: Sequence[Entry]


#: By what people come for, not by tables: a page stands where its reader looks for it.
PLACES: Sequence[Place] = (
    Place(
        "Intents",
        "flag",
        (
            Entry("config_admin.CeIntent", "Intents", "What users may want."),
            Entry("config_admin.CeIntentClassifier", "Classifiers", "Wordings that mean an intent."),
            Entry(
                "config_admin.CeIntent",
                "Start a flow",
                "An intent with all it needs.",
                "start",
                "config_admin.add_ceintent",
            ),
            Entry("config_admin.CeIntent", "Map", "How intents lead to one another, state by state.", "map"),
        ),
    ),
    Place(
        "Rules",
        "rule",
        (
            Entry("config_admin.CeRule", "Rules", "When a condition holds, do one thing."),
            Entry("config_admin.CeStateGraph", "State graph", "Which state may follow which."),
        ),
    ),
    Place(
        "Answers",
        "chat",
        (
            Entry("config_admin.CeResponse", "Responses", "What the user gets in a state."),
            Entry("config_admin.CePromptTemplate", "Prompt templates", "What a model is told."),
            Entry("config_admin.CeVerbose", "Progress texts", "What users read while they wait."),
        ),
    ),
    Place(
        "Data to collect",
        "list_alt",
        (
            Entry("config_admin.CeOutputSchema", "Output schemas", "The fields to collect."),
            Entry("config_admin.CeContainerConfig", "Container data", "Data to fetch for a state."),
        ),
    ),
    Place(
        "Actions & tools",
        "build",
        (
            Entry("config_admin.CePendingAction", "Pending actions", 'What needs a "yes" before it runs.'),
            Entry("config_admin.CeMcpTool", "Tools", "What may be called, and where."),
            Entry("config_admin.CeTool", "Direct tool calls", "Tools that a state always calls."),
            Entry("config_admin.CeMcpDbTool", "Database tools", "The SQL behind a tool."),
            Entry("config_admin.CeMcpHttpTool", "HTTP tools", "The call behind a tool."),
            Entry("config_admin.CeMcpServer", "MCP servers", "Servers whose tools are discovered."),
            Entry("config_admin.CeMcpPlanner", "Planner prompts", "How a model plans its calls."),
            Entry("ce_executors.CeDocument", "Documents", "What document searches find."),
            Entry("ce_executors.CeDocumentCollection", "Collections", "Documents that belong together."),
        ),
    ),
    Place(
        "Policies",
        "gpp_maybe",
        (
            Entry("config_admin.CePolicy", "Policies", "What is never processed."),
            Entry("config_admin.CeMcpSqlGuardrail", "SQL guardrails", "What SQL may not use."),
        ),
    ),
    Place(
        "Settings",
        "tune",
        (
            Entry("config_admin.CeConfig", "Settings in force", "Every switch of the engine, live.", "effective"),
            Entry("config_admin.CeConfig", "Rows of settings", "What was set here, row by row."),
        ),
    ),
    Place(
        "Health",
        "monitor_heart",
        (Entry("config_admin.CeRule", "Health", "What is wrong, or may be, in all of it.", "health"),),
    ),
    Place(
        "Releases",
        "history",
        (
            Entry("config_admin.CeRelease", "Releases", "Every version of all of this."),
            Entry("config_admin.CeRelease", "Compare releases", "What differs between any two.", "compare"),
            Entry(
                "config_admin.CeRelease",
                "In and out",
                "Files of configuration, to take along and to import.",
                "transfer",
            ),
        ),
    ),
    Place(
        "Conversations",
        "forum",
        (
            Entry(
                "audit.CeAudit",
                "Try a conversation",
                "Say something, and see why it is answered so.",
                "talk",
                "ce_sessions.try_conversation",
            ),
            Entry(
                "audit.CeAudit",
                "Find",
                "Turns and conversations, by whatever is known of them.",
                "find",
                "ce_sessions.view_ceconversationhistory",
            ),
            Entry("ce_sessions.CeConversation", "Conversations", "Where each conversation stands."),
            Entry("ce_sessions.CeThread", "Threads", "Who writes on which channel."),
            Entry("ce_sessions.CeConversationHistory", "Turns", "What was said and answered."),
            Entry("audit.CeAudit", "Audit events", "Every stage that a turn reached."),
            Entry("audit.CeMcpUserFeedback", "Feedback", "What people thought of answers."),
            Entry("audit.CeMcpUserFeedback", "Rated rows", "Which rows' answers people dislike.", "rated"),
            Entry("audit.CeTurnRow", "Deciding rows", "Which rows decided which turns."),
            Entry("audit.CeLlmCallLog", "Model calls", "What models were asked and said."),
            Entry("ce_sessions.CePendingActionExecution", "Action runs", "Actions that were claimed."),
            Entry("ce_executors.CeNotification", "Sent messages", "What tools sent, and to whom."),
            Entry("ce_sessions.CeMemory", "Memory", "Summaries beyond the prompt window."),
            Entry("ce_sessions.CeSessionUnit", "Session units", "Facts taken from the turns."),
            Entry("audit.CeErasure", "Erasures", "Whose data was erased, by whom, why."),
            Entry("audit.CeAccessLog", "Who read what", "Which people opened which conversations."),
            Entry("ce_sessions.CeTurnTicket", "Waiting turns", "Turns that wait for their conversation."),
            Entry("ce_sessions.CeIdempotency", "Stored answers", "Answers to repeated requests."),
        ),
    ),
    Place(
        "Jobs",
        "schedule",
        (
            Entry("ce_jobs.CeJob", "Background jobs", "What runs by itself, and when."),
            Entry("ce_jobs.CeJobRun", "Runs of jobs", "What each run did."),
        ),
    ),
    Place(
        "Access",
        "key",
        (
            Entry("auth.User", "Users", "People who work here."),
            Entry("auth.Group", "Groups", "What they may do."),
            Entry("ce_api.CeApiKey", "API keys", "How other systems get in."),
        ),
    ),
)


def sidebar(request: HttpRequest) -> list[dict[str, Any]]:
    """Home, and the places with pages that this user may see; the place that is open lists its pages.

    A view whose page belongs elsewhere than its address says names that address as the request's `ce_place`.
    """
    places = [_place(place, found) for place in PLACES if (found := [e for e in place.entries if _visible(e, request)])]
    if not places:
        return []
    home = {"title": "Home", "icon": "home", "link": reverse("admin:index"), "items": []}
    links = [page["link"] for place in places for page in place["items"]]
    path = getattr(request, "ce_place", request.path)
    here = max((link for link in links if path.startswith(link)), key=len, default=path)
    for item in (home, *places):
        for page in item["items"]:
            page["active"] = page["link"] == here
        item["active"] = item["link"] == here or any(page["active"] for page in item["items"])
    return [{"items": [home, *places]}]


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


def finder_script(request: HttpRequest) -> str:
    """The script of the search box and of favourites."""
    return static("convengine/finder.js")


def sending_script(request: HttpRequest) -> str:
    """The script that loses no text to a session that ended."""
    return static("convengine/sending.js")


def manual_sheet(request: HttpRequest) -> str:
    """The style sheet of the manual, and of its panel beside forms."""
    return static("convengine/manual.css")


def manual_script(request: HttpRequest) -> str:
    """The script of the panel."""
    return static("convengine/manual.js")


def _visible(entry: Entry, request: HttpRequest) -> bool:
    model = apps.get_model(entry.model)
    if entry.right:
        return request.user.has_perm(entry.right)
    return site.is_registered(model) and site.get_model_admin(model).has_view_or_change_permission(request)


def _place(place: Place, entries: Sequence[Entry]) -> dict[str, Any]:
    pages = [{"title": entry.title, "help": entry.help, "link": _address(entry)} for entry in entries]
    return {"title": place.title, "icon": place.icon, "link": pages[0]["link"], "items": pages}


def _address(entry: Entry) -> str:
    opts = apps.get_model(entry.model)._meta
    return reverse(f"admin:{opts.app_label}_{opts.model_name}_{entry.page}")
