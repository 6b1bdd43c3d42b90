"""`POST /api/v1/chat/token`: visitors of a page with the chat get a token, if the deployment serves visitors."""

import uuid
from typing import Any

from rest_framework.exceptions import NotFound, PermissionDenied, Throttled
from rest_framework.request import Request
from rest_framework.response import Response

from convengine.server.api.authentication import read_rate, require_key
from convengine.server.api.base_view import ApiView
from convengine.server.api.conversation_token import ConversationToken, get_own_origin
from convengine.server.api.models import CeApiKey
from convengine.server.api.schema import extend_schema
from convengine.server.api.serializers import ClosedSerializer, StrictTextField
from convengine.server.api.token_view import EXAMPLE, TokenAnswerSerializer, find_conversation
from convengine.server.database import throttle
from convengine.server.deployment import conf
from convengine.server.deployment.client_address import find_client_address

_KEY = "Visitors of the chat"
#: The deployment settings that limit how many conversations begin at one address.
_LIMITS = ("CHAT_TOKEN_RATE", "CHAT_TOKEN_DAY_RATE")


class VisitorTokenSerializer(ClosedSerializer):
    """Which conversation goes on."""

    token = StrictTextField(
        required=False, help_text="The last token of the browser, at most a day old: its conversation goes on."
    )


class VisitorTokenView(ApiView):
    """`POST /api/v1/chat/token`."""

    address = "chat/token"
    authentication_classes = ()
    permission_classes = ()

    @extend_schema(
        operation_id="createVisitorToken",
        request=VisitorTokenSerializer,
        responses={200: TokenAnswerSerializer},
        auth=[],
        example={"request": {}, "response": EXAMPLE},
    )
    def post(self, request: Request) -> Response:
        """Make a conversation token for a page of this server, or of an origin in `CE_CHAT_ORIGINS`.

        Only where `CE_CHAT` is true. The conversations of visitors are those of the API key *Visitors of the chat*.
        """
        if not conf.get("CHAT"):
            raise NotFound(
                "This server gives visitors no tokens. Make them on your server (POST /api/v1/conversation/token), or "
                "set CE_CHAT=true."
            )
        origin = _check_origin(request)
        given: dict[str, Any] = VisitorTokenSerializer().run_validation(request.data)
        # Of all visitors: it is made for the first of them, and to revoke it ends the chat.
        keys = CeApiKey.objects.filter(name=_KEY, made_by=None).order_by("created")
        made = keys.first() or CeApiKey.objects.create_key(name=_KEY, scopes=["turns"])[0]
        key = require_key(str(made.prefix), "turns")
        conversation_id = find_conversation(key, given)
        if conversation_id is None:
            # It counts for its address in each window.
            address = find_client_address(request.META)
            for setting in _LIMITS:
                limit, seconds = read_rate(conf.get(setting))
                count, wait = throttle.count_call(f"chat token for:{address}:{seconds}", seconds)
                if count > limit:
                    raise Throttled(wait, "Too many conversations were started from this address.")
        return Response(ConversationToken(conversation_id or str(uuid.uuid4()), key.prefix, origin).describe())


def _check_origin(request: Request) -> str:
    """The origin of the page. Raises PermissionDenied for one that gets no token."""
    origin = str(request.META.get("HTTP_ORIGIN", ""))
    if origin not in (*conf.get("CHAT_ORIGINS"), get_own_origin(request)):
        if not origin:
            raise PermissionDenied("Calls without the header Origin cannot get a token: only pages in a browser can.")
        raise PermissionDenied(f"Pages from {origin} cannot get a token. Add the origin to CE_CHAT_ORIGINS.")
    return origin
