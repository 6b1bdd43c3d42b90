"""The settings as they are in force: value, source, and the rows that say otherwise for some of them (settings 1)."""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from django.utils.functional import cached_property

import convengine.domain.catalogue  # noqa: F401  (completes the catalogue)
from config_admin.admin.editing.pickers import allowed
from config_admin.models import CeConfig
from config_admin.validation.checks.config import setting_of
from convengine.domain import rows, settings
from convengine.domain.catalogue.families import TITLES
from convengine.domain.settings import CATALOGUE, Kind, Setting
from convengine.domain.snapshot import Snapshot

#: How long a value may be to stand on the page as it is.
SHOWN = 90


class Stored(NamedTuple):
    """A row of a setting, with who changed it last and when."""

    row: rows.Config
    #: For which channel, tool code, purpose … the row is; blank for all.
    qualifier: str
    by: str
    at: Any


@dataclass(frozen=True)
class Line:
    """One setting as the page shows it."""

    setting: Setting[Any]
    reading: settings.Reading[Any]
    #: Its row for everything, also one that is switched off.
    stored: Stored | None
    #: Its rows for single channels, tools and the like.
    qualified: tuple[Stored, ...]

    @property
    def anchor(self) -> str:
        """Where on the page it stands."""
        return self.setting.name.replace("/", "-")

    @property
    def value(self) -> str:
        """What is in force, as a row would say it."""
        if self.reading.found is not None and not self.reading.problem:
            return self.reading.found
        return as_written(self.setting.kind, self.reading.value)

    @property
    def is_long(self) -> bool:
        """True for a value that takes more than one line."""
        return len(self.value) > SHOWN or "\n" in self.value

    @property
    def default(self) -> str:
        """The built-in default, as a row would say it."""
        return as_written(self.setting.kind, self.setting.default)

    @property
    def is_changed(self) -> bool:
        """True when something other than the built-in default is in force, for all or for some."""
        return self.reading.source != "DEFAULT" or bool(self.qualified)

    @property
    def variable(self) -> str:
        """The variable that gives the deployment's own default."""
        return f"CE_CFG__{self.setting.type}__{self.setting.key}".upper()

    @property
    def allowed(self) -> str:
        """What a value may be."""
        return allowed(self.setting.kind)

    @cached_property
    def words(self) -> str:
        """What a search looks into."""
        said = (self.setting.name, TITLES.get(self.setting.type, ""), self.setting.help, self.value)
        return " ".join((*said, *(stored.row.config_key for stored in self.qualified))).lower()


def as_written(kind: Kind[Any], value: Any) -> str:
    """A value as the text of a row; blank for one that is not set."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (tuple, list)):
        return ("\n" if kind.name in ("lines", "patterns") else ", ").join(map(str, value))
    if isinstance(value, Mapping):
        return json.dumps(dict(value), indent=2, ensure_ascii=False)
    return f"{value:g}" if isinstance(value, float) else str(value)


def lines(snapshot: Snapshot) -> list[Line]:
    """Every setting of the catalogue, family by family. One query: who changed the rows."""
    stored = _stored(snapshot)
    return [_line(snapshot, setting, stored.get(setting, ())) for setting in sorted(CATALOGUE.values(), key=_place)]


def line_of(snapshot: Snapshot, setting: Setting[Any]) -> Line:
    """One setting."""
    return _line(snapshot, setting, _stored(snapshot, [setting]).get(setting, ()))


def strangers(snapshot: Snapshot) -> list[rows.Config]:
    """Rows that nothing reads: of no setting, or under an older name."""
    return [row for row in snapshot.rows(rows.Config) if _read_by(row) is None]


def _place(setting: Setting[Any]) -> tuple[int, str]:
    order = list(TITLES)
    return (order.index(setting.type), "") if setting.type in TITLES else (len(order), setting.type)


def _line(snapshot: Snapshot, setting: Setting[Any], found: Iterable[Stored]) -> Line:
    by_qualifier = {stored.qualifier: stored for stored in found}
    plain = by_qualifier.pop("", None)
    qualified = tuple(by_qualifier[qualifier] for qualifier in sorted(by_qualifier))
    return Line(setting, settings.read(snapshot, setting), plain, qualified)


def _stored(snapshot: Snapshot, wanted: Collection[Setting[Any]] | None = None) -> dict[Setting[Any], list[Stored]]:
    named = [(row, setting) for row, setting in _named(snapshot) if wanted is None or setting in wanted]
    told = CeConfig.objects.values_list("pk", "updated_by", "updated_at")
    who = {pk: (by, at) for pk, by, at in told.filter(pk__in=[row.pk for row, _ in named])}
    found: dict[Setting[Any], list[Stored]] = {}
    for row, setting in named:
        by, at = who.get(row.pk, ("", None))
        found.setdefault(setting, []).append(Stored(row, row.config_key.strip().partition(".")[2], by, at))
    return found


def _named(snapshot: Snapshot) -> Iterator[tuple[rows.Config, Setting[Any]]]:
    return ((row, setting) for row in snapshot.rows(rows.Config) if (setting := _read_by(row)))


def _read_by(row: rows.Config) -> Setting[Any] | None:
    setting = setting_of(row)
    return setting if setting and setting.key == row.config_key.strip().partition(".")[0].upper() else None
