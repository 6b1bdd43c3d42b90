"""Where Django looks for a backend's `DatabaseWrapper`."""

from pathlib import Path
from typing import Any

from django.core.exceptions import ImproperlyConfigured
from django.db.backends.sqlite3 import base


class DatabaseWrapper(base.DatabaseWrapper):
    """Commands that never open the database leave no folder behind."""

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        """Raises ImproperlyConfigured for a folder that cannot be made."""
        name = str(conn_params["database"])
        if ":memory:" not in name and "mode=memory" not in name:
            make_folder(Path(name.removeprefix("file:").partition("?")[0]).parent)
        return super().get_new_connection(conn_params)


def make_folder(folder: Path) -> None:
    """Raises ImproperlyConfigured."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ImproperlyConfigured(f"CE_VAR_DIR: the folder {folder} cannot be made: {error.strerror}.") from error
