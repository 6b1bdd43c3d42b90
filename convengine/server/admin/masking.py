"""Mask data on admin pages that is stored unmasked, because conversations need it."""

from typing import Any

from django.contrib.admin import display
from django.utils.safestring import SafeString

from convengine.engine.redaction import Redaction
from convengine.server.admin_site.record_columns import Column, render_json
from convengine.server.interfaces.configuration import configuration


def current_redaction() -> Redaction:
    """The current masks for events."""
    return Redaction.of(configuration().current())


def masked_column(name: str, label: str) -> Column:
    """A page column with a masked JSON column of the table."""

    @display(description=label)
    def show(admin: Any, row: Any) -> SafeString:
        return render_json(current_redaction().document(getattr(row, name)))

    return show
