"""The turn endpoint. It reads the request, takes the turn, writes the answer, and decides nothing."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from django.db import Error
from django.http import HttpResponse
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework.exceptions import AuthenticationFailed, NotAuthenticated, NotFound, PermissionDenied, Throttled
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from convengine.api import wire
from convengine.api.authentication import KeyChanged, KeyHolds, KeyThrottle, TurnAuthentication, need_scope
from convengine.api.errors import error_body
from convengine.api.failures import descriptions
from convengine.api.models import CeApiKey
from convengine.api.serializers import TurnRequestSerializer, TurnResponseSerializer
from convengine.codec import dumps
from convengine.domain.params import split_reserved
from convengine.domain.turn import TurnRequest
from convengine.errors import ConvEngineError, RequestInvalid
from convengine.sessions.idempotency import IdempotencyKey
from convengine.sessions.installed import checked
from convengine.sessions.store import new_id
from convengine.sessions.turns import Replayed, TurnAnswer, take_turn

_PARAMETERS = [
    OpenApiParameter(
        "include",
        {"type": "array", "items": {"type": "string", "enum": list(wire.PARTS)}},
        OpenApiParameter.QUERY,
        style="form",
        explode=False,
        description="What to add to the answer. `verbose`: the progress and error lines of the turn. `trace`: its "
        "steps with their stages, for keys with the scope `audit`.",
    ),
    OpenApiParameter(
        "Idempotency-Key",
        {"type": "string", "minLength": 1, "maxLength": 128},
        OpenApiParameter.HEADER,
        description="At most 128 characters. The same key and body within 24 hours returns the stored answer.",
    ),
    OpenApiParameter(
        "X-ConvEngine-Compat",
        str,
        OpenApiParameter.HEADER,
        description="1: status 200 always, and documents as JSON text, as the original answered.",
    ),
]
_RESPONSES = {200: TurnResponseSerializer} | {
    status: OpenApiResponse(TurnResponseSerializer, description) for status, description in descriptions().items()
}

#: Holds nothing of a request, so one serves all: a serializer copies its fields when it is made.
_REQUESTS = TurnRequestSerializer()


class TurnView(APIView):
    """`POST /api/v1/conversation/message`."""

    scope = "turns"
    authentication_classes = [TurnAuthentication]
    throttle_classes = [KeyThrottle]

    @extend_schema(
        operation_id="take_turn",
        request=TurnRequestSerializer,
        parameters=_PARAMETERS,
        responses=_RESPONSES,
    )
    def post(self, request: Request) -> HttpResponse:
        """Send one message of a conversation, and get the engine's answer."""
        given = dict(_REQUESTS.run_validation(request.data))
        try:
            return self._turn(request, given)
        except KeyChanged as changed:
            self._now(request, changed.key)
            return self._turn(request, given)

    def check_permissions(self, request: Request) -> None:
        """As ever; but a key that was only remembered may have got the scope meanwhile."""
        try:
            self._check(request)
        except PermissionDenied:
            self._look_again(request)
            self._check(request)

    def _check(self, request: Request) -> None:
        super().check_permissions(request)
        if "trace" in _parts(request):
            assert isinstance(request.auth, CeApiKey)  # HasScope saw to it.
            need_scope(request.auth, ("audit",))

    def handle_exception(self, exc: Exception) -> Response:
        """As ever; but to a key that was only remembered, and is valid no more, nothing else is told."""
        if not isinstance(exc, (NotAuthenticated, AuthenticationFailed, Throttled, Error)):
            try:
                self._look_again(self.request)
            except (AuthenticationFailed, Error) as refused:
                exc = refused
        return super().handle_exception(exc)

    def _look_again(self, request: Request) -> None:
        key = request.auth
        assert isinstance(key, CeApiKey)
        try:
            KeyHolds(key).check()
        except KeyChanged as changed:
            request.auth = changed.key

    def _now(self, request: Request, key: CeApiKey) -> None:
        request.auth = key
        self.check_permissions(request)

    def _turn(self, request: Request, given: Mapping[str, Any]) -> HttpResponse:
        key_owner = request.auth
        assert isinstance(key_owner, CeApiKey)  # HasScope saw to it.
        key = idempotency_key(request, key_owner)
        turn = _turn_request(given, key_owner, key)
        parts = _parts(request)
        written = partial(wire.body, parts=parts)
        shown = wire.traced if "trace" in parts else _as_it_is
        try:
            answer = take_turn(turn, key, written, KeyHolds(key_owner))
        except ConvEngineError as error:
            headers = {"Retry-After": "1"} if error.recoverable else {}
            return _response(request, error_body(error, turn.conversation_id), error.status, headers)
        if isinstance(answer, Replayed):
            return _response(request, shown(answer.body), 200, {"X-Idempotent-Replay": "true"})
        return _response(request, shown(written(answer)), _status(answer), {})


class NothingView(APIView):
    """Every other address under `/api/v1/`: the error in the envelope that integrators read anyway."""

    schema = None
    authentication_classes = ()
    permission_classes = ()

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Raises NotFound, whatever the method."""
        raise NotFound(f"There is nothing at {request.path}; see /api/docs/ for the addresses.")


def _as_it_is(body: dict[str, Any]) -> dict[str, Any]:
    return body


def _parts(request: Request) -> tuple[str, ...]:
    """What the caller wants beside the answer. Raises RequestInvalid for a part that there is not."""
    wanted = tuple(part for text in request.query_params.getlist("include") for part in text.split(",") if part)
    if unknown := [part for part in wanted if part not in wire.PARTS]:
        raise RequestInvalid(
            fields={"include": [f"There is no {part!r}. Known: {', '.join(wire.PARTS)}." for part in unknown]}
        )
    return wanted


def idempotency_key(request: Request, owner: CeApiKey) -> IdempotencyKey | None:
    """The call's Idempotency-Key, if it has one. Raises RequestInvalid."""
    text = request.META.get("HTTP_IDEMPOTENCY_KEY")
    if text is None:
        return None
    if not 1 <= len(text) <= 128:
        raise RequestInvalid(fields={"Idempotency-Key": [f"{len(text)} characters received; use 1 to 128."]})
    return IdempotencyKey.of(owner.pk, text, request.data)


def _turn_request(given: Mapping[str, Any], owner: CeApiKey, key: IdempotencyKey | None) -> TurnRequest:
    params, ignored = split_reserved(given.get("inputParams") or {})
    if given.get("reset"):
        params["reset"] = True
    named = given.get("conversationId")
    # A retry without an id must meet the conversation that the first call opened.
    made = key.conversation_id if key else new_id()
    return TurnRequest(
        conversation_id=str(named) if named else made,
        message=given.get("message"),
        input_params=params,
        ignored_params=tuple(ignored),
        workspace_id=owner.workspace_id,
        new=named is None,
        preferences=checked(given.get("preferences"), owner.workspace_id),
    )


def _status(answer: TurnAnswer) -> int:
    return answer.error.status if answer.error else 200


def _response(request: Request, body: dict[str, Any], status: int, headers: dict[str, str]) -> HttpResponse:
    if request.META.get("HTTP_X_CONVENGINE_COMPAT") == "1":
        body, status = wire.compat(body), 200
    # There is one form of an answer, and nothing to choose: a response that renders later takes longer.
    return HttpResponse(dumps(body), status=status, headers=headers, content_type="application/json")
