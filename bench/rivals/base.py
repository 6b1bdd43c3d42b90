"""`base`: a plain Django view with ORM, one row lock, one update, one history row, `bulk_create`, commit."""

import json
import os
from typing import Any, ClassVar

import django
from django.conf import settings
from django.core.handlers.wsgi import WSGIHandler
from django.db import models, transaction
from django.http import HttpRequest, JsonResponse
from django.urls import path
from django.utils import timezone

from bench.rivals.tables import ANSWER, CONTEXT, payloads
from convengine.server.deployment import environment

database = environment.database(os.environ["DATABASE_URL"], "")
# Persistent connections, one per thread, as Django's manual recommends.
database["OPTIONS"] = {}
settings.configure(
    SECRET_KEY="bench",
    ALLOWED_HOSTS=["127.0.0.1"],
    ROOT_URLCONF=__name__,
    DATABASES={"default": {**database, "CONN_MAX_AGE": None}},
    USE_TZ=True,
    DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
)
django.setup()


class Conversation(models.Model):  # noqa: DJ008
    objects: ClassVar[models.Manager[Any]] = models.Manager()
    id = models.UUIDField(primary_key=True)
    intent = models.TextField()
    state = models.TextField()
    context = models.JSONField()
    turn_no = models.IntegerField()
    last_text = models.TextField()
    updated_at = models.DateTimeField()

    class Meta:
        app_label = "bench"
        db_table = "conversation"


class History(models.Model):  # noqa: DJ008
    objects: ClassVar[models.Manager[Any]] = models.Manager()
    conversation = models.ForeignKey(Conversation, on_delete=models.CASCADE)
    turn_no = models.IntegerField()
    user_text = models.TextField()
    answer = models.JSONField()
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        app_label = "bench"
        db_table = "history"


class Audit(models.Model):  # noqa: DJ008
    objects: ClassVar[models.Manager[Any]] = models.Manager()
    conversation_id = models.UUIDField()
    stage = models.TextField()
    payload = models.JSONField()
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        app_label = "bench"
        db_table = "audit"


def turn(request: HttpRequest) -> JsonResponse:
    given: dict[str, Any] = json.loads(request.body)
    with transaction.atomic():
        conversation = Conversation.objects.select_for_update().get(pk=given["conversationId"])
        conversation.intent, conversation.state = "HOURS", "IDLE"
        conversation.context = CONTEXT
        conversation.turn_no += 1
        conversation.last_text = given["message"]
        conversation.updated_at = timezone.now()
        conversation.save()
        History.objects.create(
            conversation=conversation, turn_no=conversation.turn_no, user_text=given["message"], answer=ANSWER
        )
        Audit.objects.bulk_create(
            Audit(conversation_id=conversation.pk, stage=payload["step"], payload=payload)
            for payload in payloads(given["message"], conversation.turn_no)
        )
    return JsonResponse({"success": True, "turnNo": conversation.turn_no, "payload": ANSWER, "context": CONTEXT})


urlpatterns = [path("turn", turn)]
application = WSGIHandler()
