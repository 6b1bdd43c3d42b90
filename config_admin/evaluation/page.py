"""The pages *Tests › Understanding*: start an evaluation, follow it, and read what is confused with what."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse

from config_admin.editing.links import find_readable_url
from config_admin.evaluation.models import CeEvaluation
from config_admin.evaluation.runs import KEPT, evaluations, start_evaluation
from config_admin.test_cases.run_pages import RUN
from config_admin.validation.labels import name_language, row_name
from convengine.engine.errors import ReplayBusy
from convengine.engine.text.compare import code, storable
from convengine.engine.turn import rows
from convengine.engine.turn.labels import code_label, format_percent
from convengine.evaluation.labelled import LabelledFiles, read_upload
from convengine.evaluation.read import EvaluationError
from convengine.files import Unreadable
from convengine.files.apart import read_apart
from convengine.server.admin_site.configuration_choice import get_current_name, list_choices, read_name_for
from convengine.server.admin_site.missing_rights import require_right
from convengine.server.admin_site.pages import SidebarEntry, page

#: The largest file of labelled messages, in bytes, and the most messages of one.
_LARGEST_FILE, _MOST_MESSAGES = 5_000_000, 20_000
#: Pairs of a page, messages of each, messages of a list, and intents.
_PAIRS, _EXAMPLES, _LISTED, _INTENTS = 20, 3, 20, 50
#: Intents that the matrix has at most.
MOST_IN_MATRIX = 50
_ACCEPT = ".csv,.jsonl,.yaml,.yml"


@page(
    "understanding/",
    of="config_admin.CeTestCase",
    right="config_admin.view_cetestrun",
    entry=SidebarEntry("Try & test", "Understanding", "How well messages are understood, and what is confused.", 3),
)
def show(request: HttpRequest) -> HttpResponse:
    """Choose a configuration and messages, and see the newest evaluations."""
    problem = ""
    if request.method == "POST":
        require_right(request, RUN)
        try:
            return _start(request)
        except (ReplayBusy, EvaluationError, ValueError) as refused:
            problem = str(refused)
    evaluations.mark_lost()
    context = {
        "title": "Understanding",
        "problem": problem,
        "choices": list_choices(request),
        "chosen": request.POST.get("configuration") or request.GET.get("configuration") or get_current_name(request),
        "accept": _ACCEPT,
        "runs": [
            _describe_run(run) for run in CeEvaluation.objects.defer("messages", "document").order_by("-pk")[:KEPT]
        ],
        "kept": KEPT,
        "may_run": request.user.has_perm(RUN),
    }
    return TemplateResponse(request, "config_admin/understanding.html", context)


def _start(request: HttpRequest) -> HttpResponse:
    """Start what was chosen and open its page. Raises ValueError and EvaluationError with a sentence."""
    name = read_name_for(request, request.POST.get("configuration", "live"))
    file, labelled = request.FILES.get("file"), LabelledFiles()
    if file:
        content = file.read(_LARGEST_FILE + 1)
        if len(content) > _LARGEST_FILE:
            raise EvaluationError(f"{file.name}: a file has at most {_LARGEST_FILE // 1_000_000} MB. Split it.")
        upload_name = storable(file.name or "")
        try:
            labelled = read_apart(content, read_upload, upload_name, content)
        except Unreadable as error:
            raise EvaluationError(f"{upload_name}: {error.problem}") from None
        if len(labelled.messages) > _MOST_MESSAGES:
            raise EvaluationError(f"{file.name}: a file has at most {_MOST_MESSAGES:,} messages. Split it.")
    for note in labelled.notes:
        messages.info(request, note)
    user = request.user.get_username()
    run = start_evaluation(name, user, labelled.messages, storable(file.name or "") if file else "")
    return HttpResponseRedirect(_url(run))


@page(
    "understanding/<int:evaluation_id>/",
    of="config_admin.CeTestCase",
    name="evaluation",
    methods=["GET"],
    right="config_admin.view_cetestrun",
)
def show_evaluation(request: HttpRequest, evaluation_id: int) -> HttpResponse:
    """The progress; then the confusions first, their matrix, what was not decided, and each intent and field."""
    evaluations.mark_lost()
    run = CeEvaluation.objects.defer("messages").filter(pk=evaluation_id).first()
    if run is None:
        raise Http404("This evaluation does not exist. Only the newest ones are kept.")
    described = _describe_run(run)
    context = {
        "title": described["title"],
        "run": run,
        "described": described,
        "may_run": request.user.has_perm(RUN),
        **(_Results(request, run.document).describe() if run.document else {}),
    }
    return TemplateResponse(request, "config_admin/evaluation.html", context)


@page(
    "understanding/<int:evaluation_id>/cancel/",
    of="config_admin.CeTestCase",
    name="evaluation_cancel",
    methods=["POST"],
)
def cancel(request: HttpRequest, evaluation_id: int) -> HttpResponse:
    require_right(request, RUN)
    if evaluations.cancel(evaluation_id):
        messages.success(request, "The evaluation is cancelled.")
    else:
        messages.info(request, "The evaluation has ended already.")
    return HttpResponseRedirect(reverse("admin:config_admin_cetestcase_evaluation", args=[evaluation_id]))


def _url(run: CeEvaluation) -> str:
    return reverse("admin:config_admin_cetestcase_evaluation", args=[run.pk])


def _describe_run(run: CeEvaluation) -> dict[str, Any]:
    return {
        "run": run,
        "url": _url(run),
        "title": run.file_name or "Cross-validation of the phrases",
        "messages": run.measures.get("messages"),
        "shares": [
            (label, _percent(run.measures.get(measure)), help_text)
            for measure, label, help_text in (
                ("precision", "Precision", "of the messages that lead to one intent lead to the right one."),
                ("recall", "Recall", "of the messages that mean an intent lead to it."),
                ("f1", "F1", "is the average of all intents, weighted by their messages."),
                ("near", "Asked", "of these lead to a question with the right intent among its choices."),
                ("taken", "Fields", "of the labelled values of fields are taken."),
            )
        ],
    }


def _percent(share: float | None) -> str:
    """A share from 0 to 1 as all pages write it."""
    return format_percent(None if share is None else 100.0 * share)


class _Results:
    """What a page shows of the document of an evaluation."""

    def __init__(self, request: HttpRequest, document: Mapping[str, Any]) -> None:
        self._request = request
        self._document = document
        self._names: Mapping[str, str] = document.get("names", {})
        #: The labelled and the decided intent whose messages are shown. None shows all messages.
        self._pair = (request.GET["intent"], request.GET.get("decision", "")) if "intent" in request.GET else None
        after = request.GET.get("after", "")
        self._after = int(after) if after.isdecimal() and len(after) < 9 else 0
        self._lists = request.GET.get("show", "")

    def describe(self) -> dict[str, Any]:
        intents, fields = self._document.get("intents"), self._document.get("fields")
        parts: dict[str, Any] = {
            "notes": self._document["notes"],
            "pair": self._pair and tuple(map(self._name, self._pair)),
        }
        if intents:
            confusions, most, shown = intents["confusions"], _PAIRS, _EXAMPLES
            if self._pair:
                confusions = [each for each in confusions if (each["intent"], each["decision"]) == self._pair]
                most, shown = len(confusions), max((each["count"] for each in confusions), default=0)
            parts |= {
                "is_measured": True,
                "confusions": self._take(
                    "confusions", confusions, most, lambda each: self._describe_confusion(each, shown)
                ),
                "matrix": build_matrix(intents, self._name),
                "undecided": self._take("undecided", intents["undecided"], _LISTED, self._describe_message),
                "intents": self._take("intents", intents["intents"], _INTENTS, self._describe_intent),
                "strange": intents["noneOfThem"],
                "languages": [
                    {**each, "name": name_language(each["language"]), "recall": _percent(each["recall"])}
                    for each in intents.get("languages", ())
                ],
            }
        if fields:
            parts |= {
                "fields": [{**each, "name": self._name(each["intent"])} for each in fields["fields"]],
                "faults": self._take("faults", fields["faults"], _LISTED, dict),
            }
        return parts

    def _name(self, intent: str) -> str:
        return self._names.get(code(intent)) or (code_label(intent) if intent else "None of them")

    def _take(
        self, name: str, entries: Sequence[Any], most: int, describe: Callable[[Any], dict[str, Any]]
    ) -> dict[str, Any]:
        """A page of a list: the chosen one, of other lists the first. `next`: where the next one begins; 0 for none."""
        start = self._after if self._lists == name and not self._pair else 0
        end, total = start + most, len(entries)
        return {"entries": [describe(each) for each in entries[start:end]], "count": total, "next": end * (end < total)}

    def _describe_intent(self, each: Mapping[str, Any]) -> dict[str, Any]:
        shares = [_percent(each.get(name)) for name in ("precision", "recall", "f1")]
        return {**each, "name": self._name(each["intent"]), "wrong": each["claimed"] - each["right"], "shares": shares}

    def _describe_confusion(self, confusion: Mapping[str, Any], most: int) -> dict[str, Any]:
        return {
            "name": self._name(confusion["intent"]),
            "decided": self._name(confusion["decision"]),
            "count": confusion["count"],
            "messages": [self._describe_message(each) for each in confusion["messages"][:most]],
            "query": _build_query(confusion["intent"], confusion["decision"]),
            "more": max(0, confusion["count"] - most),
        }

    def _describe_message(self, message: Mapping[str, Any]) -> dict[str, Any]:
        """A message with links to its phrase and to those that spoke for the intents that came into question."""
        return {
            "text": message["message"],
            "url": self._link(message.get("phraseId")),
            "source": message.get("source", ""),
            "name": self._name(message.get("intent", "")),
            "asked": bool(message.get("decision")),
            "ranked": [
                {
                    "name": self._name(each["intent"]),
                    "percent": round(100 * each["confidence"]),
                    "phrase": row_name(rows.Classifier.table, each["phraseId"])
                    if each["isPattern"]
                    else each["phrase"],
                    "url": self._link(each["phraseId"]),
                }
                for each in message["ranked"]
            ],
        }

    def _link(self, phrase_id: int | None) -> str:
        return "" if phrase_id is None else find_readable_url(self._request, rows.Classifier.table, phrase_id)


def _build_query(intent: str, decided: str) -> str:
    return urlencode({"intent": intent, "decision": decided})


def build_matrix(intents: Mapping[str, Any], name: Callable[[str], str]) -> dict[str, Any] | None:
    """The confused intents of a document as rows, what they were taken for as columns. Returns None without confusions.

    `weight`, 0 to 4: how much of the most frequent confusion. `more`: the intents that others are confused more often
    than, which are not shown.
    """
    counts = {(each["intent"], each["decision"]): each["count"] for each in intents["confusions"] if each["intent"]}
    if not counts:
        return None
    ordered, most = _order_confused(counts), max(counts.values())
    shown = ordered[:MOST_IN_MATRIX]
    counts |= {(each["intent"], each["intent"]): each["right"] for each in intents["intents"]}

    def describe(intent: str, decided: str) -> dict[str, Any]:
        count, is_right = counts.get((intent, decided), 0), intent == decided
        return {
            "count": count,
            "weight": 0 if is_right else -(-4 * count // most),
            "is_right": is_right,
            "query": "" if is_right else _build_query(intent, decided),
            "label": f"{name(intent)}, taken for {name(decided)}: {count}",
        }

    return {
        "columns": [name(intent) for intent in shown],
        "rows": [{"name": name(each), "cells": [describe(each, decided) for decided in shown]} for each in shown],
        "more": len(ordered) - len(shown),
    }


def _order_confused(counts: Mapping[tuple[str, str], int]) -> list[str]:
    """Begin with the most frequent confusion; the next intent is the one that is confused most with those before it."""
    links: dict[str, Counter[str]] = {}
    for (intent, decided), count in counts.items():
        for each, other in ((intent, decided), (decided, intent)):
            links.setdefault(each, Counter())[other] += count
    rest = dict.fromkeys(sorted(links, key=lambda intent: (-links[intent].total(), intent)), 0)
    ordered: list[str] = []
    while rest:
        # Of equally linked ones the most confused, which comes first.
        chosen = max(rest, key=lambda intent: rest[intent])
        del rest[chosen]
        ordered.append(chosen)
        for other, count in links[chosen].items():
            if other in rest:
                rest[other] += count
    return ordered
