"""Where the configuration of a tested bot comes from: a file, or the rows of a release."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from convengine.json_value import Json
from convengine.play import tables
from convengine.play.schema import ScenarioFileError
from convengine.server.interfaces.configuration import configuration_files

Rows = Mapping[str, Sequence[Mapping[str, Json]]]
#: The name of the configuration in force in the installation's database.
LIVE = "live"


class ConfigurationSource(Protocol):
    """A whole configuration."""

    @property
    def key(self) -> Hashable:
        """What is equal for the same configuration."""

    @property
    def is_whole(self) -> bool:
        """True for a configuration that replaces the rows of a new installation; False for a file, which is imported
        into them.
        """

    def load(self) -> None:
        """Store it in the current database. Raises ScenarioFileError."""


@dataclass(frozen=True)
class ConfigurationFile:
    """A file that `config_import` reads: it is imported with all checks."""

    path: Path
    is_whole = False

    @property
    def key(self) -> Hashable:
        try:
            stat = self.path.stat()
        except OSError:
            return self.path
        return self.path.resolve(), stat.st_mtime_ns, stat.st_size

    def load(self) -> None:
        try:
            configuration_files().import_file(self.path)
        except ValueError as error:
            raise ScenarioFileError(str(self.path), str(error)) from error


@dataclass(frozen=True, eq=False)
class StoredRows:
    """The rows of a release or of a draft, as they are; they replace those of a new installation."""

    name: str
    rows: Rows
    is_whole = True

    @property
    def key(self) -> Hashable:
        return self.name, id(self)

    def load(self) -> None:
        for table, rows in self.rows.items():
            tables.insert(table, rows)


def read_live_configuration() -> StoredRows:
    """The configuration in force in the current database, to be loaded into another one."""
    return StoredRows(LIVE, configuration_files().read_rows())
