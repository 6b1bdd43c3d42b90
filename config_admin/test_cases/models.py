"""`ce_test_case` and its tags, runs and results. Not configuration: no turn reads them."""

from collections.abc import Sequence
from typing import ClassVar

from django.db import models
from django.utils import timezone

from convengine.server.interfaces.sealed_states import SealedStateModel
from convengine.server.jobs.background_runs import BackgroundRun, RunStatus


class CeTestCase(models.Model):
    """A conversation with expectations and stubs, in the format of scenarios, without a configuration of its own."""

    test_case_id = models.BigAutoField(primary_key=True)
    name = models.SlugField(max_length=120, unique=True, help_text="The name of its file, such as refund-twice.")
    title = models.CharField(max_length=200, help_text="What it proves, as a sentence.")
    folder = models.CharField(max_length=200, blank=True, help_text="Groups tests on pages, such as refunds/late.")
    why = models.TextField("reason", blank=True, help_text="Why these expectations matter.")
    owner = models.CharField(max_length=150, blank=True, editable=False, help_text="Who made it.")
    document = models.JSONField(help_text="Turns, expectations, stubs and start, as in a scenario file.")
    document_hash = models.CharField(max_length=64, editable=False, help_text="The hash of the document.")
    created_at = models.DateTimeField("created", default=timezone.now, editable=False, help_text="When it was made.")
    changed_at = models.DateTimeField(
        "changed", default=timezone.now, editable=False, help_text="When it changed last."
    )
    changed_by = models.CharField(max_length=150, blank=True, editable=False, help_text="Who changed it last.")
    conversation_id = models.UUIDField(
        "conversation",
        null=True,
        editable=False,
        db_index=True,
        help_text="The conversation that it was made of; erasing that erases the test. It may be gone.",
    )
    erased_at = models.DateTimeField(
        "erased", null=True, editable=False, help_text="When it was erased with its conversation."
    )

    class Meta:
        db_table = "ce_test_case"
        verbose_name = "test"
        permissions = [
            ("run_test_case", "Can run tests"),
            ("override_gate", "Can publish although tests of the gate fail"),
        ]
        indexes = [models.Index(fields=["folder", "title"], name="ce_test_case_folder")]

    def __str__(self) -> str:
        return self.title


class CeTestCaseTag(models.Model):
    """A tag of a test."""

    id = models.BigAutoField(primary_key=True)
    test_case = models.ForeignKey(
        CeTestCase, on_delete=models.CASCADE, related_name="tags", help_text="The test that has the tag."
    )
    tag = models.CharField(max_length=60, help_text="Such as smoke.")

    class Meta:
        db_table = "ce_test_case_tag"
        verbose_name = "tag of a test"
        default_permissions = ()
        constraints = [models.UniqueConstraint(fields=["tag", "test_case"], name="ce_test_case_tag_once")]

    def __str__(self) -> str:
        return self.tag


class CeTestRun(SealedStateModel, BackgroundRun):
    """Tests on one state of a configuration."""

    SEALED: ClassVar[Sequence[str]] = (
        *("configuration", "configuration_title", "config_version", "content_hash", "engine_version", "selection"),
        *("status", "total", "passed", "failed", "turns", "error", "started_by", "created_at", "finished_at"),
    )

    run_id = models.BigAutoField(primary_key=True)
    configuration = models.CharField(max_length=40, help_text="live, release:12 or draft:7.")
    configuration_title = models.CharField(max_length=200, help_text="What it is called on pages.")
    config_version = models.BigIntegerField("release", null=True, help_text="The release, or the one below the draft.")
    content_hash = models.CharField(max_length=64, blank=True, help_text="The hash of the state that was tested.")
    engine_version = models.CharField(
        max_length=64,
        blank=True,
        help_text="The version of the product that ran it; the gate asks for the present one.",
    )
    selection = models.JSONField(default=dict, help_text="What was chosen: tags, folder or tests; empty for all.")
    status = models.CharField(
        max_length=10, choices=RunStatus.choices, default=RunStatus.PENDING, help_text="How far the run is."
    )
    total = models.IntegerField(default=0, help_text="How many tests it runs.")
    passed = models.IntegerField(default=0, help_text="How many passed so far.")
    failed = models.IntegerField(default=0, help_text="How many failed so far.")
    turns = models.IntegerField(default=0, help_text="How many turns were played so far.")
    milliseconds = models.IntegerField(default=0, help_text="How long it took so far.")
    error = models.TextField(blank=True, help_text="Why the run failed, not a test of it.")
    started_by = models.CharField(max_length=150, blank=True, help_text="Who started it.")
    created_at = models.DateTimeField("created", help_text="When it was requested.")
    finished_at = models.DateTimeField("finished", null=True, help_text="When it ended.")
    lease_expires_at = models.DateTimeField(
        "lease expires", null=True, help_text="If the process does not respond by then, the run is lost."
    )

    class Meta:
        db_table = "ce_test_run"
        verbose_name = "test run"
        default_permissions = ("view",)

    def __str__(self) -> str:
        return f"Test run {self.pk}"

    @property
    def done(self) -> int:
        return self.passed + self.failed


class CeTestResult(SealedStateModel):
    """What one test gave in one run."""

    #: Neither failures nor turns, so that erasing a test leaves no hash of what somebody said.
    SEALED: ClassVar[Sequence[str]] = (
        *("run_id", "test_case_id", "document_hash", "content_hash", "passed", "deciding_rows"),
    )

    result_id = models.BigAutoField(primary_key=True)
    run = models.ForeignKey(
        CeTestRun, on_delete=models.CASCADE, related_name="results", help_text="The run it belongs to."
    )
    test_case = models.ForeignKey(
        CeTestCase, on_delete=models.CASCADE, related_name="results", help_text="The test that ran."
    )
    document_hash = models.CharField(max_length=64, help_text="The test as it was then.")
    content_hash = models.CharField(max_length=64, help_text="The state of the configuration.")
    passed = models.BooleanField(help_text="Whether everything held.")
    #: [{turn, where, expected, got}].
    failures = models.JSONField(default=list, help_text="What did not hold.")
    #: [{user, answer, intent, state, lines}].
    turns = models.JSONField(default=list, help_text="The turns of a failure, with their explanation.")
    #: [[table, key, hash]].
    deciding_rows = models.JSONField(default=list, help_text="The rows that decided something.")
    #: [[[intent, state], …], …].
    positions = models.JSONField(default=list, help_text="Where the session stood, turn by turn.")
    #: {run, config_version, at, is_edited, rows: [{table, pk, how}]}; None without a run in which it passed.
    since_passed = models.JSONField(null=True, help_text="What changed since it last passed.")
    milliseconds = models.IntegerField(default=0, help_text="How long it took.")

    class Meta:
        db_table = "ce_test_result"
        verbose_name = "test result"
        default_permissions = ()
        constraints = [models.UniqueConstraint(fields=["run", "test_case"], name="ce_test_result_once")]
        indexes = [
            models.Index(fields=["test_case", "-result_id"], name="ce_test_result_newest"),
            models.Index(fields=["content_hash", "test_case"], name="ce_test_result_state"),
        ]

    def __str__(self) -> str:
        return f"{self.test_case_id} in run {self.run_id}"
