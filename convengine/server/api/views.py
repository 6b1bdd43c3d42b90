"""The view of the turn API. It reads the request, takes the turn and writes the answer."""

import uuid
from collections.abc import Collection, Mapping
from functools import partial
from typing import Any

from django.http import HttpResponse
from drf_spectacular.utils import OpenApiParameter
from rest_framework.exceptions import NotFound, PermissionDenied
from rest_framework.request import Request

from convengine.engine.errors import ConvEngineError, RequestInvalid
from convengine.engine.turn.codec import dumps
from convengine.engine.turn.conversation import PLAIN_CHANNEL
from convengine.engine.turn.params import remove_reserved
from convengine.engine.turn.payload import to_spoken_text
from convengine.engine.turn.turn import TurnRequest
from convengine.server.api import wire
from convengine.server.api.authentication import get_api_key, need_scope
from convengine.server.api.base_view import ApiView
from convengine.server.api.conversation_token import HEADER
from convengine.server.api.models import CeApiKey
from convengine.server.api.schema import extend_schema
from convengine.server.api.serializers import QueuedMessageSerializer, TurnRequestSerializer, TurnResponseSerializer
from convengine.server.deployment import conf
from convengine.server.queued.models import CeQueuedMessage
from convengine.server.queued.queue import check_body, make_key, queue_message, runs_here
from convengine.server.sessions.models import CeConversation
from convengine.server.threads.known_preferences import check_preferences
from convengine.server.turns.answer import StoredAnswer, TurnAnswer
from convengine.server.turns.failure import error_body
from convengine.server.turns.idempotency import IdempotencyKey
from convengine.server.turns.take_turn import take_turn

CONTEXT = OpenApiParameter(
    "context",
    {"type": "string", "enum": list(wire.CONTEXT_PARTS)},
    OpenApiParameter.QUERY,
    description="The part of the context in the answer. `public`: what rules, tasks and forms wrote, without what the "
    "engine keeps for itself. `none`: null. Default: `all` with `X-ConvEngine-Compat`, otherwise `CE_ANSWER_CONTEXT` "
    "of the deployment, which is `public`.",
)
IDEMPOTENCY_KEY = OpenApiParameter(
    "Idempotency-Key",
    {"type": "string", "minLength": 1, "maxLength": 128},
    OpenApiParameter.HEADER,
    description="At most 128 characters. The same key and body within 24 hours returns the stored answer.",
)
INCLUDE = OpenApiParameter(
    "include",
    {"type": "array", "items": {"type": "string", "enum": list(wire.PARTS)}},
    OpenApiParameter.QUERY,
    style="form",
    explode=False,
    description="What to add to the answer. `verbose`: the progress and error lines of the turn. `trace`: its "
    "steps with their stages, for keys with the scope `audit`.",
)
PREFER = OpenApiParameter(
    "Prefer",
    str,
    OpenApiParameter.HEADER,
    description="`respond-async`: do not wait for the turn. The answer has status 202 and the address of the turn, "
    "where jobs run; elsewhere, and with a conversation token, the turn is waited for.",
)
_PARAMETERS = [
    INCLUDE,
    CONTEXT,
    PREFER,
    IDEMPOTENCY_KEY,
    OpenApiParameter(
        "X-ConvEngine-Compat",
        str,
        OpenApiParameter.HEADER,
        description="1: answer with status 200, the whole context, and documents as JSON text, as the original did.",
    ),
]

#: Has no request state, so one serves all; making a serializer copies its fields.
_REQUESTS = TurnRequestSerializer()


class TurnView(ApiView):
    """`POST /api/v1/conversation/message`."""

    address = "conversation/message"
    scope = "turns"
    serves_tokens = True
    cleans_texts = True

    @extend_schema(
        operation_id="createTurn",
        request=TurnRequestSerializer,
        parameters=_PARAMETERS,
        responses={200: TurnResponseSerializer, 202: QueuedMessageSerializer},
    )
    def post(self, request: Request) -> HttpResponse:
        """Send one message of a conversation, and get the engine's answer."""
        given = dict(_REQUESTS.run_validation(request.data))
        response = self._take_turn(request, given)
        key = get_api_key(request)
        if key.token:
            response.headers[HEADER] = key.token.sign()
        return response

    def check_permissions(self, request: Request) -> None:
        """The trace of a turn needs the scope of the audit as well. No browser gets parts."""
        super().check_permissions(request)
        check_parts(request)

    def _take_turn(self, request: Request, given: Mapping[str, Any]) -> HttpResponse:
        key_owner = get_api_key(request)
        key = idempotency_key(request, key_owner)
        if (token := key_owner.token) and given.get("conversationId"):
            token.check_conversation(given["conversationId"])
        if token and given.get("inputParams"):
            raise PermissionDenied(
                "A conversation token cannot send inputParams. Your server sends them when it makes the token."
            )
        turn = _build_turn_request(given, key_owner, key)
        parts = _read_parts(request)
        finish = partial(_finish, key_owner, read_context_part(request), parts)
        try:
            answer: TurnAnswer | StoredAnswer | CeQueuedMessage
            # Browsers always wait.
            if key_owner.token is None and wants_no_wait(request) and runs_here():
                answer = queue_message(turn, key or make_key(key_owner.pk), key_owner.prefix)
            else:
                check_body(key)
                answer = take_turn(turn, key, opened_by=key_owner.prefix)
        except ConvEngineError as error:
            headers = {"Retry-After": "1"} if error.recoverable else {}
            return _build_response(request, error_body(error, turn.conversation_id), error.status, headers)
        if isinstance(answer, CeQueuedMessage):
            body, headers = dumps(wire.describe_message(answer)), wire.build_queued_headers(answer)
            return HttpResponse(body, status=202, headers=headers, content_type="application/json")
        if isinstance(answer, StoredAnswer):
            return _build_response(request, finish(None, answer.body), 200, {"X-Idempotent-Replay": "true"})
        channel = answer.before.channel if answer.before else None
        status = answer.error.status if answer.error else 200
        return _build_response(request, finish(channel, answer.body), status, {})


class NothingView(ApiView):
    """All other addresses under `/api/v1/`: an error in the usual form."""

    schema = None
    authentication_classes = ()
    permission_classes = ()

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Raises NotFound for every method."""
        raise NotFound(f"{request.path} does not exist. See /api/docs/ for all addresses.")


def wants_no_wait(request: Request) -> bool:
    """True for a call with the header `Prefer: respond-async` (RFC 7240)."""
    preferences = request.META.get("HTTP_PREFER", "").lower().split(",")
    return "respond-async" in (preference.partition(";")[0].strip() for preference in preferences)


def finish_answer(request: Request, body: dict[str, Any]) -> dict[str, Any]:
    """The parts of an answer that the caller asks for and may read."""
    return _finish(get_api_key(request), read_context_part(request), _read_parts(request), None, body)


def check_parts(request: Request) -> None:
    """Raises PermissionDenied for parts of an answer that the caller may not have."""
    parts, key = _read_parts(request), get_api_key(request)
    if parts and key.token:
        raise PermissionDenied(f"A conversation token cannot ask for {', '.join(parts)}. Leave `include` out.")
    if "trace" in parts:
        need_scope(key, ("audit",))


def _finish(
    key: CeApiKey, context: str, parts: Collection[str], channel: str | None, body: dict[str, Any]
) -> dict[str, Any]:
    may_see = key.token is None and _may_see_context(key, channel, body["conversationId"])
    if key.token and body["payload"]:
        body = {**body, "reply": to_spoken_text(body["payload"]["value"])}
    body = wire.select_context(wire.select_parts(body, parts), context if may_see else "none")
    return wire.add_trace(body) if "trace" in parts else body


def _may_see_context(key: CeApiKey, channel: str | None, conversation_id: str) -> bool:
    """False for the session of a thread that the key may not read: the context has what earlier turns left.

    Any key of the workspace may go on with it, and learns its ID from the thread. `channel`: null if not known.
    """
    if key.openers is None or channel == PLAIN_CHANNEL:
        return True
    sessions = CeConversation.objects.filter(pk=conversation_id).exclude(channel=PLAIN_CHANNEL)
    began = sessions.values_list("opened_by").first()
    return began is None or key.may_use(began[0])


def read_context_part(request: Request) -> str:
    """How much of the context the answer has. Raises RequestInvalid for an unknown part."""
    default = "all" if _wants_original_form(request) else conf.get("ANSWER_CONTEXT")
    part: str = request.query_params.get("context") or default
    if part not in wire.CONTEXT_PARTS:
        raise RequestInvalid(fields={"context": [f"There is no {part!r}. Known: {', '.join(wire.CONTEXT_PARTS)}."]})
    return part


def _read_parts(request: Request) -> tuple[str, ...]:
    """The requested additional parts. Raises RequestInvalid for an unknown one."""
    wanted = tuple(part for text in request.query_params.getlist("include") for part in text.split(",") if part)
    if unknown := [part for part in wanted if part not in wire.PARTS]:
        raise RequestInvalid(
            fields={"include": [f"There is no {part!r}. Known: {', '.join(wire.PARTS)}." for part in unknown]}
        )
    return wanted


def idempotency_key(request: Request, owner: CeApiKey, address: str = "") -> IdempotencyKey | None:
    """The call's Idempotency-Key, if any. `address`: if that says what the body does not. Raises RequestInvalid."""
    text = request.META.get("HTTP_IDEMPOTENCY_KEY")
    if text is None:
        return None
    # A structured field is a text in quotes, and many clients send it bare.
    text = text[1:-1] if len(text) > 1 and text[0] == text[-1] == '"' else text
    if not 1 <= len(text) <= 128:
        raise RequestInvalid(fields={"Idempotency-Key": [f"{len(text)} characters received; use 1 to 128."]})
    # Users of tokens share the API key.
    name = f"{owner.token.conversation_id} {text}" if owner.token else text
    assert isinstance(request.data, dict)  # Its fields were checked.
    body = {field: value for field, value in request.data.items() if value is not None}
    return IdempotencyKey.of(owner.pk, name, [address, body] if address else body)


def _build_turn_request(given: Mapping[str, Any], owner: CeApiKey, key: IdempotencyKey | None) -> TurnRequest:
    token = owner.token
    sent_params = token.input_params if token else given.get("inputParams") or {}
    params, ignored = remove_reserved(sent_params, may_approve=token is None and "approve" in owner.scopes)
    if given.get("reset"):
        params["reset"] = True
    sent_id = token.conversation_id if token else given.get("conversationId")
    # A retry without an id must find the conversation that the first call opened.
    new_id = key.conversation_id if key else str(uuid.uuid4())
    return TurnRequest(
        conversation_id=str(sent_id) if sent_id else new_id,
        message=given.get("message"),
        input_params=params,
        ignored_params=tuple(ignored),
        channel=token.channel if token else PLAIN_CHANNEL,
        workspace_id=owner.workspace_id,
        # The first turn of a token begins its conversation.
        new=sent_id is None or token is not None,
        preferences=check_preferences(given.get("preferences"), owner.workspace_id),
    )


def _wants_original_form(request: Request) -> bool:
    return request.META.get("HTTP_X_CONVENGINE_COMPAT") == "1"


def _build_response(request: Request, body: dict[str, Any], status: int, headers: dict[str, str]) -> HttpResponse:
    if _wants_original_form(request):
        body, status = wire.to_original_form(body), 200
    # There is only one renderer; a response that renders later takes longer.
    return HttpResponse(dumps(body), status=status, headers=headers, content_type="application/json")
