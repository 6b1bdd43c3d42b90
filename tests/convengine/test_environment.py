from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured

from convengine import environment


def test_a_postgresql_address_is_read_whole() -> None:
    found = environment.database("postgresql://me:p%40ss@db.example:5433/desk?sslmode=require", "x")

    assert (found["NAME"], found["USER"], found["PASSWORD"]) == ("desk", "me", "p@ss")
    assert (found["HOST"], found["PORT"], found["OPTIONS"]["sslmode"]) == ("db.example", "5433", "require")


def test_statements_are_prepared_unless_a_pooler_cannot(monkeypatch: pytest.MonkeyPatch) -> None:
    usual = environment.database("postgresql://db.example/desk", "x")["OPTIONS"]
    monkeypatch.setenv("CE_DATABASE_PREPARE", "false")
    pooled = environment.database("postgresql://db.example/desk", "x")["OPTIONS"]

    assert (usual["server_side_binding"], usual["prepare_threshold"]) == (True, 5)
    assert pooled["prepare_threshold"] is None


def test_a_socket_folder_can_be_the_host() -> None:
    assert environment.database("postgresql://postgres@/desk?host=/tmp/s", "x")["HOST"] == "/tmp/s"


def test_without_an_address_it_is_sqlite_with_immediate_transactions() -> None:
    found = environment.database("", "/data/ce.sqlite3")

    assert (found["NAME"], found["OPTIONS"]["transaction_mode"]) == ("/data/ce.sqlite3", "IMMEDIATE")
    assert "WAL" in found["OPTIONS"]["init_command"]


def test_another_database_is_refused() -> None:
    with pytest.raises(ImproperlyConfigured, match="postgresql:// or sqlite:///"):
        environment.database("mysql://x", "y")


def test_deployment_defaults_of_settings_are_found_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CE_CFG__Session__LEASE_SECONDS", "7")
    monkeypatch.setenv("SESSION_TIMEOUT_MINUTES", "45")

    found = environment.live_setting_defaults()

    assert found["SESSION", "LEASE_SECONDS"] == "7"
    assert found["SESSION", "TIMEOUT_MINUTES"] == "45"


@pytest.mark.parametrize(
    ("call", "value", "says"),
    [
        (lambda: environment.boolean("CE_X"), "maybe", "CE_X must be true or false"),
        (lambda: environment.integer("CE_X", 1, 1), "0", "CE_X must be a whole number of at least 1"),
        (lambda: environment.integer("CE_X", 1), "many", "CE_X must be a whole number"),
        (lambda: environment.one_of("CE_X", "a", "a", "b"), "c", "CE_X must be one of a, b"),
        (lambda: environment.document("CE_X"), "[]", "CE_X must be a JSON object"),
        (lambda: environment.document("CE_X"), "{", "CE_X must be a JSON object"),
    ],
)
def test_a_value_that_is_wrong_names_the_variable(
    monkeypatch: pytest.MonkeyPatch, call: Any, value: str, says: str
) -> None:
    monkeypatch.setenv("CE_X", value)

    with pytest.raises(ImproperlyConfigured, match=says):
        call()
