from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from convengine.server.database.sqlite3.base import DatabaseWrapper


def make_wrapper(file: str) -> DatabaseWrapper:
    settings = {"NAME": file, "OPTIONS": {}, "TIME_ZONE": None, "CONN_HEALTH_CHECKS": False, "AUTOCOMMIT": True}
    return DatabaseWrapper(settings, "other")


def test_the_folder_of_a_database_is_made_at_its_first_use(tmp_path: Path) -> None:
    wrapper = make_wrapper(str(tmp_path / "var" / "ce.sqlite3"))
    assert not (tmp_path / "var").exists()

    wrapper.get_new_connection(wrapper.get_connection_params()).close()

    assert (tmp_path / "var" / "ce.sqlite3").is_file()


def test_a_folder_that_cannot_be_made_is_named() -> None:
    wrapper = make_wrapper("/dev/null/var/ce.sqlite3")

    with pytest.raises(ImproperlyConfigured, match="the folder /dev/null/var cannot be made: Not a directory"):
        wrapper.get_new_connection(wrapper.get_connection_params())
