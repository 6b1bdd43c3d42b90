"""The inbox for programs, within the caller's workspace: its groups, and decisions about them."""

from typing import Any

from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from audit.api.access_scope import SCOPE_WORKSPACE
from audit.api.parameters import read_choice, read_number, read_page_size
from audit.api.serializers import BlankAsNullSerializer
from audit.inbox.collect import read_shown_turns
from audit.inbox.status import LONGEST_NOTE, GroupGone, InboxDecision, decide
from audit.models import CeInboxGroup
from audit.models.inbox import order_groups
from convengine.engine.errors import ConversationNotFound, RequestInvalid
from convengine.server.api.authentication import get_api_key
from convengine.server.api.base_view import ApiView
from convengine.server.api.schema import extend_schema
from convengine.server.api.serializers import ClosedSerializer, IsoDateTimeField, StrictTextField

PAGE, MOST, _BIGGEST = 50, 200, 2**31 - 1
KINDS, STATUSES = CeInboxGroup.Kind.values, CeInboxGroup.Status.values
#: What a program may decide; groups are assigned to people.
DECISIONS = [InboxDecision.DISMISS.value, InboxDecision.REOPEN.value, InboxDecision.NOTE.value]


class InboxMessageSerializer(serializers.Serializer[Any]):
    """A message of a group; its text is null when it was erased."""

    conversationId = serializers.UUIDField(source="conversation_id")
    turnNo = serializers.IntegerField(source="turn_no")
    text = serializers.CharField(source="user_input", allow_null=True)


class InboxGroupSerializer(BlankAsNullSerializer):
    """Messages that are alike."""

    id = serializers.IntegerField()
    kind = serializers.ChoiceField(choices=KINDS)
    status = serializers.ChoiceField(choices=STATUSES)
    count = serializers.IntegerField(source="messages", help_text="Messages of the last 30 days.")
    wordings = serializers.IntegerField()
    thisWeek = serializers.IntegerField(source="this_week", help_text="In the last seven days.")
    weekBefore = serializers.IntegerField(source="week_before", help_text="In the seven days before.")
    firstAt = IsoDateTimeField(source="first_at")
    lastAt = IsoDateTimeField(source="last_at")
    cameBack = serializers.BooleanField(source="came_back", help_text="Messages came after somebody had decided.")
    intent = serializers.CharField(
        source="intent_code",
        allow_null=True,
        help_text="The intent of the form whose field refused a value, or what most users got after the question.",
    )
    field = serializers.CharField(source="field_name", allow_null=True)
    reason = serializers.CharField(
        source="detail",
        allow_null=True,
        help_text="Why the value was refused, how many users got the intent, or the section that helped.",
    )
    table = serializers.CharField(
        source="table_name", allow_null=True, help_text="The table of the form or the answer that the messages met."
    )
    row = serializers.CharField(source="row_pk", allow_null=True)
    assignedTo = serializers.CharField(source="assigned_to.get_username", allow_null=True)
    note = serializers.CharField()
    decision = serializers.CharField(allow_null=True, help_text="The last decision in words.")
    decidedAt = IsoDateTimeField(source="decision_at", allow_null=True)
    messages = InboxMessageSerializer(
        source="shown_turns", many=True, help_text="The newest message of the most frequent wordings."
    )


class InboxPageSerializer(serializers.Serializer[Any]):
    """A page of groups, in the order of the inbox."""

    next = serializers.IntegerField(allow_null=True, help_text="The number of the next page.")
    results = InboxGroupSerializer(many=True)


class InboxDecisionSerializer(ClosedSerializer):
    """A decision about a group."""

    action = serializers.ChoiceField(choices=DECISIONS)
    note = StrictTextField(required=False, max_length=LONGEST_NOTE, help_text="For the action `note`.")


class InboxView(ApiView):
    """`GET /api/v1/inbox`."""

    address = "inbox"
    scope = "audit"

    @extend_schema(
        operation_id="listInboxGroups",
        parameters=[
            OpenApiParameter("kind", str, enum=KINDS, description="What went wrong. Everything if absent."),
            OpenApiParameter("status", str, enum=STATUSES, description="OPEN if absent."),
            OpenApiParameter(
                "page",
                {"type": "integer", "minimum": 1, "maximum": _BIGGEST},
                description="The number of the page, from 1.",
            ),
            OpenApiParameter(
                "limit", {"type": "integer", "minimum": 1, "maximum": MOST}, description="How many groups a page has."
            ),
        ],
        responses={200: InboxPageSerializer},
    )
    def get(self, request: Request) -> Response:
        """The groups of messages that the bot could not serve, in the order of the inbox. A job updates them.

        Most messages of the last seven days first, then most messages of the period. Messages that nobody understood
        and that came only within a flow come last.
        """
        key = get_api_key(request)
        wanted = {"workspace_id": key.workspace_id, "status": read_choice(request, "status", STATUSES) or "OPEN"}
        if kind := read_choice(request, "kind", KINDS):
            wanted["kind"] = kind
        size, page = read_page_size(request, PAGE, MOST), min(read_number(request, "page") or 1, _BIGGEST // MOST)
        groups = order_groups(CeInboxGroup.objects.filter(**wanted).select_related("assigned_to"))
        shown = list(groups[(page - 1) * size : page * size + 1])
        read_shown_turns(shown[:size])
        answer = {"next": page + 1 if len(shown) > size else None, "results": shown[:size]}
        return Response(InboxPageSerializer(answer).data)


class InboxDecisionView(ApiView):
    """`POST /api/v1/inbox/{id}/decision`. Who only reads does not decide, like on the page."""

    address = "inbox/<int:group_id>/decision"
    scope = "config"

    @extend_schema(
        operation_id="updateInboxGroup",
        parameters=[OpenApiParameter("group_id", {"type": "integer", "minimum": 1}, OpenApiParameter.PATH)],
        request=InboxDecisionSerializer,
        responses={200: InboxGroupSerializer},
    )
    def post(self, request: Request, group_id: int) -> Response:
        """Dismiss or reopen a group, or set its note. A dismissed group comes back with a new message.

        A key without the scope `audit` gets no `messages`.
        """
        key = get_api_key(request)
        sent = InboxDecisionSerializer().run_validation(request.data)
        if sent["action"] == InboxDecision.NOTE and sent.get("note") is None:
            raise RequestInvalid(fields={"note": ["Send the note; an empty text removes it."]})
        by = f"API key {key.prefix}"
        try:
            group, _ = decide(
                group_id, InboxDecision(sent["action"]), by, note=sent.get("note") or "", workspace=key.workspace_id
            )
        except (GroupGone, OverflowError):
            raise ConversationNotFound("This group does not exist.") from None
        if SCOPE_WORKSPACE in key.scopes:
            read_shown_turns([group])
        return Response(InboxGroupSerializer(group).data)
