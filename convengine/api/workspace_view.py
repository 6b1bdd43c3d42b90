"""What the calls of the sessions API have in common: a key, its workspace, a checked body (sessions 10)."""

import uuid
from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.views import APIView

from convengine.api import session_serializers as wanted
from convengine.api.authentication import KeyThrottle
from convengine.api.models import CeApiKey
from convengine.errors import ConversationNotFound, RequestInvalid
from convengine.sessions import by_call
from convengine.sessions.models import CeConversation

#: What may go wrong with any of them.
FAILURES = dict.fromkeys((400, 401, 403, 404, 409, 413, 429, 503), wanted.SessionFailureSerializer)


class WorkspaceView(APIView):
    """A call for the key's own workspace."""

    scope = "sessions"
    throttle_classes = [KeyThrottle]

    def workspace(self, request: Request, given: str | None) -> str:
        """The workspace of the key. Raises ConversationNotFound for another one: it does not exist for this key."""
        assert isinstance(request.auth, CeApiKey)  # HasScope saw to it.
        if given is not None and given != request.auth.workspace_id:
            raise ConversationNotFound("There is no such workspace for this API key.")
        return str(request.auth.workspace_id)

    def session(self, request: Request, session_id: str) -> CeConversation:
        """The session of the address. Raises RequestInvalid for what is no UUID, ConversationNotFound."""
        try:
            uuid.UUID(session_id)
        except ValueError:
            raise RequestInvalid(
                fields={"session_id": [f"{session_id!r} is no UUID; take it from an answer."]}
            ) from None
        return by_call.session_of(session_id, self.workspace(request, None))

    @staticmethod
    def read(serializer: type[serializers.Serializer[Any]], request: Request) -> dict[str, Any]:
        """The checked body. Raises ValidationError."""
        return dict(serializer().run_validation(request.data))
