"""The page *Inbox*: groups of what the bot could not serve, each with what to do next."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from urllib.parse import urlencode

from django.contrib import admin, messages
from django.core.paginator import Paginator
from django.db.models import Count, Sum
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse

from audit.access_log.write import log_access
from audit.addresses import turn_url
from audit.inbox.collect import BY_WORDS, PERIOD, read_payloads, read_shown_turns
from audit.inbox.status import GroupGone, InboxDecision, decide
from audit.models import CeAccessLog, CeInboxGroup, CeMcpUserFeedback
from audit.models.inbox import ORDER, ORDER_OF_NOT_UNDERSTOOD, order_groups
from audit.narration import phrases as narration_phrases
from convengine.engine.clarification.collision import get_intent_name
from convengine.engine.documents.index import MOST_CARDS, get_document_index
from convengine.engine.forms.form import Field, get_form
from convengine.engine.forms.stages import FIELDS_READ
from convengine.engine.steps.intents.suggestions import NOTHING_SUGGESTED, map_intent_titles, suggest_intents
from convengine.engine.text.compare import code, shorten
from convengine.engine.text.whole_numbers import parse_whole_number
from convengine.engine.turn import rows
from convengine.engine.turn.snapshot import Snapshot
from convengine.engine.understanding.field import Kind as FieldKind
from convengine.engine.understanding.long_texts import is_long_text
from convengine.engine.understanding.phrases.naming import name_by_words
from convengine.engine.understanding.span import RefusalReason
from convengine.server.admin_site.missing_rights import require_right
from convengine.server.admin_site.pages import SidebarEntry, page
from convengine.server.admin_site.phrase_account import build_phrase_account
from convengine.server.admin_site.record_columns import find_row_name, row_url, teach_url
from convengine.server.admin_site.rights import READ_TURNS
from convengine.server.database.unreadable import read_rows
from convengine.server.interfaces.configuration import configuration
from convengine.server.sessions.models import CeConversationHistory

TITLE = "Inbox"
#: Who may teach may also decide about a group.
RIGHT_TO_DECIDE = "config_admin.add_ceintentclassifier"
PER_PAGE = 8
MOST_SUGGESTIONS = 3
_FORM = rows.OutputSchema.table
Kind, _STATUS = CeInboxGroup.Kind, CeInboxGroup.Status
#: What the groups of a kind are, and what to do about them.
ABOUT: Mapping[str, str] = {
    Kind.NOT_UNDERSTOOD: "Messages that nobody understood. Choose the intent that they mean: they become its phrases.",
    Kind.TWO_INTENTS: "Messages after which users were asked which intent they mean. Teach that intent.",
    Kind.REFUSED_VALUE: "Values that a field of a form refused. Each group says what fits the kind of the field.",
    Kind.FORM_GIVEN_UP: "Forms that ended before they were done. Look at the question of the field.",
    Kind.HANDED_OVER: "Messages that led to a person. Teach those that the bot can answer, or make a flow for them.",
    Kind.NEGATIVE: "Answers that users rated down. Read the comments, and edit the answer.",
    Kind.OTHER_SECTION: "Messages for which another section of a document helped than the first one that was shown.",
}


_SHOW_EXAMPLE = "Show in the question of {field} how an answer looks"
#: What to do about refused values, by the reason, else by the kind of the field.
_ADVICE: Mapping[str, str] = {
    **dict.fromkeys(
        (RefusalReason.OUT_OF_BOUNDS, RefusalReason.TOO_SHORT, RefusalReason.TOO_LONG), "Change the limits of {field}"
    ),
    RefusalReason.AMBIGUOUS: _SHOW_EXAMPLE,
    FieldKind.CHOICE: "Add a choice or a synonym to {field}",
    FieldKind.YES_NO: "Ask for {field} so that yes or no is the answer",
    FieldKind.PATTERN: "Change the pattern of {field}, or show an example in its question",
    FieldKind.TEXT: "Change the question of {field}",
    FieldKind.PERSON: "Make {field} a text, or change its question",
    FieldKind.OWN: "Look at the finder of {field}",
}


class NextStepLink(NamedTuple):
    """Something to do next."""

    label: str
    url: str
    reason: str = ""


class Tab(NamedTuple):
    kind: str
    label: str
    groups: int
    messages: int
    this_week: int
    week_before: int


@dataclass(frozen=True)
class GroupLine:
    group: CeInboxGroup
    title: str
    #: True for the words of a user.
    is_quoted: bool
    turn_url: str
    examples: Sequence[str]
    comments: Sequence[str] = ()
    actions: Sequence[NextStepLink] = field(default_factory=list)
    #: Why no intent is suggested; blank if one is.
    hint: str = ""


@page(
    "inbox/",
    of="audit.CeAudit",
    right=READ_TURNS,
    entry=SidebarEntry("Conversations", "Inbox", "Messages that nobody understood, and what to teach next.", 1),
)
def inbox_page(request: HttpRequest) -> HttpResponse:
    """The groups of a kind and status, what to teach first comes first; what is sent decides about one of them."""
    if request.method == "POST":
        require_right(request, RIGHT_TO_DECIDE)
        return _decide(request)
    if request.GET.get("part") == "words":
        return _explain_group(request)
    status, kind = request.GET.get("status", ""), request.GET.get("kind", "")
    status = status if status in _STATUS.values else _STATUS.OPEN.value
    kind = kind if kind in Kind.values else Kind.NOT_UNDERSTOOD.value
    groups = order_groups(CeInboxGroup.objects.select_related("assigned_to"))
    is_mine = bool(request.GET.get("mine"))
    groups = (
        groups.filter(assigned_to=request.user.pk, status=_STATUS.OPEN)
        if is_mine
        else groups.filter(status=status, kind=kind)
    )
    # At most MOST_GROUPS rows, so an offset is cheap.
    shown = Paginator(groups, PER_PAGE).get_page(request.GET.get("page"))
    log_access(request, CeAccessLog.Kind.SEARCH, search="inbox mine" if is_mine else f"inbox {kind} {status}")
    may_teach = request.user.has_perm(RIGHT_TO_DECIDE)
    context = {
        "title": TITLE,
        "lines": build_lines(list(shown), configuration().current(), may_teach=may_teach),
        "tabs": list_tabs(),
        "kind": kind,
        "about": ABOUT[kind],
        "order": ORDER_OF_NOT_UNDERSTOOD if kind == Kind.NOT_UNDERSTOOD and not is_mine else ORDER,
        "status": status,
        "choices": _STATUS.choices,
        "is_mine": is_mine,
        "page": shown,
        "may_decide": may_teach,
        "days": PERIOD.days,
        "address": request.get_full_path(),
        "query": urlencode({"mine": "1"} if is_mine else {"kind": kind, "status": status}),
    }
    return TemplateResponse(request, "audit/inbox.html", {**admin.site.each_context(request), **context})


def _explain_group(request: HttpRequest) -> HttpResponse:
    """How near the message of a group is to each intent, word by word, on the present configuration."""
    group = CeInboxGroup.objects.filter(pk=parse_whole_number(request.GET.get("group", "")) or 0).first()
    turn = read_rows(CeConversationHistory.objects.filter(pk=group.leader)) if group else []
    text = _read_text(group, turn[0]) if group and turn else ""
    log_access(request, CeAccessLog.Kind.SEARCH, search=f"inbox group {group.pk}" if group else "inbox group")
    accounts = [build_phrase_account(configuration().current(), text)] if text else []
    return TemplateResponse(request, "audit/phrase_accounts.html", {"phrase_accounts": accounts})


def list_tabs() -> list[Tab]:
    """Every kind with its open groups and their trend. One query."""
    of_kind = CeInboxGroup.objects.filter(status=_STATUS.OPEN).values_list("kind").order_by("kind")
    sums = of_kind.annotate(Count("pk"), Sum("messages"), Sum("this_week"), Sum("week_before"))
    counts = {kind: numbers for kind, *numbers in sums}
    return [Tab(kind.value, str(kind.label), *counts.get(kind.value, [0, 0, 0, 0])) for kind in Kind]


def build_lines(groups: Sequence[CeInboxGroup], snapshot: Snapshot, *, may_teach: bool = True) -> list[GroupLine]:
    """The groups with their texts and what to do next; a fixed number of queries."""
    read_shown_turns(groups, with_documents=any(group.kind == Kind.REFUSED_VALUE for group in groups))
    comments = _read_comments([group for group in groups if group.kind == Kind.NEGATIVE])
    return [_build_line(group, comments, snapshot, may_teach=may_teach) for group in groups]


def _read_comments(groups: Sequence[CeInboxGroup]) -> Mapping[Any, list[str]]:
    """The comments on the shown turns that were rated down, by turn."""
    ids = [turn.turn_id for group in groups for turn in group.shown_turns]
    by_turn: dict[Any, list[str]] = {}
    if ids:
        rated = CeMcpUserFeedback.objects.filter(
            turn_id__in=ids, feedback_type=CeMcpUserFeedback.Type.THUMBS_DOWN, replaced_at=None
        )
        for turn_id, comment in rated.exclude(comment="").order_by("pk").values_list("turn_id", "comment"):
            by_turn.setdefault(turn_id, []).append(shorten(comment, 200))
    return by_turn


def _build_line(
    group: CeInboxGroup, comments: Mapping[Any, list[str]], snapshot: Snapshot, *, may_teach: bool
) -> GroupLine:
    texts = [text for turn in group.shown_turns if (text := _read_text(group, turn))]
    leader = next((turn for turn in group.shown_turns if turn.pk == group.leader), None)
    url = turn_url(leader.conversation_id, leader.turn_no) if leader else ""
    if group.kind in BY_WORDS:
        title = texts[0] if texts and leader else ""
        actions = _list_teaching_links(group, texts, snapshot) if title and may_teach else []
        hint = NOTHING_SUGGESTED if actions and not any(action.reason for action in actions) else ""
        return GroupLine(group, title, bool(title), url, texts[1:], actions=actions, hint=hint)
    title, actions = _describe_subject(group, snapshot)
    own = [comment for turn in group.shown_turns for comment in comments.get(turn.turn_id, ())]
    return GroupLine(group, title, False, url, list(dict.fromkeys(texts)), own, actions if may_teach else [])


def _read_text(group: CeInboxGroup, turn: CeConversationHistory) -> str:
    """The message, or the part of it that the field refused."""
    if group.kind == Kind.REFUSED_VALUE:
        refusals = (
            item for payload in read_payloads(turn, [str(FIELDS_READ)]) for item in payload.get("refused") or ()
        )
        own = (item.get("text") for item in refusals if item.get("field") == group.field_name)
        return shorten(next((text for text in own if isinstance(text, str)), ""), 200)
    return shorten((turn.user_input or "").strip(), 300)


def _list_teaching_links(group: CeInboxGroup, texts: Sequence[str], snapshot: Snapshot) -> list[NextStepLink]:
    """The intents whose phrases come nearest, then the page for any other, and the one for a new flow."""
    if group.status == _STATUS.UNDERSTOOD:
        return []
    suggestions = suggest_intents(snapshot, texts, MOST_SUGGESTIONS)
    reasons = {suggestion.intent: suggestion.reason for suggestion in suggestions}
    titles = map_intent_titles(snapshot)
    if group.intent_code in titles:
        # What users chose goes first.
        chosen = f"users got it with their next message, {group.detail} of {group.messages} times"
        reasons = {group.intent_code: chosen} | {
            each: why for each, why in reasons.items() if each != group.intent_code
        }
    links = [
        NextStepLink(titles[intent], teach_url(group=group.pk, intent=intent), reason)
        for intent, reason in reasons.items()
    ]
    if group.kind == Kind.NOT_UNDERSTOOD:
        # Nothing answered it, so a section may.
        nearest = get_document_index(snapshot).find(texts[0])[:MOST_CARDS]
        links += [_link_section(group, section.text.document, section.text.section.name) for section in nearest]
    name = name_by_words(texts)
    new_flow = NextStepLink(
        f"New flow “{name}”" if name else "New flow with these messages",
        f"{reverse('admin:config_admin_ceintent_start')}?{urlencode({'group': group.pk})}",
    )
    if links:
        return [*links, NextStepLink("Another intent", teach_url(group=group.pk)), new_flow]
    return [new_flow, NextStepLink("Choose an intent", teach_url(group=group.pk))]


def _link_section(group: CeInboxGroup, document: int, section: str) -> NextStepLink:
    address = reverse("admin:config_admin_ceanswerdocument_document_sections", args=[document])
    return NextStepLink(
        f"This section answers it: {section.replace(' > ', ' › ')}",
        f"{address}?{urlencode({'group': group.pk, 'section': section})}",
    )


def _describe_subject(group: CeInboxGroup, snapshot: Snapshot) -> tuple[str, list[NextStepLink]]:
    """What the messages met, in words, and the pages to change it."""
    if group.kind == Kind.NEGATIVE:
        return _describe_rated_answer(group)
    if group.kind == Kind.OTHER_SECTION:
        return _describe_section(group, snapshot)
    form = _find_form(group, snapshot)
    title = get_intent_name(snapshot, group.intent_code or (form.intent_code if form else "")) or "A deleted form"
    field_title = _find_field_title(form, group.field_name)
    own = get_form(snapshot, form).field(group.field_name) if form and group.field_name else None
    if group.kind == Kind.REFUSED_VALUE:
        text = f"{field_title} of {title}: {narration_phrases.find_phrase('refused', group.detail)}"
        advice = _ADVICE.get(group.detail) or _ADVICE.get(own.spec.kind if own else "", _SHOW_EXAMPLE)
        label = advice.format(field=field_title)
    elif group.field_name:
        text, label = f"{title}: given up at {field_title}", f"Look at the question of {field_title}"
    else:
        text, label = f"{title}: left before it was done", "Look at the form"
    edit = row_url(_FORM, form.schema_id) if form else ""
    return text, [*_offer_long_text(own, field_title, edit), NextStepLink(label, edit)] if edit else []


def _describe_section(group: CeInboxGroup, snapshot: Snapshot) -> tuple[str, list[NextStepLink]]:
    """The section that helped, and the page where it gets the messages."""
    row = snapshot.row(rows.AnswerDocument, parse_whole_number(group.row_pk) or 0)
    links = [_link_section(group, row.document_id, group.detail)] if row else []
    return f"{row.title if row else 'A deleted document'}: {group.detail.replace(' > ', ' › ')}", links


def _offer_long_text(own: Field | None, title: str, edit: str) -> list[NextStepLink]:
    """For a short text the page of its form, where it is filled in as a long one."""
    if own is None or own.spec.kind is not FieldKind.TEXT or is_long_text(own.spec, None):
        return []
    return [NextStepLink(f"Make {title} a long text", f"{edit}?{urlencode({'field': own.path, 'long': 1})}")]


def _describe_rated_answer(group: CeInboxGroup) -> tuple[str, list[NextStepLink]]:
    """The answer that was rated, and the page to edit it. An answer of no row, or of a deleted one, has none."""
    name = find_row_name(group.table_name, group.row_pk) if group.table_name else ""
    if not name:
        return "An answer without a row", []
    edit = row_url(group.table_name, group.row_pk)
    return f"Answer {name}", [NextStepLink("Edit the answer", edit)] if edit else []


def _find_form(group: CeInboxGroup, snapshot: Snapshot) -> rows.OutputSchema | None:
    if group.table_name == _FORM and group.row_pk.isdecimal():
        return snapshot.row(rows.OutputSchema, int(group.row_pk))
    own = (row for row in snapshot.enabled_rows(rows.OutputSchema) if code(row.intent_code) == group.intent_code)
    return next((row for row in own if _find_field(row, group.field_name)), None)


def _find_field(form: rows.OutputSchema, name: str) -> Mapping[str, Any] | None:
    """The property of a field by its path."""
    node: Any = form.json_schema
    for part in name.split("."):
        node = node.get("properties", {}).get(part) if isinstance(node, Mapping) else None
    return node if isinstance(node, Mapping) else None


def _find_field_title(form: rows.OutputSchema | None, name: str) -> str:
    own = _find_field(form, name) if form and name else None
    return str((own or {}).get("title") or name)


def _decide(request: HttpRequest) -> HttpResponse:
    """Dismiss or reopen a group, assign it, or note something about it."""
    number = parse_whole_number(request.POST.get("group", ""))
    user: Any = request.user
    try:
        if number is None:
            raise GroupGone
        action = InboxDecision(request.POST.get("action", ""))
        _, text = decide(number, action, user.get_username(), user=user, note=request.POST.get("note", ""))
        messages.success(request, text)
    except GroupGone as gone:
        messages.warning(request, str(gone))
    except ValueError:
        messages.warning(request, "Nothing was changed: choose one of the buttons of the group.")
    return HttpResponseRedirect(request.get_full_path())
