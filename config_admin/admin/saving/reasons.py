"""Why somebody changes rows: asked for at every change, and offered again while the same person works on one thing."""

import time
from collections.abc import Sequence
from typing import Any

from django.http import HttpRequest, QueryDict

from convengine.domain.scope import ANY, UNKNOWN

KEY = "reasons_for_changes"
#: Seconds for which a reason is offered again, and for how many things.
OFFERED, THINGS = 30 * 60, 20
MISSING = "Say in a few words why: it stands in the history and with the release."


def thing_of(row: Any, intent: Any = None) -> str:
    """What somebody works on who changes a row: its intent, or else all rows of its table."""
    code = intent or getattr(row, "intent_code", None) or ""
    return row._meta.db_table if code in ("", ANY, UNKNOWN) else f"intent {code}"


def remember(request: HttpRequest, thing: str) -> None:
    """Keep the reason that the request gives, for the next change of the thing in this session."""
    if reason := given(request):
        kept = [(name, *rest) for name, *rest in request.session.get(KEY, []) if name != thing]
        request.session[KEY] = [*kept, (thing, reason, time.time())][-THINGS:]


def remembered(request: HttpRequest, thing: str) -> str:
    """The last reason for a change of the thing in this session, unless that is long ago; else blank."""
    for name, reason, moment in request.session.get(KEY, []):
        if name == thing and time.time() - moment < OFFERED:
            return str(reason)
    return ""


def given(request: HttpRequest) -> str:
    """The reason that a request gives."""
    return request.POST.get("reason", "").strip()


def told(request: HttpRequest) -> str:
    """What is said at the input of a reason that was left blank."""
    return MISSING if getattr(request, "is_reason_blank", False) else ""


def need(request: HttpRequest, *, consent: Sequence[str]) -> None:
    """Have a POST that gives no reason asked once more: what says that its page was seen is taken out of it."""
    if request.method != "POST" or given(request):
        return
    held: Any = request
    held.is_reason_blank = "reason" in request.POST
    data: QueryDict = request.POST.copy()
    for name in consent:
        data.pop(name, None)
    held.POST = data
