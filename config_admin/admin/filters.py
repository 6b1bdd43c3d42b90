"""Filters of the lists of configuration rows: in use, by intent, by state."""

from collections.abc import Iterable, Sequence
from typing import Any

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.http import HttpRequest
from unfold.contrib.filters.admin import DropdownFilter

from config_admin.admin.desk import Desk, desk_of
from config_admin.admin.editing.fields import Option
from config_admin.admin.editing.pickers import intents, states
from config_admin.models import CeIntent
from convengine.domain.scope import ANY, UNKNOWN

_ACTIVE = Q(intent_code__in=[ANY, UNKNOWN]) | Exists(CeIntent.objects.filter(pk=OuterRef("intent_code"), enabled=True))


def with_activity(queryset: QuerySet[Any]) -> QuerySet[Any]:
    """Rows that know whether their intent takes part (tables 1.6)."""
    known: QuerySet[Any] = queryset.annotate(intent_active=_ACTIVE)
    return known


class InUseFilter(DropdownFilter):
    """On, off, or on in vain because the intent is disabled."""

    title = "use"
    parameter_name = "use"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Sequence[tuple[str, str]]:
        """The three of them; two where rows have no scope."""
        inactive = [("inactive", "Inactive: intent disabled")] if model_admin.is_scoped else []
        return [("on", "In use"), *inactive, ("off", "Disabled")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """The rows of the choice."""
        wanted = self.value()
        if wanted is None or wanted == "":
            return queryset
        found = queryset.filter(enabled=wanted != "off")
        if wanted == "off" or "intent_active" not in queryset.query.annotations:
            return found
        return found.filter(intent_active=wanted == "on")


class _CodeFilter(DropdownFilter):
    """One code of a column."""

    def lookups(self, request: HttpRequest, model_admin: Any) -> Sequence[tuple[str, str]]:
        """The codes, from the configuration in force: no query of its own."""
        return [(option.value, option.value) for option in self.options(desk_of(request))]

    def options(self, desk: Desk) -> Iterable[Option]:
        """What there is to choose from."""
        raise NotImplementedError

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """The rows of the code."""
        return queryset.filter(**{self.parameter_name: self.value()}) if self.value() else queryset


class IntentFilter(_CodeFilter):
    """By intent."""

    title = "intent"
    parameter_name = "intent_code"

    def options(self, desk: Desk) -> Iterable[Option]:
        """Every intent, and the reserved words."""
        return intents(ANY, UNKNOWN)(desk)


class StateFilter(_CodeFilter):
    """By state."""

    title = "state"
    parameter_name = "state_code"

    def options(self, desk: Desk) -> Iterable[Option]:
        """Every known state, and ANY."""
        return states(ANY)(desk)
