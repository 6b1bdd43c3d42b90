"""Views of topics: read, rename, duplicate, switch, export and delete an intent with all its rows."""

from dataclasses import asdict
from functools import partial
from typing import Any

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from config_admin.api.release_views import IF_MATCH, IF_NONE_MATCH, ReleaseView, require_unchanged
from config_admin.api.serializers import (
    ChangeTopicSerializer,
    DuplicateTopicSerializer,
    RenameTopicSerializer,
    SwitchTopicSerializer,
    TopicDetailsSerializer,
    TopicListSerializer,
    TopicRefusalSerializer,
    TopicResultSerializer,
    describe_refusal,
)
from config_admin.flows.topics import changes
from config_admin.flows.topics.topic import Topic, export_topic, find_topic, list_needed_tools
from config_admin.releases.active import snapshots
from config_admin.transfer.files import CONTENT_TYPES, YAML
from config_admin.transfer.import_report import serialize_differences
from config_admin.transfer.natural_keys import Contents
from convengine.engine.errors import RequestInvalid
from convengine.engine.text.compare import code
from convengine.engine.turn import rows
from convengine.engine.turn.scope import ANY, UNKNOWN
from convengine.engine.turn.snapshot import Snapshot
from convengine.server.api.schema import extend_schema

_RESULTS = {200: TopicResultSerializer, 422: TopicRefusalSerializer}


class TopicsView(ReleaseView):
    """`GET /api/v1/config/topics`."""

    address = "config/topics"

    @extend_schema(operation_id="listTopics", parameters=[IF_NONE_MATCH], responses={200: TopicListSerializer})
    def get(self, request: Request) -> Response:
        """The intents of the release in force, each with the rows that belong to it."""
        snapshot = snapshots.current()
        intents = sorted(snapshot.rows(rows.Intent), key=lambda row: row.intent_code)
        topics = [_describe(row) for row in intents if code(row.intent_code) not in (ANY, UNKNOWN)]
        return Response(TopicListSerializer({"configVersion": snapshot.config_version, "topics": topics}).data)


class TopicView(ReleaseView):
    """`GET` and `DELETE /api/v1/config/topics/{code}`."""

    address = "config/topics/<str:topic_code>"

    @extend_schema(operation_id="getTopic", parameters=[IF_NONE_MATCH], responses={200: TopicDetailsSerializer})
    def get(self, request: Request, topic_code: str) -> Response:
        """The rows that belong to a topic, and the rows of other intents that name it."""
        topic, snapshot = _get_topic(topic_code)
        answer = {
            "configVersion": snapshot.config_version,
            **_describe(topic.intent),
            "questions": topic.question_codes,
            "rows": _list_keys(topic.own),
            "references": _list_keys(topic.references),
            "mentions": _list_keys(topic.mentions),
            "neededTools": [tool.tool_code for tool in list_needed_tools(snapshot, topic)],
        }
        return Response(TopicDetailsSerializer(answer).data)

    @extend_schema(
        operation_id="deleteTopic", parameters=[IF_MATCH, ChangeTopicSerializer], request=None, responses=_RESULTS
    )
    def delete(self, request: Request, topic_code: str) -> Response:
        """Delete a topic with all its rows, unless rows of other intents name it."""
        # Many clients send no body with DELETE.
        given = ChangeTopicSerializer().run_validation(request.data or request.query_params.dict())
        return _store(request, topic_code, lambda _, topic: changes.delete_topic(topic), given, f"Delete {topic_code}")


class RenameTopicView(ReleaseView):
    """`POST /api/v1/config/topics/{code}/rename`."""

    address = "config/topics/<str:topic_code>/rename"

    @extend_schema(operation_id="renameTopic", parameters=[IF_MATCH], request=RenameTopicSerializer, responses=_RESULTS)
    def post(self, request: Request, topic_code: str) -> Response:
        """Change the code or the title of a topic. Each row that names the code changes in the same release."""
        given = RenameTopicSerializer().run_validation(request.data)
        reason = f"Rename {topic_code} to {given['code'] or given['title']}"
        plan = partial(changes.rename_topic, new_code=given["code"], title=given["title"])
        return _store(request, topic_code, plan, given, reason)


class DuplicateTopicView(ReleaseView):
    """`POST /api/v1/config/topics/{code}/duplicate`."""

    address = "config/topics/<str:topic_code>/duplicate"

    @extend_schema(
        operation_id="duplicateTopic", parameters=[IF_MATCH], request=DuplicateTopicSerializer, responses=_RESULTS
    )
    def post(self, request: Request, topic_code: str) -> Response:
        """Copy all rows of a topic under a new code. The copied phrases are off."""
        given = DuplicateTopicSerializer().run_validation(request.data)
        reason = f"Duplicate {topic_code} as {given['code']}"
        plan = partial(changes.duplicate_topic, new_code=given["code"], title=given["title"])
        return _store(request, topic_code, plan, given, reason)


class SwitchTopicView(ReleaseView):
    """`POST /api/v1/config/topics/{code}/switch`."""

    address = "config/topics/<str:topic_code>/switch"

    @extend_schema(operation_id="switchTopic", parameters=[IF_MATCH], request=SwitchTopicSerializer, responses=_RESULTS)
    def post(self, request: Request, topic_code: str) -> Response:
        """Switch a topic off or on. No conversation begins one that is off; those that are in it finish it."""
        given = SwitchTopicSerializer().run_validation(request.data)
        reason = f"Switch {topic_code} {'on' if given['enabled'] else 'off'}"
        return _store(
            request, topic_code, lambda _, topic: changes.switch_topic(topic, enabled=given["enabled"]), given, reason
        )


class ExportTopicView(ReleaseView):
    """`GET /api/v1/config/topics/{code}/export`."""

    address = "config/topics/<str:topic_code>/export"

    @extend_schema(
        operation_id="exportTopic", parameters=[IF_NONE_MATCH], responses={(200, CONTENT_TYPES[YAML]): OpenApiTypes.ANY}
    )
    def get(self, request: Request, topic_code: str) -> HttpResponse:
        """The rows of a topic as a bundle that adds them where it is imported."""
        topic, _ = _get_topic(topic_code)
        return HttpResponse(export_topic(topic), content_type=CONTENT_TYPES[YAML])


def _describe(intent: rows.Intent) -> dict[str, Any]:
    return {"code": intent.intent_code, "title": intent.name, "enabled": intent.enabled}


def _list_keys(contents: Contents) -> list[dict[str, Any]]:
    return [{"table": table, "row": pk} for table, members in contents.items() for pk in members]


def _get_topic(topic_code: str) -> tuple[Topic, Snapshot]:
    snapshot = snapshots.current()
    topic = find_topic(snapshot, topic_code)
    if topic is None:
        raise NotFound(_describe_missing(topic_code))
    return topic, snapshot


def _describe_missing(topic_code: str) -> str:
    return f"There is no intent {topic_code}. GET /api/v1/config/topics lists the intents."


def _read_rows(topic_code: str, snapshot: Snapshot) -> object:
    """The rows of a topic, as they are in that release."""
    topic = find_topic(snapshot, topic_code)
    return topic and [
        asdict(row)
        for table, members in topic.own.items()
        for pk in members
        if (row := snapshot.row(rows.ROW_TYPE_OF[table], pk))
    ]


def _store(request: Request, topic_code: str, plan: changes.Plan, given: dict[str, Any], reason: str) -> Response:
    author, apply = f"API key {request.auth}", given["apply"]
    try:
        with require_unchanged(request, partial(_read_rows, topic_code)):
            result = changes.store_topic(topic_code, plan, author=author, reason=given["reason"] or reason, apply=apply)
    except changes.CodeRefused as refused:
        raise RequestInvalid(fields={"code": [str(refused)]}) from None
    except changes.TopicRefused as refused:
        findings = [finding.as_dict() for finding in refused.findings]
        return Response(describe_refusal({"problems": refused.problems, "findings": findings}), 422)
    if result is None:
        raise NotFound(_describe_missing(topic_code))
    answer = {
        "release": result.release.config_version if result.release else None,
        "diff": serialize_differences(result.differences),
        "findings": [finding.as_dict() for finding in result.findings],
    }
    return Response(TopicResultSerializer(answer).data)
