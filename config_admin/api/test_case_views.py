"""Views of tests: list and import them, run them on any configuration, read and cancel runs."""

from typing import Any

from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from config_admin.api.release_views import IF_NONE_MATCH, ReleaseView
from config_admin.test_cases.documents import TestRefused, describe_test
from config_admin.test_cases.models import CeTestCase, CeTestRun
from config_admin.test_cases.runs import SelectedTests, read_results, start_run, take_page, test_runs
from config_admin.test_cases.transfer import ImportReport
from convengine.engine.errors import ReplayBusy, RequestInvalid
from convengine.engine.text.compare import storable
from convengine.engine.text.whole_numbers import parse_whole_number
from convengine.server.admin_site.configuration_choice import read_name
from convengine.server.api.schema import extend_schema
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


_AFTER = OpenApiParameter(
    "after", {"type": "integer", "minimum": 0, "maximum": 2**53}, description="The `next` of the page before."
)


class TestCasesView(ReleaseView):
    """`GET` and `POST /api/v1/config/tests`."""

    address = "config/tests"

    __test__ = False

    @extend_schema(
        operation_id="listTests",
        parameters=[
            OpenApiParameter("tag", str, description="Only tests with this tag."),
            OpenApiParameter("folder", str, description="Only tests in this folder and below it."),
            _AFTER,
            IF_NONE_MATCH,
        ],
        responses={200: TestCaseListSerializer},
    )
    def get(self, request: Request) -> Response:
        """The tests, 100 at a time."""
        tag, folder = (request.query_params.get(name, "") for name in ("tag", "folder"))
        query = SelectedTests([tag.lower()] if tag else [], folder).query()
        cases, after = take_page(query.defer("document").prefetch_related("tags"), _read_after(request))
        tests = [describe_test(case) for case in cases]
        return Response(TestCaseListSerializer({"tests": tests, "next": after}).data)

    @extend_schema(operation_id="importTests", request=ImportTestsSerializer, responses={200: ImportedTestsSerializer})
    def post(self, request: Request) -> Response:
        """Store scenarios as tests. Each is stored or refused by itself."""
        given = ImportTestsSerializer().run_validation(request.data)
        report = ImportReport()
        for document in given["tests"]:
            name = storable(str(document.get("id", "")))
            case = CeTestCase.objects.filter(name=name).first()
            try:
                report.store(document, case, editor=f"API key {request.auth}", folder=given["folder"])
            except TestRefused as refusal:
                report.refused.append((name, str(refusal)))
        refused = [{"id": name, "problem": problem} for name, problem in report.refused]
        answer = {"added": report.added, "changed": report.changed, "refused": refused}
        return Response(ImportedTestsSerializer(answer).data)


class TestRunsView(ReleaseView):
    """`POST /api/v1/config/test-runs`."""

    address = "config/test-runs"

    __test__ = False

    @extend_schema(operation_id="createTestRun", request=StartRunSerializer, responses={202: TestRunSerializer})
    def post(self, request: Request) -> Response:
        """Start a run in the background."""
        given = StartRunSerializer().run_validation(request.data)
        selection = SelectedTests([tag.lower() for tag in given["tags"]], given["folder"])
        try:
            name = read_name(given["configuration"])
        except ValueError as refused:
            raise RequestInvalid(fields={"configuration": [str(refused)]}) from refused
        try:
            run = start_run(name, selection, f"API key {request.auth}")
        except ReplayBusy as busy:
            raise RequestInvalid(busy.message) from busy
        return Response(TestRunSerializer(run).data, 202)


class TestRunView(ReleaseView):
    """`GET` and `DELETE /api/v1/config/test-runs/{id}`."""

    address = "config/test-runs/<int:run_id>"

    __test__ = False

    @extend_schema(
        operation_id="getTestRun",
        parameters=[
            OpenApiParameter("all", bool, description="List the tests that passed, too."),
            _AFTER,
            IF_NONE_MATCH,
        ],
        responses={200: TestRunDetailsSerializer},
    )
    def get(self, request: Request, run_id: int) -> Response:
        """The progress of a run, and its failures."""
        test_runs.mark_lost()
        run = _get_run(run_id)
        with_passed = request.query_params.get("all") == "true"
        results, after = read_results(run, _read_after(request), with_passed=with_passed)
        listed = TestResultSerializer(results, many=True).data
        return Response({**TestRunSerializer(run).data, "results": listed, "next": after})

    @extend_schema(operation_id="cancelTestRun", request=None, responses={200: TestRunSerializer})
    def delete(self, request: Request, run_id: int) -> Response:
        """Cancel a run. Its results so far stay; a run that has ended stays as it is."""
        _get_run(run_id)
        test_runs.cancel(run_id)
        return Response(TestRunSerializer(_get_run(run_id)).data)


def _get_run(run_id: int) -> CeTestRun:
    run = CeTestRun.objects.filter(pk=run_id).first() if run_id < 2**63 else None
    if run is None:
        raise NotFound(f"There is no test run {run_id}.")
    return run


def _read_after(request: Request) -> int:
    after = parse_whole_number(request.query_params.get("after", "0"))
    if after is None:
        raise RequestInvalid(fields={"after": ["Enter the number that `next` of a page gave."]})
    return after
