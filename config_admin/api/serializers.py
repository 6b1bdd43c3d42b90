"""Request and response of the configuration API."""

from typing import Any

from rest_framework import serializers
from rest_framework.validators import ProhibitSurrogateCharactersValidator

from config_admin.transfer.document import ImportMode
from convengine.server.api.serializers import ClosedSerializer, FailureSerializer
from convengine.server.turns.failure import envelope

IMPORT_MODES = [mode.value for mode in ImportMode]


class ConfigTableSerializer(serializers.Serializer[Any]):
    """A table of the configuration."""

    table = serializers.CharField()
    rows = serializers.IntegerField()


class ConfigTableListSerializer(serializers.Serializer[Any]):
    """The tables of the release in force."""

    configVersion = serializers.IntegerField()
    tables = ConfigTableSerializer(many=True)


class RowReferenceSerializer(serializers.Serializer[Any]):
    """A row of the configuration."""

    table = serializers.CharField()
    row = serializers.JSONField()


class HealthFindingSerializer(serializers.Serializer[Any]):
    """Something that is wrong, or may be. The fingerprint stays the same until one of the rows changes."""

    table = serializers.CharField()
    row = serializers.JSONField()
    field = serializers.CharField(allow_null=True)
    severity = serializers.CharField()
    impact = serializers.CharField(help_text="BREAKS, SURPRISES or HINT.")
    code = serializers.CharField()
    message = serializers.CharField()
    consequence = serializers.CharField()
    rows = RowReferenceSerializer(many=True)
    witness = serializers.JSONField(
        help_text="intent, state, phase, userText, dialogueAct, context, inputParams, facts, joined."
    )
    fingerprint = serializers.CharField()


class HealthReportSerializer(serializers.Serializer[Any]):
    """The health of the configuration in force. `leftOut` counts what was not checked because the time was over."""

    configVersion = serializers.IntegerField()
    errorCount = serializers.IntegerField()
    warningCount = serializers.IntegerField()
    leftOut = serializers.DictField(child=serializers.IntegerField())
    findings = HealthFindingSerializer(many=True)


class CheckProgressSerializer(serializers.Serializer[Any]):
    """The progress of a check: what it looks at, and how many parts of how many are done."""

    part = serializers.CharField()
    done = serializers.IntegerField()
    of = serializers.IntegerField(source="parts")


class RunningCheckSerializer(serializers.Serializer[Any]):
    """The check of the configuration in force goes on."""

    configVersion = serializers.IntegerField()
    progress = CheckProgressSerializer()


class ConfigRowPageSerializer(serializers.Serializer[Any]):
    """Some rows of a table of the release in force; `next` is `after` of the next page, null at the end."""

    configVersion = serializers.IntegerField()
    table = serializers.CharField()
    next = serializers.CharField(allow_null=True)
    rows = serializers.ListField(child=serializers.JSONField())


class FileTextField(serializers.CharField):
    """The text of a file. The parser of the body has refused unpaired surrogates; looking again costs 30 ns a sign."""

    def __init__(self, **options: Any) -> None:
        super().__init__(trim_whitespace=False, **options)
        self.validators = [
            item for item in self.validators if not isinstance(item, ProhibitSurrogateCharactersValidator)
        ]


class ImportFileSerializer(ClosedSerializer):
    """A file as it is, whose name says how it is read: `.csv`, called like its table, `.xlsx`, or any other form."""

    name = serializers.CharField(max_length=255)
    base64 = FileTextField(help_text="Its bytes in base64.")


class ImportSerializer(ClosedSerializer):
    """A file of configuration, and what to do with it; without `apply` nothing is changed."""

    bundle = serializers.JSONField(required=False)
    sql = FileTextField(required=False)
    file = ImportFileSerializer(required=False)
    apply = serializers.BooleanField(default=False)
    rest = serializers.BooleanField(default=False)
    mode = serializers.ChoiceField(IMPORT_MODES, required=False)
    blankAsAny = serializers.BooleanField(default=False, source="blank_as_any")
    merge = serializers.BooleanField(
        default=False, help_text="Merge the file with changes made since its base release, field by field."
    )
    overwrite = serializers.BooleanField(
        default=False,
        help_text="Undo changes made since the base of the file, or all differences if its base is unknown.",
    )
    undoubleBackslashes = serializers.BooleanField(
        default=False, source="undouble_backslashes", help_text="Read two backslashes in a regular expression as one."
    )
    reason = serializers.CharField(default="", allow_blank=True, max_length=2000)
    draft = serializers.IntegerField(
        required=False, min_value=1, help_text="The id of an open draft to import into. Nothing changes live then."
    )


class FlowSummarySerializer(serializers.Serializer[Any]):
    """A flow of the configuration."""

    code = serializers.CharField()
    title = serializers.CharField()
    kind = serializers.CharField()
    enabled = serializers.BooleanField(
        help_text="False if no conversation begins the flow. Conversations that are in it finish it."
    )


class FlowListSerializer(serializers.Serializer[Any]):
    """The flows of the release in force."""

    configVersion = serializers.IntegerField()
    flows = FlowSummarySerializer(many=True)


class FlowDetailsSerializer(serializers.Serializer[Any]):
    """A flow document, and the rows of its intents that saving it does not touch."""

    configVersion = serializers.IntegerField()
    flow = serializers.JSONField(help_text="The flow document, described by config_admin/flows/flow.schema.json.")
    otherRows = RowReferenceSerializer(many=True)


class WriteFlowSerializer(ClosedSerializer):
    """A flow document to store, and why."""

    flow = serializers.JSONField(help_text="The flow document, described by config_admin/flows/flow.schema.json.")
    reason = serializers.CharField(default="", allow_blank=True, max_length=2000)


class FlowResultSerializer(serializers.Serializer[Any]):
    """What was stored; `release` is null when nothing changed."""

    release = serializers.IntegerField(allow_null=True)
    diff = serializers.JSONField(help_text="By table: added, removed, and changed rows with before and after.")
    findings = serializers.JSONField(help_text="Warnings of the save checks.")


class TopicSummarySerializer(serializers.Serializer[Any]):
    """An intent with all its rows."""

    code = serializers.CharField()
    title = serializers.CharField()
    enabled = serializers.BooleanField()


class TopicListSerializer(serializers.Serializer[Any]):
    """The topics of the release in force."""

    configVersion = serializers.IntegerField()
    topics = TopicSummarySerializer(many=True)


class TopicDetailsSerializer(TopicSummarySerializer):
    """A topic: its rows, and what depends on it."""

    configVersion = serializers.IntegerField()
    questions = serializers.ListField(
        child=serializers.CharField(), help_text="The intents of the questions that are answered beside its flow."
    )
    rows = RowReferenceSerializer(many=True)
    references = RowReferenceSerializer(many=True, help_text="Rows of other intents that name it.")
    mentions = RowReferenceSerializer(many=True, help_text="Rows with its code in a text that may mean something else.")
    neededTools = serializers.ListField(
        child=serializers.CharField(), help_text="Tools that its rows call and that do not belong to it."
    )


class ChangeTopicSerializer(ClosedSerializer):
    """Whether to change the topic, and why."""

    apply = serializers.BooleanField(default=True, help_text="If false, nothing is changed: the result is a preview.")
    reason = serializers.CharField(default="", allow_blank=True, max_length=2000)


class DuplicateTopicSerializer(ChangeTopicSerializer):
    """The code and the title of a copy."""

    code = serializers.CharField(max_length=120)
    title = serializers.CharField(default="", allow_blank=True, max_length=400)


class RenameTopicSerializer(DuplicateTopicSerializer):
    """A new code, a new title, or both."""

    code = serializers.CharField(default="", allow_blank=True, max_length=120)


class SwitchTopicSerializer(ChangeTopicSerializer):
    """Whether the topic takes part in turns."""

    enabled = serializers.BooleanField()


class TopicResultSerializer(FlowResultSerializer):
    """What changed or would change; `release` is null when nothing was stored."""


class FindingSerializer(serializers.Serializer[Any]):
    """A finding of the save checks."""

    table = serializers.CharField()
    row = serializers.JSONField()
    field = serializers.CharField(allow_null=True)
    severity = serializers.CharField()
    code = serializers.CharField()
    message = serializers.CharField()


class ImportFindingSerializer(FindingSerializer):
    """A finding about a row of the import."""

    where = serializers.CharField(allow_null=True, help_text="The place in the imported file.")


class StrandedConversationsSerializer(serializers.Serializer[Any]):
    """Open conversations of one intent and state that could not go on."""

    intent = serializers.CharField()
    state = serializers.CharField()
    conversations = serializers.IntegerField(help_text="How many, among the newest 10,000.")
    reason = serializers.CharField()
    examples = serializers.ListField(child=serializers.CharField(), help_text="The ids of the newest ones.")


class ImportPlanSerializer(serializers.Serializer[Any]):
    """What an import changes, with all findings."""

    configVersion = serializers.IntegerField(allow_null=True)
    mode = serializers.ChoiceField(IMPORT_MODES)
    rows = serializers.IntegerField(help_text="How many rows were sent.")
    refused = serializers.BooleanField(help_text="True if rows have errors, so that nothing is changed.")
    diff = serializers.DictField(help_text="By table: added, removed, and changed rows with before and after.")
    findings = ImportFindingSerializer(many=True)
    leftOut = ImportFindingSerializer(many=True)
    stranded = StrandedConversationsSerializer(many=True)
    conversions = serializers.ListField(child=serializers.DictField())
    renumbered = serializers.ListField(child=serializers.DictField())
    notes = serializers.ListField(child=serializers.DictField())


class ImportResultSerializer(ImportPlanSerializer):
    """What an import would change, or has changed."""

    applied = serializers.BooleanField()
    release = serializers.IntegerField(allow_null=True, help_text="The release of the import; null without a change.")


class ReleaseSerializer(serializers.Serializer[Any]):
    """A release."""

    release = serializers.IntegerField(source="config_version")
    origin = serializers.CharField()
    author = serializers.CharField()
    reason = serializers.CharField()
    createdAt = serializers.DateTimeField(source="created_at")
    contentHash = serializers.CharField(
        source="content_hash", help_text="The hash of all rows. Exports name it in `base`."
    )


class ReleaseListSerializer(serializers.Serializer[Any]):
    """The newest releases, newest first."""

    releases = ReleaseSerializer(many=True)


class RestoreReleaseSerializer(ChangeTopicSerializer):
    """Whether to change the configuration, and why."""


class RestoreResultSerializer(serializers.Serializer[Any]):
    """What changed or would change; `release` is null when nothing was stored."""

    release = serializers.IntegerField(allow_null=True)
    diff = serializers.JSONField(help_text="By table: added, removed, and changed rows with before and after.")
    stranded = StrandedConversationsSerializer(many=True)


class TopicRefusalSerializer(FailureSerializer):
    """Rows have errors, so nothing was changed. The findings say which."""

    findings = FindingSerializer(many=True)
    problems = serializers.ListField(child=serializers.CharField())


class ImportRefusalSerializer(FailureSerializer, ImportPlanSerializer):
    """Rows have errors, so nothing was changed. The findings say which."""


def describe_refusal(document: dict[str, Any]) -> dict[str, Any]:
    """The body of a refusal: a failure as everywhere, with the plan or the problems."""
    message = "Rows have errors, so nothing was changed. `findings` lists them."
    return {**envelope("CONFIGURATION_REFUSED", message), **document}
