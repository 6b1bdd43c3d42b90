"""Tables of conversations: written by the server, read-only for users (tables 6)."""

from convengine.server.sessions.models.conversation import CeConversation, CeConversationHistory, CeThread
from convengine.server.sessions.models.memory import CeMemory, CeSessionUnit
from convengine.server.sessions.models.once_only import CeIdempotency, CePendingActionExecution, CeTurnTicket

__all__ = [
    "CeConversation",
    "CeConversationHistory",
    "CeIdempotency",
    "CeMemory",
    "CePendingActionExecution",
    "CeSessionUnit",
    "CeThread",
    "CeTurnTicket",
]
