"""What the views of the sessions API share: a key, its workspace, a validated body."""

import uuid
from typing import Any

from rest_framework import serializers
from rest_framework.request import Request

from convengine.engine.errors import ConversationNotFound, RequestInvalid
from convengine.server.api.authentication import get_api_key
from convengine.server.api.base_view import ApiView
from convengine.server.sessions.models import CeConversation
from convengine.server.threads import external_changes


class WorkspaceView(ApiView):
    """A view of the key's own workspace."""

    scope: str | tuple[str, ...] = "sessions"
    cleans_texts = True

    def workspace(self, request: Request, given: str | None) -> str:
        """The workspace of the key. Raises ConversationNotFound for another one."""
        key = get_api_key(request)
        if given is not None and given != key.workspace_id:
            raise ConversationNotFound("This API key has no access to this workspace.")
        return str(key.workspace_id)

    def session(self, request: Request, session_id: str) -> CeConversation:
        """The session of the address, if the key may use it. Raises as `find`."""
        row = self.find(request, session_id)
        if not get_api_key(request).may_use(row.opened_by):
            # Never 403, so that ids cannot be probed.
            raise ConversationNotFound("This session does not exist.")
        return row

    def find(self, request: Request, session_id: str) -> CeConversation:
        """The session of the address in the key's workspace.

        Raises RequestInvalid for an invalid UUID, and ConversationNotFound.
        """
        try:
            uuid.UUID(session_id)
        except ValueError:
            raise RequestInvalid(
                fields={"session_id": [f"{session_id!r} is not a UUID. Use an ID from an answer."]}
            ) from None
        return external_changes.get_session(session_id, self.workspace(request, None))

    @staticmethod
    def read(serializer: type[serializers.Serializer[Any]], request: Request) -> dict[str, Any]:
        """The validated body. Raises ValidationError."""
        return dict(serializer().run_validation(request.data))
