"""Request and response of the configuration API."""

from typing import Any

from rest_framework import serializers

from config_admin.transfer.document import Mode


class TableSerializer(serializers.Serializer[Any]):
    """A table of the configuration."""

    table = serializers.CharField()
    rows = serializers.IntegerField()


class TablesSerializer(serializers.Serializer[Any]):
    """The tables of the release in force."""

    configVersion = serializers.IntegerField()
    tables = TableSerializer(many=True)


class RowKeySerializer(serializers.Serializer[Any]):
    """A row of the configuration."""

    table = serializers.CharField()
    row = serializers.JSONField()


class DiagnosisSerializer(serializers.Serializer[Any]):
    """Something that is wrong, or may be. The fingerprint stays the same until one of the rows changes."""

    table = serializers.CharField()
    row = serializers.JSONField()
    field = serializers.CharField(allow_null=True)
    severity = serializers.CharField()
    impact = serializers.CharField(help_text="BREAKS, SURPRISES or HINT.")
    code = serializers.CharField()
    message = serializers.CharField()
    consequence = serializers.CharField()
    rows = RowKeySerializer(many=True)
    witness = serializers.JSONField(
        help_text="intent, state, phase, userText, dialogueAct, context, inputParams, facts, joined."
    )
    fingerprint = serializers.CharField()


class HealthSerializer(serializers.Serializer[Any]):
    """The health of the configuration in force; `leftOut` counts what was not looked at for want of time."""

    configVersion = serializers.IntegerField()
    errorCount = serializers.IntegerField()
    warningCount = serializers.IntegerField()
    leftOut = serializers.DictField(child=serializers.IntegerField())
    findings = DiagnosisSerializer(many=True)


class ProgressSerializer(serializers.Serializer[Any]):
    """How far a check is: what it looks at, how many parts are done, and of how many."""

    part = serializers.CharField()
    done = serializers.IntegerField()
    of = serializers.IntegerField(source="parts")


class RunningSerializer(serializers.Serializer[Any]):
    """The check of the configuration in force goes on."""

    configVersion = serializers.IntegerField()
    progress = ProgressSerializer()


class RowsSerializer(serializers.Serializer[Any]):
    """Some rows of a table of the release in force; `next` is `after` of the next page, null at the end."""

    configVersion = serializers.IntegerField()
    table = serializers.CharField()
    next = serializers.CharField(allow_null=True)
    rows = serializers.ListField(child=serializers.JSONField())


class FileSerializer(serializers.Serializer[Any]):
    """A file as it is, whose name says how it is read: `.csv`, called like its table, `.xlsx`, or any other form."""

    name = serializers.CharField(max_length=255)
    base64 = serializers.CharField(trim_whitespace=False, help_text="Its bytes in base64.")


class ImportSerializer(serializers.Serializer[Any]):
    """A file of configuration, and what to do with it; without `apply` nothing is changed."""

    bundle = serializers.JSONField(required=False)
    sql = serializers.CharField(required=False, trim_whitespace=False)
    file = FileSerializer(required=False)
    apply = serializers.BooleanField(default=False)
    rest = serializers.BooleanField(default=False)
    mode = serializers.ChoiceField([mode.value for mode in Mode], required=False)
    blankAsAny = serializers.BooleanField(default=False)
    reason = serializers.CharField(default="", allow_blank=True, max_length=2000)


class FlowSummarySerializer(serializers.Serializer[Any]):
    """A flow of the configuration."""

    code = serializers.CharField()
    title = serializers.CharField()
    kind = serializers.CharField()


class FlowsSerializer(serializers.Serializer[Any]):
    """The flows of the release in force."""

    configVersion = serializers.IntegerField()
    flows = FlowSummarySerializer(many=True)


class FlowSerializer(serializers.Serializer[Any]):
    """A flow document, and the rows of its intents that saving it does not touch."""

    configVersion = serializers.IntegerField()
    flow = serializers.JSONField(help_text="The flow document, described by config_admin/flows/flow.schema.json.")
    otherRows = RowKeySerializer(many=True)


class FlowWriteSerializer(serializers.Serializer[Any]):
    """A flow document to store, and why."""

    flow = serializers.JSONField(help_text="The flow document, described by config_admin/flows/flow.schema.json.")
    reason = serializers.CharField(default="", allow_blank=True, max_length=2000)


class FlowResultSerializer(serializers.Serializer[Any]):
    """What was stored; `release` is null when nothing changed."""

    release = serializers.IntegerField(allow_null=True)
    diff = serializers.JSONField(help_text="By table: added, removed, and changed rows with before and after.")
    findings = serializers.JSONField(help_text="Warnings of the save checks.")
