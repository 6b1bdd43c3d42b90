"""Row history: django-simple-history's tables and views, written from what a release really changed."""

from typing import Any

from django.db import models
from simple_history.models import HistoricalRecords

from config_admin.releases.change_set import record_write


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
        """Mark a saved row."""
        with record_write() as change:
            change.touch(type(instance), [instance.pk])

    def post_delete(self, instance: models.Model, using: str | None = None, **kwargs: Any) -> None:
        """Mark a deleted row."""
        with record_write() as change:
            change.touch(type(instance), [instance.pk])
