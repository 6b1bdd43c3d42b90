"""Row history: django-simple-history's tables and views, written from what a release really changed (R5)."""

from typing import Any

from django.db import models
from simple_history.models import HistoricalRecords

from config_admin.releases.change_set import recorded


class HistoryStamp(models.Model):
    """What every history row carries beside the row: the release it belongs to."""

    config_version = models.BigIntegerField(db_index=True, help_text="The release that made this change.")
    change_set = models.UUIDField(db_index=True, help_text="Rows changed together have the same one.")

    class Meta:
        abstract = True


class RowHistory(HistoricalRecords):
    """History tables named `<table>_history`.

    The library writes a history row when it hears that an instance was saved. Bulk writes make no such noise, and
    a save that changes nothing makes it in vain. So a signal here only says which row to look at; the release
    compares what was and what is, and writes the history of each real difference, whichever way it came about.
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
        """A row was saved, by a form, a script or a fixture."""
        with recorded() as change:
            change.touch(type(instance), [instance.pk])

    def post_delete(self, instance: models.Model, using: str | None = None, **kwargs: Any) -> None:
        """A row was deleted, by itself or with the row that it belongs to."""
        with recorded() as change:
            change.touch(type(instance), [instance.pk])
