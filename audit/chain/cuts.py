"""What is taken out of the record by rule, noted so that its absence is no damage."""

import uuid
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.db.models import Max

from audit.models import CeChainBase, CeChainCut
from convengine.domain.chain import Seal
from convengine.sessions.models import CeConversationHistory
from convengine.sessions.sealing import FRAME, frame


def noted(kind: CeChainCut.Kind, before: datetime, last: int = 0) -> None:
    """Note that what is older is taken out; before it is, and once more with the last event that was looked at."""
    cut = CeChainCut(kind=kind, before=before, looked_to=last)
    cut.proven()
    cut.save()


def looked_to(kind: CeChainCut.Kind) -> int:
    """The last event that was looked at for a kind."""
    return CeChainCut.objects.filter(kind=kind).aggregate(last=Max("looked_to"))["last"] or 0


def turns_leave(keys: Sequence[int]) -> None:
    """Note where the chains begin whose oldest turns are about to be removed. Needs an open transaction."""
    newest: dict[uuid.UUID, dict[str, Any]] = {}
    for row in CeConversationHistory.objects.filter(pk__in=keys).order_by("turn_no").values("chain", *FRAME):
        if row["chain"]:
            newest[row["conversation_id"]] = row
    found = [
        CeChainBase(conversation_id=key, turn_no=row["turn_no"], hash=Seal.read(row["chain"]).hash(frame(row)))
        for key, row in newest.items()
    ]
    for base in found:
        base.proven()
    columns = ["turn_no", "hash", "created_at", "proof"]
    CeChainBase.objects.bulk_create(
        found, update_conflicts=True, unique_fields=["conversation_id"], update_fields=columns
    )
