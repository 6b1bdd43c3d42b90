"""Record what a rule removes, so that its absence is no damage."""

import uuid
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.db.models import Max

from audit.models import CeChainBase, CeChainCut
from convengine.engine.turn.seal import Seal
from convengine.server.sessions.models import CeConversationHistory
from convengine.server.turns.turn_record import FRAME, encode_frame


def note_cut(kind: CeChainCut.Kind, before: datetime, last: int = 0) -> None:
    """Record a removal of older data: before it, and once more with the last examined event."""
    cut = CeChainCut(kind=kind, before=before, looked_to=last)
    cut.sign()
    cut.save()


def last_checked_event(kind: CeChainCut.Kind) -> int:
    """The last examined event of a kind."""
    return CeChainCut.objects.filter(kind=kind).aggregate(last=Max("looked_to"))["last"] or 0


def turns_leave(keys: Sequence[int]) -> None:
    """Record where chains begin whose oldest turns are about to be removed. Needs an open transaction."""
    newest: dict[uuid.UUID, dict[str, Any]] = {}
    for row in CeConversationHistory.objects.filter(pk__in=keys).order_by("turn_no").values("chain", *FRAME):
        if row["chain"]:
            newest[row["conversation_id"]] = row
    bases = [
        CeChainBase(conversation_id=key, turn_no=row["turn_no"], hash=Seal.read(row["chain"]).hash(encode_frame(row)))
        for key, row in newest.items()
    ]
    for base in bases:
        base.sign()
    columns = ["turn_no", "hash", "created_at", "proof"]
    CeChainBase.objects.bulk_create(
        bases, update_conflicts=True, unique_fields=["conversation_id"], update_fields=columns
    )
