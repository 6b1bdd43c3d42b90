"""The pages *Tests › Understanding*: start an evaluation, follow it, and read what is confused with what."""

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse

from config_admin.editing.links import find_readable_url
from config_admin.evaluation.matrix import Matrix, build_matrix
from config_admin.evaluation.models import CeEvaluation
from config_admin.evaluation.runs import KEPT, EvaluationBusy, evaluations, start_evaluation
from config_admin.test_cases.run_pages import RUN
from config_admin.validation.labels import row_name
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
        except (EvaluationBusy, EvaluationError, ValueError) as refused:
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
            matrix = build_matrix(intents)
            parts |= {
                "is_measured": True,
                "confusions": self._list_confusions(intents["confusions"]),
                "more_pairs": self._find_next(len(intents["confusions"]), _PAIRS, "confusions"),
                "pair_count": len(intents["confusions"]),
                "matrix": matrix and self._describe_matrix(matrix),
                "undecided": list(map(self._describe_message, self._take(intents["undecided"], "undecided", _LISTED))),
                "undecided_count": len(intents["undecided"]),
                "more_undecided": self._find_next(len(intents["undecided"]), _LISTED, "undecided"),
                "intents": [
                    {**each, "name": self._name(each["intent"]), "wrong": each["claimed"] - each["right"],
                     "shares": [_percent(each.get(name)) for name in ("precision", "recall", "f1")]}
                    for each in self._take(intents["intents"], "intents", _INTENTS)
                ],
                "intent_count": len(intents["intents"]),
                "more_intents": self._find_next(len(intents["intents"]), _INTENTS, "intents"),
                "strange": intents["noneOfThem"],
            }  # fmt: skip
        if fields:
            parts |= {
                "fields": [{**each, "name": self._name(each["intent"])} for each in fields["fields"]],
                "faults": self._take(fields["faults"], "faults", _LISTED),
                "fault_count": len(fields["faults"]),
                "more_faults": self._find_next(len(fields["faults"]), _LISTED, "faults"),
            }
        return parts

    def _name(self, intent: str) -> str:
        return self._names.get(code(intent)) or (code_label(intent) if intent else "None of them")

    def _take(self, entries: Sequence[Any], shown: str, most: int) -> Sequence[Any]:
        """The page of a list that is chosen; the first one of the others."""
        start = self._after if self._lists == shown else 0
        return entries[start : start + most]

    def _find_next(self, total: int, most: int, shown: str) -> int:
        """Where the next page of a list begins; 0 for the last one."""
        start = self._after if self._lists == shown else 0
        return start + most if start + most < total else 0

    def _list_confusions(self, confusions: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """The chosen pair with all its messages, else a page of pairs with some of each."""
        if self._pair:
            chosen = [each for each in confusions if (each["intent"], each["decision"]) == self._pair]
            return [self._describe_confusion(each, each["count"]) for each in chosen]
        return [self._describe_confusion(each, _EXAMPLES) for each in self._take(confusions, "confusions", _PAIRS)]

    def _describe_confusion(self, confusion: Mapping[str, Any], most: int) -> dict[str, Any]:
        return {
            "name": self._name(confusion["intent"]),
            "decided": self._name(confusion["decision"]),
            "count": confusion["count"],
            "messages": [self._describe_message(each) for each in confusion["messages"][:most]],
            "query": self._build_query(confusion["intent"], confusion["decision"]),
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

    def _describe_matrix(self, matrix: Matrix) -> dict[str, Any]:
        return {
            "columns": [self._name(intent) for intent in matrix.intents],
            "rows": [
                {
                    "name": self._name(intent),
                    "cells": [
                        {
                            "count": cell.times,
                            "weight": cell.weight,
                            "is_right": cell.is_right,
                            "query": "" if cell.is_right else self._build_query(intent, cell.decided),
                            "label": f"{self._name(intent)}, taken for {self._name(cell.decided)}: {cell.times}",
                        }
                        for cell in cells
                    ],
                }
                for intent, cells in matrix.rows
            ],
            "more": matrix.more,
        }

    def _build_query(self, intent: str, decided: str) -> str:
        return urlencode({"intent": intent, "decision": decided})
