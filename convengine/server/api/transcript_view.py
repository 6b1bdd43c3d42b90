"""`GET /api/v1/conversation/transcript`: what was said in the conversation of a token."""

import uuid
from typing import Any

from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers
from rest_framework.exceptions import PermissionDenied
from rest_framework.request import Request
from rest_framework.response import Response

from convengine.engine.dialogue.hand_over import HANDED_OVER, is_kept_for_person
from convengine.engine.errors import RequestInvalid
from convengine.engine.text.compare import shorten
from convengine.engine.text.whole_numbers import INTEGER, parse_whole_number
from convengine.engine.turn.dialogue_state import DialogueState
from convengine.engine.turn.enums import TurnStatus
from convengine.engine.turn.payload import to_spoken_text
from convengine.server.api.authentication import get_api_key
from convengine.server.api.base_view import ApiView
from convengine.server.api.schema import extend_schema
from convengine.server.interfaces.configuration import configuration
from convengine.server.sessions.models import EXTERNAL, CeConversation, CeConversationHistory

#: The maximum number of turns of an answer: the newest ones.
_PAGE = 50
USER, BOT, PERSON = SPEAKERS = ("user", "bot", "person")
_SAID = (TurnStatus.OK.value, TurnStatus.BLOCKED.value)


class SaidSerializer(serializers.Serializer[Any]):
    """A message of the user, or an answer of the bot or of a person."""

    speaker = serializers.ChoiceField(choices=SPEAKERS)
    text = serializers.CharField()
    at = serializers.DateTimeField()
    turnNo = serializers.IntegerField()
    turnId = serializers.UUIDField()


class TranscriptSerializer(serializers.Serializer[Any]):
    """What was said, oldest first."""

    conversationId = serializers.UUIDField()
    messages = SaidSerializer(many=True)
    withPerson = serializers.BooleanField(help_text="True while a person has the conversation.")
    personAnswers = serializers.BooleanField(help_text="True once that person has written.")
    lastTurnNo = serializers.IntegerField(help_text="Send it as `after` to read what was said since.")


AFTER = OpenApiParameter("after", {"type": "integer", "minimum": 0}, description="Only later turns.")
EXAMPLE = {
    "conversationId": "9bf7540a-b129-4685-a120-730e8a0cb94b",
    "messages": [
        {
            "speaker": USER,
            "text": "Are you open on Saturday?",
            "at": "2026-11-26T12:00:00Z",
            "turnNo": 1,
            "turnId": "6f1e2d3c-4b5a-4978-8695-a4b3c2d1e0f1",
        }
    ],
    "withPerson": False,
    "personAnswers": False,
    "lastTurnNo": 1,
}


class TranscriptView(ApiView):
    """`GET /api/v1/conversation/transcript`."""

    address = "conversation/transcript"
    scope = "turns"
    serves_tokens = True

    @extend_schema(
        operation_id="getTranscript",
        parameters=[AFTER],
        responses={200: TranscriptSerializer},
        example={"response": EXAMPLE},
    )
    def get(self, request: Request) -> Response:
        """The newest 50 turns of the conversation of a token, for its browser."""
        key = get_api_key(request)
        if key.token is None:
            raise PermissionDenied(
                "A transcript is for conversation tokens. With a key, read the turns of the conversation."
            )
        after = read_turn_number(request.query_params.get("after", "0"))
        return Response(read_transcript(key.token.conversation_id, key.workspace_id, after))


def read_transcript(conversation_id: str, workspace_id: str, after: int) -> dict[str, Any]:
    """What was said in a conversation after a turn, the newest 50 turns."""
    rows = CeConversationHistory.objects.filter(
        conversation=uuid.UUID(conversation_id),
        conversation__workspace_id=workspace_id,
        turn_no__gt=after,
        status__in=_SAID,
    )
    turns = list(reversed(rows.order_by("-turn_no")[:_PAGE]))
    messages = []
    for turn in turns:
        answerer = PERSON if turn.source == EXTERNAL else BOT
        at, number, turn_id = turn.created_at.isoformat(), turn.turn_no, str(turn.turn_id)
        for speaker, text in ((USER, turn.user_input), (answerer, to_spoken_text(turn.assistant_output))):
            if text:
                messages.append({"speaker": speaker, "text": text, "at": at, "turnNo": number, "turnId": turn_id})
    conversations = CeConversation.objects.filter(pk=conversation_id, workspace_id=workspace_id)
    context = conversations.values_list("context_json", flat=True).first() or {}
    with_person = is_kept_for_person(configuration().latest, context.get(HANDED_OVER))
    return {
        "conversationId": conversation_id,
        "messages": messages,
        "withPerson": with_person,
        "personAnswers": with_person and DialogueState.read(context).person_answers,
        "lastTurnNo": turns[-1].turn_no if turns else after,
    }


def read_turn_number(text: str) -> int:
    """The value of `after`. Raises RequestInvalid."""
    number = parse_whole_number(text, INTEGER)
    if number is None:
        raise RequestInvalid(
            fields={"after": [f"{shorten(text, 60)!r} is not the number of a turn. Send `lastTurnNo`."]}
        )
    return number
