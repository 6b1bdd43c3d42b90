"""Log each access of a user to the record, and each sign-in: who, when, what, and from where."""

import uuid
from typing import Any

from audit.models import CeAccessLog
from convengine.engine.redaction import Redaction
from convengine.engine.text.compare import shorten
from convengine.server.deployment.client_address import find_client_address
from convengine.server.interfaces.access_log import AccountEvent
from convengine.server.interfaces.configuration import configuration
from convengine.server.sessions.models import CeConversation

#: Maximum stored length of a search.
MAX_SEARCH_LENGTH = 2000


def log_access(
    request: Any,
    kind: CeAccessLog.Kind,
    conversation_id: uuid.UUID | str | None = None,
    turn_no: int | None = None,
    search: str = "",
) -> None:
    """Log that the user of a request, Django's or REST framework's, reads something.

    Views call it before they answer: if it cannot be logged, nothing is read. A caller with an API key is a system, not
    a user; nothing is logged then.
    """
    user = getattr(request, "user", None)
    if user is None or not user.is_authenticated:
        return
    CeAccessLog.objects.create(
        reader=user.get_username(),
        kind=kind,
        conversation_id=conversation_id,
        turn_no=turn_no,
        search=shorten(Redaction.of(configuration().latest).text(search), MAX_SEARCH_LENGTH),
        address=request.META.get("REMOTE_ADDR", "") or "",
        path=request.path,
    )


def log_account_event(request: Any, kind: AccountEvent, name: str, details: str) -> None:
    """Log a sign-in, its refusal, or a change of access. `name`: the user who signs in or makes the change."""
    CeAccessLog.objects.create(
        reader=name,
        kind=CeAccessLog.Kind[kind],
        search=shorten(details, MAX_SEARCH_LENGTH),
        address=find_client_address(request.META),
        path=request.path,
    )


def log_row_access(request: Any, row: Any) -> None:
    """Log that a user opens a row in the admin, or a list if `row` is None. The page names the table."""
    if row is None:
        log_access(request, CeAccessLog.Kind.LIST, search=request.GET.urlencode())
        return
    conversation_id = row.pk if isinstance(row, CeConversation) else getattr(row, "conversation_id", None)
    try:
        known = uuid.UUID(str(conversation_id))
    except ValueError:
        # A thread has many, and a sent message may have none.
        known = None
    log_access(request, CeAccessLog.Kind.ROW, known, getattr(row, "turn_no", None))
