"""A section of the file of an installation: rows beside the configuration. `audit` implements that of alert rules."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from operator import attrgetter
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
    #: The column that names an entry.
    name: str
    form: type[Any] = forms.ModelForm
    #: The rows that the section is about.
    list_rows: Callable[[], Iterable[Any]] = lambda: ()
    #: For columns that name other rows: their keys by what a file calls them.
    links: Mapping[str, Callable[[], Mapping[str, Any]]] | None = None
    #: Columns that tell entries of the same name apart.
    within: Sequence[str] = ()
    #: For columns of a related row: their paths. The form sets that row.
    paths: Mapping[str, str] = field(default_factory=dict)
    #: Store a new row, and return its secret.
    add: Callable[[Any], str] = save_row
    change: Callable[[Any], str] = save_row
    #: What a change by somebody ends, and what it notes in the row.
    before_change: Callable[[Any, str], None] = lambda row, author: None
    remove: Callable[[Any], None] = _delete

    def is_left_out(self, column: str, value: Any) -> bool:
        """Whether a file need not tell a blank value, because a missing one means the same."""
        blank: tuple[Any, ...] = (None, "", [], {})
        return value in blank and (column in (self.links or {}) or self.get_field(column).get_default() in blank)

    def get_field(self, column: str) -> Any:
        """The field of a column, in the row or in the related one."""
        model: Any = self.model
        *links, name = self.paths.get(column, column).split(".")
        for link in links:
            model = model._meta.get_field(link).related_model
        return model._meta.get_field(name)

    def get_value(self, row: Any, column: str) -> Any:
        """The value of a column in the row or in the related one."""
        return attrgetter(self.paths.get(column, column))(row)

    def describe_name(self, values: Mapping[str, Any]) -> str:
        """What an entry is called: `handbook / Delivery`, without what every entry has by default."""
        around = [values[column] for column in self.within if values[column] != self.get_field(column).get_default()]
        return " / ".join([*around, values[self.name]])

    @cached_property
    def form_class(self) -> type[Any]:
        own = [column for column in self.columns if column not in self.paths]
        return forms.modelform_factory(self.model, form=self.form, fields=own)


alert_rules: Callable[[], InstallationSection] = partial(conf.load, "ALERT_RULES")
