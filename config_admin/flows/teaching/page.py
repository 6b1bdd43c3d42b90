"""*Teach this*: choose the intent of a message, read what its phrases would change, and save them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple
from urllib.parse import urlencode

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.defaultfilters import pluralize
from django.template.response import TemplateResponse
from django.urls import reverse

from config_admin.drafts.middleware import find_needed_draft, offer_drafts
from config_admin.editing import reasons
from config_admin.editing.context import get_editor_context
from config_admin.editing.given_messages import (
    add_given_messages,
    note_taught,
    read_given_messages,
    read_number,
)
from config_admin.editing.links import row_url, workspace_url
from config_admin.flows.add_from_page import add_from_page
from config_admin.flows.compared_phrases import describe_new_phrases
from config_admin.flows.teaching.effect import MOST_SHOWN, ChangedMessage, ChangeKind, LessonEffect, find_effect
from config_admin.flows.teaching.lesson import Lesson, drop_known_phrases, find_disabled_phrase, find_state
from config_admin.releases.working_copy import find_working_copy
from config_admin.validation.stored_columns import control_plane
from convengine.engine.steps.intents.suggestions import (
    NOTHING_SUGGESTED,
    map_intent_titles,
    suggest_intents,
)
from convengine.engine.text.compare import code, shorten_line, storable
from convengine.engine.text.wording import did_you_mean
from convengine.engine.turn import rows
from convengine.engine.turn.snapshot import Snapshot
from convengine.server.admin_site.pages import page
from convengine.server.admin_site.rights import READ_TURNS
from convengine.server.database.sql import database_time
from convengine.server.interfaces.inbox import StoredMessage, inbox

TITLE = "Teach this"
#: Messages of the period that are read.
MOST_MESSAGES = 100_000
_MOST_PHRASES, _LONGEST, _SUGGESTED = 50, 500, 4
_PHRASES = rows.Classifier.table


class OfferedPhrase(NamedTuple):
    text: str
    is_chosen: bool


@dataclass
class TeachingRequest:
    """What the page asks: the phrases, and their intent."""

    phrases: list[OfferedPhrase]
    intent: str = ""
    #: The intent as it was typed.
    typed: str = ""
    more: str = ""
    problem: str = ""
    #: The row that the problem is about; blank for none.
    problem_url: str = ""

    @property
    def chosen(self) -> list[str]:
        lines = (line.strip() for line in self.more.splitlines())
        return [*(phrase.text for phrase in self.phrases if phrase.is_chosen), *filter(None, lines)]


@page("teach/", of="config_admin.CeIntentClassifier")
def teach(request: HttpRequest) -> HttpResponse:
    """The messages and the intents; with an intent what the phrases would change; then the release."""
    if not admin.site.get_model_admin(control_plane()[_PHRASES]).has_add_permission(request):
        raise PermissionDenied
    snapshot = get_editor_context(request).snapshot
    group = read_number(request, "group")
    given = read_given_messages(request)
    suggestions = suggest_intents(snapshot, [message.text for message in given], _SUGGESTED)
    choice = _read_choice(request, snapshot, given)
    effect = _find_effect(request, snapshot, choice)
    context: dict[str, Any] = {}
    if request.POST.keys() & {"_save", "_to_draft"} and effect and not effect.errors:
        answer = _answer_wish(request, effect, group)
        if isinstance(answer, HttpResponse):
            return answer
        context |= answer
    context |= {
        "title": TITLE,
        "given": given,
        "may_read": request.user.has_perm(READ_TURNS),
        "choice": choice,
        "suggestions": suggestions,
        "is_other": choice.intent not in {suggestion.intent for suggestion in suggestions},
        "intents": sorted(map_intent_titles(snapshot).items(), key=lambda item: item[1].casefold()),
        "reason": reasons.read_reason(request) or ("Messages of the inbox" if group else "A message of a conversation"),
        "back_url": reverse("admin:audit_ceaudit_inbox") if group else "",
        "draft": getattr(request, "ce_draft", None),
        "needs_draft": find_needed_draft(request),
        "form_url": _build_form_url(request, choice),
        "nothing_suggested": NOTHING_SUGGESTED,
        "new_flow_url": add_given_messages(reverse("admin:config_admin_ceintent_start"), request),
        "is_post": request.method == "POST",
        **_describe_effect(request, snapshot, effect),
    }
    return TemplateResponse(request, "config_admin/teach.html", context)


def _answer_wish(request: HttpRequest, effect: LessonEffect, group: int | None) -> HttpResponse | dict[str, Any]:
    """Save what the page showed, with a reason, or say why not."""
    is_tried, reason = request.POST.get("tried") == effect.digest, reasons.read_reason(request)
    if not (is_tried and reason):
        return {"is_outdated": not is_tried, "reason_missing": "" if reason else reasons.explain_blank_reason(request)}
    if "_to_draft" in request.POST and find_working_copy() is None:
        return offer_drafts(request, "The phrases wait in a draft until it is published.")
    return _save(request, effect.lesson, group)


def _read_choice(request: HttpRequest, snapshot: Snapshot, given: Sequence[StoredMessage]) -> TeachingRequest:
    """What was sent; at first all wordings, for the intent in the address."""
    if request.method != "POST":
        texts = [shorten_line(message.text, _LONGEST) for message in given]
        each_once = list({text.casefold(): text for text in reversed(texts)}.values())[::-1]
        offered = [OfferedPhrase(text, is_chosen=True) for text in each_once]
        choice = TeachingRequest(offered, typed=storable(request.GET.get("intent", "")).strip())
        choice.intent, choice.problem = _read_intent(snapshot, choice.typed)
        return choice
    choice = _read_sent(request)
    choice.intent, choice.problem = _read_intent(snapshot, choice.typed)
    if choice.problem:
        return choice
    if len(choice.chosen) > _MOST_PHRASES:
        choice.problem = f"At most {_MOST_PHRASES} phrases can be taught at once. Leave some out."
    elif not choice.intent:
        choice.problem = "Choose the intent that these messages mean."
    elif not choice.chosen:
        choice.problem = "Tick at least one wording, or write one."
    return choice


def _read_sent(request: HttpRequest) -> TeachingRequest:
    """The posted phrases and intent. Too long ones are cut, and phrases above the limit are dropped."""
    sent, used = request.POST.getlist("phrase"), set(request.POST.getlist("use"))
    texts = [storable(text).strip()[:_LONGEST] for text in sent[:_MOST_PHRASES]]
    offered = [OfferedPhrase(text, str(number) in used) for number, text in enumerate(texts)]
    typed, other = request.POST.get("intent", ""), request.POST.get("other", "").strip()
    # What was typed since the page was shown counts, whatever is chosen above it.
    if typed in ("", "other") or (other and other != request.POST.get("other_before", "")):
        typed = other
    more = request.POST.get("more", "")[: _LONGEST * _MOST_PHRASES]
    return TeachingRequest(offered, typed=storable(typed).strip(), more=more)


def _read_intent(snapshot: Snapshot, typed: str) -> tuple[str, str]:
    """The code of an intent that was typed as code or title, and the problem if there is none."""
    if not typed:
        return "", ""
    titles = map_intent_titles(snapshot)
    # A choice of the list reads "Order status (ORDER_STATUS)".
    inner = typed[typed.rfind("(") + 1 : -1] if typed.endswith(")") else typed
    for name in (typed, inner):
        if code(name) in titles:
            return code(name), ""
    by_title = {title.casefold(): intent for intent, title in titles.items()}
    if intent := by_title.get(typed.casefold()):
        return intent, ""
    return "", f"No intent is called “{shorten_line(typed, 60)}”.{did_you_mean(typed, [*titles, *titles.values()])}"


def _find_effect(request: HttpRequest, snapshot: Snapshot, choice: TeachingRequest) -> LessonEffect | None:
    """What the phrases that the intent does not have yet would change.

    Returns None if no phrase can be added; the choice then has the problem, if there is one.
    """
    if not choice.intent or choice.problem:
        return None
    phrases = drop_known_phrases(snapshot, choice.intent, choice.chosen)
    if not phrases:
        choice.problem = "The intent has these phrases already." if choice.chosen else ""
        return None
    if disabled := find_disabled_phrase(snapshot, choice.intent, phrases):
        name = f"“{shorten_line(disabled.pattern or '', 60)}” (phrase {disabled.classifier_id})"
        choice.problem = f"The intent has {name} already, switched off. Switch that row on, or leave the wording out."
        choice.problem_url = row_url(disabled.table, disabled.pk)
        return None
    lesson = Lesson(choice.intent, find_state(snapshot, choice.intent), tuple(phrases))
    texts = inbox().count_message_texts(MOST_MESSAGES) if request.user.has_perm(READ_TURNS) else {}
    return find_effect(lesson, texts, database_time(), with_tests=request.user.has_perm("config_admin.view_cetestcase"))


def _save(request: HttpRequest, lesson: Lesson, group: int | None) -> HttpResponse | dict[str, Any]:
    """Store the phrases as one release, or in the open draft; returns the reasons if they were refused."""
    done = f"{len(lesson.phrases)} phrase{pluralize(len(lesson.phrases))} of {lesson.intent} saved."
    if refused := add_from_page(request, lesson.make_document(), done):
        return {"refused": refused}
    if group is not None and request.user.has_perm(READ_TURNS):
        note_taught(request, f"Taught as {lesson.intent}")
        return HttpResponseRedirect(reverse("admin:audit_ceaudit_inbox"))
    return HttpResponseRedirect(workspace_url(lesson.intent))


def _build_form_url(request: HttpRequest, choice: TeachingRequest) -> str:
    """The form of one phrase with all its columns."""
    values = {"rule_type": "PHRASE", "intent_code": choice.intent, "message_of": request.GET.get("message_of", "")}
    given = urlencode({name: value for name, value in values.items() if value})
    return f"{reverse('admin:config_admin_ceintentclassifier_add')}?{given}"


class MessageList(NamedTuple):
    """Changed messages of a kind, as the page shows them."""

    title: str
    look: str
    text: str
    shown: Sequence[tuple[ChangedMessage, str]]
    more: int


def _describe_effect(request: HttpRequest, snapshot: Snapshot, effect: LessonEffect | None) -> dict[str, Any]:
    """The effect of a lesson as the page shows it; empty if there is no lesson to try."""
    if effect is None:
        return {}
    titles, compared = map_intent_titles(snapshot), None
    if "_compare" in request.POST and effect.before and effect.after:
        compared = describe_new_phrases(effect.before, effect.after)
    return {
        "effect": effect,
        "compared": compared,
        "lesson_title": titles.get(effect.lesson.intent, effect.lesson.intent),
        "caught_count": sum(message.times for message in effect.list_changed(ChangeKind.CAUGHT)),
        "lists": list(_list_messages(effect, titles)),
        "missing": [(phrase, _name_intents(titles, intents)) for phrase, intents in effect.missing],
        "test_url": "admin:config_admin_cetestcase_change",
    }


def _list_messages(effect: LessonEffect, titles: Mapping[str, str]) -> Iterator[MessageList]:
    """The messages whose result would change, by the kind of the change; at most `MOST_SHOWN` of each."""
    taken = ", ".join(f"{titles.get(intent, intent)} ({count})" for intent, count in effect.intents_taken)
    kinds = {
        ChangeKind.TAKEN: (
            "Taken from other intents",
            "danger",
            f"These messages lead to another intent today: {taken}.",
        ),
        ChangeKind.ASKED: ("Users would be asked", "warning", "These messages would fit two intents."),
        ChangeKind.OTHER: ("Other changes", "warning", "These messages change in another way."),
        ChangeKind.CAUGHT: (
            "Messages that it would catch, too",
            "info",
            "Nobody understands these messages today.",
        ),
    }
    for kind, (title, look, text) in kinds.items():
        if changed := effect.list_changed(kind):
            shown = [
                (message, f"{_name_intents(titles, message.before)} → {_name_intents(titles, message.after)}")
                if message.before or len(message.after) != 1
                else (message, "")
                for message in changed[:MOST_SHOWN]
            ]
            yield MessageList(title, look, text, shown, len(changed) - len(shown))


def _name_intents(titles: Mapping[str, str], intents: Sequence[str]) -> str:
    return " or ".join(titles.get(intent, intent) for intent in intents) or "no intent"
