"""`floor`: the same work with all known optimisations: DRF, prepared statements, COPY, orjson."""

import os
import uuid
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import django
import orjson
from django.conf import settings
from django.core.handlers.wsgi import WSGIHandler
from django.db import connection, transaction
from django.urls import path

from bench.rivals.tables import ANSWER, CONTEXT, payloads
from convengine.server.deployment import environment

database = environment.database(os.environ["DATABASE_URL"], "")
database["OPTIONS"] = {"server_side_binding": True, "prepare_threshold": 0}
settings.configure(
    SECRET_KEY="bench",
    ALLOWED_HOSTS=["127.0.0.1"],
    ROOT_URLCONF=__name__,
    DATABASES={"default": {**database, "CONN_MAX_AGE": None}},
    USE_TZ=True,
    REST_FRAMEWORK={"UNAUTHENTICATED_USER": None},
)
django.setup()

from rest_framework.parsers import BaseParser  # noqa: E402
from rest_framework.renderers import BaseRenderer  # noqa: E402
from rest_framework.request import Request  # noqa: E402
from rest_framework.response import Response  # noqa: E402
from rest_framework.views import APIView  # noqa: E402


class Parser(BaseParser):
    media_type = "application/json"

    def parse(self, stream: Any, media_type: str | None = None, parser_context: Any = None) -> Any:
        return orjson.loads(stream.read())


class Renderer(BaseRenderer):
    media_type = "application/json"
    format = "json"
    charset = None
    render_style = "binary"

    def render(
        self, data: Any, accepted_media_type: str | None = None, renderer_context: Mapping[str, Any] | None = None
    ) -> bytes:
        return orjson.dumps(data)


class TurnView(APIView):
    authentication_classes = []
    permission_classes = []
    parser_classes = [Parser]
    renderer_classes = [Renderer]

    def post(self, request: Request) -> Response:
        given: Any = request.data
        turn_no = _write(uuid.UUID(given["conversationId"]), given["message"])
        return Response({"success": True, "turnNo": turn_no, "payload": ANSWER, "context": CONTEXT})


def _write(conversation: uuid.UUID, text: str) -> int:
    now = datetime.now(UTC)
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT turn_no FROM conversation WHERE id = %s FOR UPDATE", [conversation])
        turn_no = int(cursor.fetchone()[0]) + 1
        cursor.execute(
            "UPDATE conversation SET intent = %s, state = %s, context = %s::jsonb, turn_no = %s, last_text = %s, "
            "updated_at = %s WHERE id = %s",
            ["HOURS", "IDLE", orjson.dumps(CONTEXT).decode(), turn_no, text, now, conversation],
        )
        cursor.execute(
            "INSERT INTO history (conversation_id, turn_no, user_text, answer, created_at) "
            "VALUES (%s, %s, %s, %s::jsonb, %s)",
            [conversation, turn_no, text, orjson.dumps(ANSWER).decode(), now],
        )
        with cursor.copy("COPY audit (conversation_id, stage, payload, created_at) FROM STDIN") as copy:
            copy.write("".join(_build_line(conversation, payload, now) for payload in payloads(text, turn_no)))
    return turn_no


def _build_line(conversation: uuid.UUID, payload: dict[str, Any], now: datetime) -> str:
    document = orjson.dumps(payload).decode().replace("\\", "\\\\")
    return f"{conversation}\t{payload['step']}\t{document}\t{now.isoformat()}\n"


urlpatterns = [path("turn", TurnView.as_view())]
application = WSGIHandler()
