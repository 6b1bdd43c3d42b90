"""A section of the file of an installation: rows beside the configuration. `audit` implements that of alert rules."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from django import forms
from django.db.models import Model

from convengine.engine.cached_property import cached_property
from convengine.server.deployment import conf


def save_row(row: Any) -> str:
    """Store a row that has no secret."""
    row.save()
    return ""


def _delete(row: Any) -> None:
    row.delete()


@dataclass(frozen=True)
class InstallationSection:
    """A kind of entries: their columns, and the form that checks them, as in the admin."""

    model: type[Model]
    columns: Sequence[str]
    #: The column that identifies an entry.
    name: str
    form: type[Any] = forms.ModelForm
    #: The rows that the section is about.
    list_rows: Callable[[], Iterable[Any]] = lambda: ()
    #: For columns that name other rows: their keys by what a file calls them.
    links: Mapping[str, Callable[[], Mapping[str, Any]]] | None = None
    #: Store a new row, and return its secret.
    add: Callable[[Any], str] = save_row
    #: What a change by somebody ends, and what it notes in the row.
    before_change: Callable[[Any, str], None] = lambda row, author: None
    remove: Callable[[Any], None] = _delete

    def is_left_out(self, column: str, value: Any) -> bool:
        """Whether a file need not tell a blank value, because a missing one means the same."""
        blank: tuple[Any, ...] = (None, "", [], {})
        return value in blank and (column in (self.links or {}) or self._get_default(column) in blank)

    def _get_default(self, column: str) -> Any:
        field: Any = self.model._meta.get_field(column)
        return field.get_default()

    @cached_property
    def form_class(self) -> type[Any]:
        """The form of all columns."""
        return forms.modelform_factory(self.model, form=self.form, fields=list(self.columns))


alert_rules: Callable[[], InstallationSection] = partial(conf.load, "ALERT_RULES")
