"""What all configuration rows share: audit columns, history, and that every write is part of a change set."""

from collections.abc import Iterable
from typing import Any, ClassVar

from django.db import models
from django.db.models.functions import Now
from django.utils import timezone
from simple_history.models import HistoricalRecords

from config_admin.releases.change_set import record_write
from config_admin.tables.model_fields import CodeField, document, not_blank
from config_admin.validation.columns import ColumnProblem, NaturalKey, Reference, declare_column
from config_admin.validation.draft import SaveChecks
from convengine.engine.rules.row_names import name_row
from convengine.engine.turn.scope import ANY, UNKNOWN

STAMPS = ("updated_at", "updated_by")


class HistoryStamp(models.Model):
    """What every history row has besides the row: its release."""

    config_version = models.BigIntegerField(db_index=True, help_text="The release that contains this change.")
    change_set = models.UUIDField(db_index=True, help_text="Rows that were changed together have the same value.")

    class Meta:
        abstract = True


class RowHistory(HistoricalRecords):
    """History tables named `<table>_history`.

    The library writes a history row when an instance is saved. Bulk writes send no signal, and a save without a change
    sends one. So a signal here only marks a row; the release compares, and writes the history of each real difference.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(
            inherit=True,
            bases=[HistoryStamp],
            history_id_field=models.BigAutoField(),
            history_change_reason_field=models.TextField(null=True),
            **options,
        )

    def get_meta_options(self, model: type[models.Model]) -> dict[str, Any]:
        """The library's options, with our table name and an index for a row's own history."""
        options: dict[str, Any] = super().get_meta_options(model)
        table = model._meta.db_table
        pk = model._meta.pk
        assert pk is not None
        return options | {
            "db_table": f"{table}_history",
            "indexes": [models.Index(fields=[pk.name, "-config_version"], name=f"{table[:20]}_hist_row")],
        }

    def post_save(self, instance: models.Model, created: bool, using: str | None = None, **kwargs: Any) -> None:
        with record_write() as change:
            change.touch(type(instance), [instance.pk])

    def post_delete(self, instance: models.Model, using: str | None = None, **kwargs: Any) -> None:
        with record_write() as change:
            change.touch(type(instance), [instance.pk])


class RowQuerySet(models.QuerySet[Any]):
    """Queries on configuration rows. Bulk writes are recorded like any other."""

    def update(self, **values: Any) -> int:
        """As in Django, in a change set; sets `updated_at` and `updated_by`."""
        if self.query.is_sliced:
            return super().update(**values)
        with record_write() as change:
            change.touch(self.model, list(self.order_by().values_list("pk", flat=True)))
            if {"pk", self.model._meta.pk.name} & values.keys():
                change.touch_table(self.model)
            return super().update(**{"updated_at": timezone.now(), "updated_by": change.author_name} | values)

    def bulk_create(self, objs: Iterable[Any], *args: Any, **options: Any) -> list[Any]:
        """As in Django, in a change set."""
        with record_write() as change:
            made = list(objs)
            for row in made:
                row.updated_by = change.author_name
            created = super().bulk_create(made, *args, **options)
            if all(row.pk for row in created):
                change.touch(self.model, [row.pk for row in created])
            if options.get("ignore_conflicts") or options.get("update_conflicts"):
                # The database decided which rows it inserted; the instances do not know.
                change.touch_table(self.model)
            return created

    def bulk_update(self, *args: Any, **options: Any) -> int:
        """As in Django, in one change set for all batches."""
        with record_write():
            return super().bulk_update(*args, **options)

    def delete(self) -> tuple[int, dict[str, int]]:
        """As in Django, in one change set together with dependent rows."""
        with record_write():
            return super().delete()


class ControlPlaneRow(models.Model):
    """A row that the engine reads through releases. Its dataclass is in `convengine.engine.turn.rows`."""

    #: The checks before a row of the table is saved.
    save_checks: ClassVar[SaveChecks]
    #: The columns that identify a row in files.
    natural_key: ClassVar[NaturalKey]
    #: True for rows with a scope.
    is_scoped: ClassVar[bool] = False
    #: Columns that the engine itself writes; they are not configuration and make no release.
    ENGINE_COLUMNS: ClassVar[tuple[str, ...]] = ()

    created_at = models.DateTimeField(default=timezone.now, db_default=Now(), editable=False)
    updated_at = models.DateTimeField(auto_now=True, db_default=Now())
    updated_by = models.CharField(max_length=150, default="", db_default="", blank=True, editable=False)

    history = RowHistory()
    objects = RowQuerySet.as_manager()

    class Meta:
        abstract = True
        base_manager_name = "objects"

    def __str__(self) -> str:
        return f"{self.pk} · {name_row(self._meta.db_table, self)}"

    def save_base(self, *args: Any, **options: Any) -> None:
        """Store the row in a change set. Every way of saving an instance ends here."""
        with record_write() as change:
            self.updated_by = change.author_name
            if options.get("update_fields"):
                options["update_fields"] = frozenset({*options["update_fields"], *STAMPS})
            super().save_base(*args, **options)

    def delete(self, *args: Any, **options: Any) -> tuple[int, dict[str, int]]:
        """Delete the row, and dependent rows, in one change set."""
        with record_write():
            return super().delete(*args, **options)


class SpokenRow(models.Model):
    """A row with texts that users read, which may have translations (`convengine.engine.turn.translations`)."""

    translations = declare_column(
        document(
            null=True,
            blank=True,
            help_text="The texts in other languages, by language and place in the row. The page Languages has them.",
        ),
        shape=dict,
        misshapen=ColumnProblem("SHAPE_INVALID", "This must be a JSON object."),
    )

    # Behind the columns of the table, in files and on pages.
    translations.creation_counter = 1_000_000

    class Meta:
        abstract = True


class ScopedRow(ControlPlaneRow):
    """A row with a scope: intent and state, each concrete, ANY or UNKNOWN."""

    is_scoped = True

    intent_code = declare_column(
        CodeField("intent", help_text="An intent, or ANY for all intents."),
        reference=Reference.INTENT,
        reserved=(ANY, UNKNOWN),
    )
    state_code = declare_column(
        CodeField("state", help_text="A state, or ANY for all states."),
        reference=Reference.STATE,
        reserved=(ANY, UNKNOWN),
    )

    class Meta(ControlPlaneRow.Meta):
        abstract = True
        constraints = not_blank("intent_code", "state_code")


def index(name: str, *columns: str) -> models.Index:
    return models.Index(fields=list(columns), name=name)
