"""What is stored as it is, because a conversation goes on with it, is shown as the audit shows it: masked."""

from typing import Any

from django.contrib.admin import display
from django.utils.safestring import SafeString

from convengine import conf
from convengine.record_columns import Column, as_json
from convengine.rules.redacting import Redaction


def masks() -> Redaction:
    """What the settings in force mask in events."""
    return Redaction.of(conf.load("SNAPSHOT").current())


def masked_column(name: str, label: str) -> Column:
    """A column of a page that shows a JSON column of the table so."""

    @display(description=label)
    def show(admin: Any, row: Any) -> SafeString:
        return as_json(masks().document(getattr(row, name)))

    return show
