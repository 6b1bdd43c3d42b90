"""Runtime tables of conversations (tables 6): written by the turn shell, read-only for people."""

from convengine.sessions.models.conversation import CeConversation, CeConversationHistory, CeThread
from convengine.sessions.models.kept import CeMemory, CeSessionUnit
from convengine.sessions.models.once import CeIdempotency, CePendingActionExecution, CeTurnTicket

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
