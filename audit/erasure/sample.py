"""Remove the demonstration's sample week: its conversations, and what was counted of them."""

from pathlib import Path

from django.conf import settings
from django.db import transaction

from audit.models import CeTurnCount
from convengine.server.deployment.folders import UNFINISHED_WEEK
from convengine.server.sessions.models import SAMPLE, CeConversation
from convengine.server.sessions.old_turns import SESSIONS, remove_conversations


def remove_sample(by: str) -> int:
    """Remove the sample week, and say how many conversations it had. The ledger says who removed them.

    If it is not finished, no start of the demonstration plays the rest. The inbox forgets its messages when its job
    runs.
    """
    (Path(settings.VAR_DIR) / UNFINISHED_WEEK).unlink(missing_ok=True)
    count = 0
    while True:
        with transaction.atomic():
            rows = CeConversation.objects.filter(channel=SAMPLE, lease_token=None).order_by("pk")
            keys = list(rows.values_list("pk", flat=True)[:SESSIONS])
            remove_conversations(keys, by=by, reason="the demonstration's sample week")
        if not keys:
            break
        count += len(keys)
    CeTurnCount.objects.filter(channel=SAMPLE).delete()
    return count
