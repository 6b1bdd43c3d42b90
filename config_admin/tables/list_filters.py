"""Filters of the lists of configuration rows: in use, by intent, by state."""

from collections.abc import Iterable, Sequence
from typing import Any

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.http import HttpRequest
from unfold.contrib.filters.admin import DropdownFilter

from config_admin.editing.context import EditorContext, get_editor_context
from config_admin.editing.fields import Option
from config_admin.editing.pickers import intents, states
from config_admin.tables.intent import CeIntent
from convengine.engine.turn.scope import ANY, UNKNOWN

_ACTIVE = Q(intent_code__in=[ANY, UNKNOWN]) | Exists(CeIntent.objects.filter(pk=OuterRef("intent_code"), enabled=True))


def with_activity(queryset: QuerySet[Any]) -> QuerySet[Any]:
    """Add to rows whether their intent takes part."""
    known: QuerySet[Any] = queryset.annotate(intent_active=_ACTIVE)
    return known


class InUseFilter(DropdownFilter):
    """On, off, or on without effect because the intent is disabled."""

    title = "use"
    parameter_name = "use"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Sequence[tuple[str, str]]:
        """All three; two if rows have no scope."""
        inactive = [("inactive", "Inactive (intent disabled)")] if model_admin.is_scoped else []
        return [("on", "In use"), *inactive, ("off", "Disabled")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        wanted = self.value()
        if wanted is None or wanted == "":
            return queryset
        rows = queryset.filter(enabled=wanted != "off")
        if wanted == "off" or "intent_active" not in queryset.query.annotations:
            return rows
        return rows.filter(intent_active=wanted == "on")


class _CodeFilter(DropdownFilter):
    """One code of a column."""

    def lookups(self, request: HttpRequest, model_admin: Any) -> Sequence[tuple[str, str]]:
        """The codes, from the configuration in force, without a query."""
        return [(option.value, option.value) for option in self.options(get_editor_context(request))]

    def options(self, editor: EditorContext) -> Iterable[Option]:
        raise NotImplementedError

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset.filter(**{self.parameter_name: self.value()}) if self.value() else queryset


class IntentFilter(_CodeFilter):
    """By intent."""

    title = "intent"
    parameter_name = "intent_code"

    def options(self, editor: EditorContext) -> Iterable[Option]:
        """Every intent, and the reserved words."""
        return intents(ANY, UNKNOWN)(editor)


class StateFilter(_CodeFilter):
    """By state."""

    title = "state"
    parameter_name = "state_code"

    def options(self, editor: EditorContext) -> Iterable[Option]:
        """Every known state, and ANY."""
        return states(ANY)(editor)
