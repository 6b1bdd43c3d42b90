"""Whole configurations as rows, and files loaded into an empty database: for tests of a bot."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from django.apps import apps

from config_admin.releases.change_set import get_released_head
from config_admin.transfer.apply_import import import_document
from config_admin.transfer.files import read_file
from config_admin.transfer.import_plan import load_contents


def list_configuration_tables() -> frozenset[str]:
    """The tables of the configuration, its releases and its history."""
    return frozenset(
        model._meta.db_table for model in apps.get_app_config("config_admin").get_models(include_auto_created=True)
    )


def read_release_rows(config_version: int | None = None) -> Mapping[str, Sequence[Mapping[str, Any]]]:
    """The rows of a release by table; None is the configuration in force. Raises NoSuchRelease."""
    version = get_released_head().config_version if config_version is None else config_version
    return {table: list(rows.values()) for table, rows in load_contents(version).items() if rows}


def load_file(path: Path) -> None:
    """Import a file as one release. Raises FileRefused, ImportRefused and ImportFailed, which are ValueErrors."""
    import_document(read_file(path), author="tests", reason=f"Import of {path.name}")
