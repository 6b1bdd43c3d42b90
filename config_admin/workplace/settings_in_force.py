"""The settings in force: value, source, and rows with qualifiers (settings 1)."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from django.utils.functional import cached_property

import convengine.server.settings_catalogue  # noqa: F401  (completes the catalogue)
from config_admin.releases.content import control_plane
from config_admin.validation.settings import describe_allowed_values, find_setting, format_value
from convengine.engine.turn import live_settings, rows
from convengine.engine.turn.live_settings import CATALOGUE, Setting
from convengine.engine.turn.snapshot import Snapshot
from convengine.server.settings_catalogue import TITLES

#: The maximum length of a value on the page.
SHOWN = 90


class Stored(NamedTuple):
    """A row of a setting, with who changed it last and when."""

    row: rows.Config
    #: The channel, tool code, purpose … of the row; blank for all.
    qualifier: str
    by: str
    at: Any


@dataclass(frozen=True)
class Line:
    """One setting of the page."""

    setting: Setting[Any]
    reading: live_settings.Reading[Any]
    #: Its row without a qualifier, even if disabled.
    stored: Stored | None
    #: Its rows with qualifiers.
    qualified: tuple[Stored, ...]

    @property
    def anchor(self) -> str:
        """Its fragment on the page."""
        return self.setting.name.replace("/", "-")

    @property
    def value(self) -> str:
        """The value in force as text."""
        if self.reading.found is not None and not self.reading.problem:
            return self.reading.found
        return format_value(self.setting.kind, self.reading.value)

    @property
    def is_long(self) -> bool:
        """True for a value that takes more than one line."""
        return len(self.value) > SHOWN or "\n" in self.value

    @property
    def default(self) -> str:
        """The built-in default as text."""
        return format_value(self.setting.kind, self.setting.default)

    @property
    def is_changed(self) -> bool:
        """True when something other than the built-in default is in force, for all or for some."""
        return self.reading.source != "DEFAULT" or bool(self.qualified)

    @property
    def variable(self) -> str:
        """The environment variable of the deployment's default."""
        return f"CE_CFG__{self.setting.type}__{self.setting.key}".upper()

    @property
    def allowed(self) -> str:
        """The allowed values."""
        return describe_allowed_values(self.setting.kind)

    @cached_property
    def words(self) -> str:
        """The text for the search."""
        said = (self.setting.name, TITLES.get(self.setting.type, ""), self.setting.help, self.value)
        return " ".join((*said, *(stored.row.config_key for stored in self.qualified))).lower()


def lines(snapshot: Snapshot) -> list[Line]:
    """Every setting of the catalogue by family. One query: who changed the rows."""
    stored = _group_stored_values(snapshot)
    return [
        _build_line(snapshot, setting, stored.get(setting, ())) for setting in sorted(CATALOGUE.values(), key=_sort_key)
    ]


def line_of(snapshot: Snapshot, setting: Setting[Any]) -> Line:
    return _build_line(snapshot, setting, _group_stored_values(snapshot, [setting]).get(setting, ()))


def strangers(snapshot: Snapshot) -> list[rows.Config]:
    """Rows that nothing reads: of unknown settings, or under an older name."""
    return [row for row in snapshot.rows(rows.Config) if _read_by(row) is None]


def _sort_key(setting: Setting[Any]) -> tuple[int, str]:
    order = list(TITLES)
    return (order.index(setting.type), "") if setting.type in TITLES else (len(order), setting.type)


def _build_line(snapshot: Snapshot, setting: Setting[Any], found: Iterable[Stored]) -> Line:
    by_qualifier = {stored.qualifier: stored for stored in found}
    plain = by_qualifier.pop("", None)
    qualified = tuple(by_qualifier[qualifier] for qualifier in sorted(by_qualifier))
    return Line(setting, live_settings.read(snapshot, setting), plain, qualified)


def _group_stored_values(
    snapshot: Snapshot, wanted: Collection[Setting[Any]] | None = None
) -> dict[Setting[Any], list[Stored]]:
    named = [(row, setting) for row, setting in _list_read_rows(snapshot) if wanted is None or setting in wanted]
    told = control_plane()["ce_config"]._default_manager.values_list("pk", "updated_by", "updated_at")
    who = {pk: (by, at) for pk, by, at in told.filter(pk__in=[row.pk for row, _ in named])}
    found: dict[Setting[Any], list[Stored]] = {}
    for row, setting in named:
        by, at = who.get(row.pk, ("", None))
        found.setdefault(setting, []).append(Stored(row, row.config_key.strip().partition(".")[2], by, at))
    return found


def _list_read_rows(snapshot: Snapshot) -> Iterator[tuple[rows.Config, Setting[Any]]]:
    return ((row, setting) for row in snapshot.rows(rows.Config) if (setting := _read_by(row)))


def _read_by(row: rows.Config) -> Setting[Any] | None:
    setting = find_setting(row)
    return setting if setting and setting.key == row.config_key.strip().partition(".")[0].upper() else None
