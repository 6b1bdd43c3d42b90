"""The reason of a change: required for every change, and suggested again while a user works on one thing."""

import time
from collections.abc import Sequence
from typing import Any

from django.http import HttpRequest, QueryDict

from convengine.engine.text.compare import storable
from convengine.engine.turn.scope import ANY, UNKNOWN

KEY = "reasons_for_changes"
#: How long a reason is suggested, in seconds, and for how many subjects.
OFFERED, MAX_SUBJECTS = 30 * 60, 20
MAX_LENGTH = 2000
MISSING = "Enter a reason for this change. It is shown in the history and with the release."
TOO_LONG = f"The reason for this change is longer than {MAX_LENGTH} characters. Shorten it."


def get_subject(row: Any, intent: Any = None) -> str:
    """What a change belongs to: the row's intent, or all rows of its table."""
    code = intent or getattr(row, "intent_code", None) or ""
    return row._meta.db_table if code in ("", ANY, UNKNOWN) else f"intent {code}"


def remember(request: HttpRequest, subject: str) -> None:
    """Keep the reason of the request for the next change of the subject in this session."""
    if reason := read_reason(request):
        remembered = [(name, *rest) for name, *rest in request.session.get(KEY, []) if name != subject]
        request.session[KEY] = [*remembered, (subject, reason, time.time())][-MAX_SUBJECTS:]


def recall_reason(request: HttpRequest, subject: str) -> str:
    """The last reason for the subject in this session, unless it is too old; else blank."""
    for name, reason, moment in request.session.get(KEY, []):
        if name == subject and time.time() - moment < OFFERED:
            return str(reason)
    return ""


def read_reason(request: HttpRequest) -> str:
    """The reason as it can be stored; blank if it is too long, so that it is asked for again."""
    reason = storable(request.POST.get("reason", "")).strip()
    return reason if len(reason) <= MAX_LENGTH else ""


def explain_blank_reason(request: HttpRequest) -> str:
    """Why `read_reason` is blank."""
    return TOO_LONG if request.POST.get("reason", "").strip() else MISSING


def describe_missing_reason(request: HttpRequest) -> str:
    return str(getattr(request, "reason_problem", ""))


def require_reason(request: HttpRequest, *, consent: Sequence[str]) -> None:
    """Ask again if a POST has no reason, by removing the inputs that confirm it."""
    if request.method != "POST" or read_reason(request):
        return
    held: Any = request
    held.reason_problem = explain_blank_reason(request) if "reason" in request.POST else ""
    data: QueryDict = request.POST.copy()
    for name in consent:
        data.pop(name, None)
    held.POST = data
