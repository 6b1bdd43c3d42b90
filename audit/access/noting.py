"""Every look of a person into the record is noted itself: who, when, at what, from where."""

import uuid
from typing import Any

from audit.models import CeAccessLog
from convengine.domain.text import excerpt, storable
from convengine.sessions.models import CeConversation

#: How much of a search is kept, in characters.
MAX_SEARCH = 2000


def noted(
    request: Any,
    kind: CeAccessLog.Kind,
    conversation_id: uuid.UUID | str | None = None,
    turn_no: int | None = None,
    search: str = "",
) -> None:
    """Note that the person behind a request, Django's or REST framework's, reads something.

    For views, before they answer: where it cannot be noted, nothing is read. A caller with an API key is a system, not
    a person; nothing is noted then.
    """
    user = getattr(request, "user", None)
    if user is None or not user.is_authenticated:
        return
    CeAccessLog.objects.create(
        reader=user.get_username(),
        kind=kind,
        conversation_id=conversation_id,
        turn_no=turn_no,
        search=excerpt(storable(search), MAX_SEARCH),
        address=storable(request.META.get("REMOTE_ADDR", "") or ""),
        path=storable(request.path),
    )


def looked(request: Any, row: Any) -> None:
    """Note that a person reads a stored row in the admin; null: a list of them. The page says of which table."""
    if row is None:
        noted(request, CeAccessLog.Kind.LIST, search=request.GET.urlencode())
        return
    conversation_id = row.pk if isinstance(row, CeConversation) else getattr(row, "conversation_id", None)
    try:
        known = uuid.UUID(str(conversation_id))
    except ValueError:
        # A thread has many, and a message that was sent may come from none.
        known = None
    noted(request, CeAccessLog.Kind.ROW, known, getattr(row, "turn_no", None))
