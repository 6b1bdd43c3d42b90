"""Request and response of tests over the API."""

from typing import Any

from rest_framework import serializers

from convengine.server.api.serializers import ClosedSerializer


class TestCaseSerializer(serializers.Serializer[Any]):
    """A test. Exports from the page and from the command contain its scenario."""

    __test__ = False
    id = serializers.CharField()
    title = serializers.CharField()
    folder = serializers.CharField()
    tags = serializers.ListField(child=serializers.CharField())
    owner = serializers.CharField()


class TestCaseListSerializer(serializers.Serializer[Any]):
    """Tests, oldest first. `next` is the `after` of the next page."""

    __test__ = False
    tests = TestCaseSerializer(many=True)
    next = serializers.IntegerField(allow_null=True)


class ImportTestsSerializer(ClosedSerializer):
    """Scenario documents; one with the `id` of a test changes it.

    `conversation_id` in a document names the conversation that it was made of: erasing that erases the test.
    """

    tests = serializers.ListField(child=serializers.DictField(), max_length=1000)
    folder = serializers.CharField(default="", allow_blank=True, max_length=200)


class RefusedTestSerializer(serializers.Serializer[Any]):
    """A document that is no test."""

    id = serializers.CharField()
    problem = serializers.CharField()


class ImportedTestsSerializer(serializers.Serializer[Any]):
    """What was stored, and what was not."""

    added = serializers.ListField(child=serializers.CharField())
    changed = serializers.ListField(child=serializers.CharField())
    refused = RefusedTestSerializer(many=True)


class StartRunSerializer(ClosedSerializer):
    """Which tests run, and on what. Without tags and folder, all run."""

    configuration = serializers.CharField(default="live", max_length=40, help_text="live, release:12 or draft:7.")
    tags = serializers.ListField(child=serializers.CharField(max_length=60), default=list, max_length=50)
    folder = serializers.CharField(default="", allow_blank=True, max_length=200)


class TestResultSerializer(serializers.Serializer[Any]):
    """What a test gave. Failures have turn, where, expected and got; `sincePassed` names the rows that changed."""

    __test__ = False
    id = serializers.CharField(source="test_case.name")
    title = serializers.CharField(source="test_case.title")
    passed = serializers.BooleanField()
    failures = serializers.JSONField()
    sincePassed = serializers.JSONField(source="since_passed")


class TestRunSerializer(serializers.Serializer[Any]):
    """A run with its progress. It has ended when its status is not PENDING or RUNNING."""

    __test__ = False
    run = serializers.IntegerField(source="pk")
    configuration = serializers.CharField()
    configVersion = serializers.IntegerField(source="config_version", allow_null=True)
    contentHash = serializers.CharField(source="content_hash")
    status = serializers.CharField()
    total = serializers.IntegerField()
    passed = serializers.IntegerField()
    failed = serializers.IntegerField()
    turns = serializers.IntegerField()
    milliseconds = serializers.IntegerField()
    error = serializers.CharField()
    startedBy = serializers.CharField(source="started_by")
    createdAt = serializers.DateTimeField(source="created_at")
    finishedAt = serializers.DateTimeField(source="finished_at", allow_null=True)


class TestRunDetailsSerializer(TestRunSerializer):
    """A run with its failures, at most 100; `next` is the `after` of the next page."""

    results = TestResultSerializer(many=True)
    next = serializers.IntegerField(allow_null=True)
