"""What the page that teaches needs of the inbox: the wordings of a group, and all messages."""

from collections import Counter
from collections.abc import Mapping

from audit.inbox.job import PERIOD
from audit.models import CeInboxGroup
from convengine.server.database.sql import database_time
from convengine.server.interfaces.inbox import StoredMessage
from convengine.server.sessions.models import CeConversationHistory


def list_group_messages(group: int) -> list[StoredMessage]:
    """The wordings of a group, the most frequent first; empty for a group that does not exist."""
    row = CeInboxGroup.objects.filter(pk=group).first()
    if row is None:
        return []
    turns = CeConversationHistory.objects.filter(pk__in=row.turns).values_list("history_id", "user_input")
    texts = {turn: text.strip() for turn, text in turns if text and text.strip()}
    return [StoredMessage(turn, texts[turn]) for turn in row.turns if turn in texts]


def count_message_texts(most: int) -> Mapping[str, int]:
    """The texts of the newest messages of the period, each with how often it came; `most` are read."""
    turns = CeConversationHistory.objects.filter(created_at__gte=database_time() - PERIOD).exclude(user_input=None)
    texts = turns.order_by("-history_id").values_list("user_input", flat=True)[:most]
    return Counter(text for text in texts.iterator(chunk_size=5_000) if text and not text.isspace())
