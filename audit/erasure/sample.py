"""Remove the demonstration's sample week: its conversations, and what was counted of them."""

from django.db import transaction

from audit.models import CeTurnCount
from convengine.server.sessions.models import SAMPLE, CeConversation
from convengine.server.sessions.old_turns import SESSIONS, remove_conversations


def remove_sample() -> int:
    """Remove the sample week, and say how many conversations it had. The ledger names them as removed.

    The inbox forgets their messages when its job runs.
    """
    count = 0
    while True:
        with transaction.atomic():
            rows = CeConversation.objects.filter(channel=SAMPLE, lease_token=None).order_by("pk")
            keys = list(rows.values_list("pk", flat=True)[:SESSIONS])
            remove_conversations(keys)
        if not keys:
            break
        count += len(keys)
    CeTurnCount.objects.filter(channel=SAMPLE).delete()
    return count
