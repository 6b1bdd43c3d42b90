from types import SimpleNamespace
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import SystemCheckError
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder

from convengine.engine.errors import InvalidContainerTransformer, MissingDagCycle
from convengine.server import wiring
from convengine.server.deployment import conf
from convengine.server.model_clients.connections import read_connections
from convengine.server.startup import checks


def test_an_unknown_key_of_the_settings_is_an_error(settings: Any) -> None:
    settings.CONVENGINE = {**settings.CONVENGINE, "SNAPSHOTT": 1}

    (error,) = checks.check_keys(None)

    assert error.id == "convengine.E001"
    assert "SNAPSHOTT" in error.msg


def test_an_order_that_cannot_be_kept_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def circle() -> None:
        raise MissingDagCycle("A waits for B.")

    monkeypatch.setattr(wiring, "steps", circle)

    (error,) = checks.check_pipeline(None)

    assert (error.id, error.msg) == ("convengine.E002", "MISSING_DAG_CYCLE: A waits for B.")


def test_a_path_that_leads_nowhere_is_an_error(settings: Any) -> None:
    settings.CONVENGINE = {**settings.CONVENGINE, "AUDIT_WRITER": "audit.nowhere"}

    (error,) = checks.check_paths(None)

    assert error.id == "convengine.E003"


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (InvalidContainerTransformer("Faqs has no method transform."), "INVALID_CONTAINER_TRANSFORMER: Faqs has no"),
        (ModuleNotFoundError("No module named 'desk'"), "No module named 'desk'"),
    ],
)
def test_an_extension_that_cannot_be_registered_is_an_error(
    error: Exception, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> None:
        raise error

    monkeypatch.setattr(wiring, "load_extensions", fail)

    (check_error,) = checks.check_extensions(None)

    assert check_error.id == "convengine.E004"
    assert check_error.msg.startswith(message)


def test_the_installation_passes_its_own_checks() -> None:
    errors = [*checks.check_keys(None), *checks.check_pipeline(None), *checks.check_paths(None)]
    assert [*errors, *checks.check_extensions(None)] == []


def test_a_key_that_nothing_declares_cannot_be_read() -> None:
    with pytest.raises(Exception, match="no key NONSENSE"):
        conf.get("NONSENSE")


def test_a_connection_to_a_model_that_cannot_be_used_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wiring, "models", lambda: read_connections({"desk": {"base_url": "desk.example"}}))

    (error,) = checks.check_models(None)

    assert error.id == "convengine.E005"
    assert "'desk' has base_url = 'desk.example'" in error.msg
    assert "docs/deployment.md" in (error.hint or "")


@pytest.mark.parametrize(
    "declared",
    [
        {"base_url": "ftp://x"},
        {"base_url": "https://user@x"},
        {"base_url": "https://x?y"},
        {"base_url": "https://[x"},
        {"base_url": "https://x:port"},
        {"base_url": "https://x:99999"},
        {"base_url": "https://x", "auth": "MAGIC"},
        {"base_url": "https://x", "auth": "API_KEY"},
        {"base_url": "https://x", "colour": "red"},
    ],
)
def test_a_connection_of_tools_that_cannot_be_read_is_an_error(settings: Any, declared: Any) -> None:
    settings.CONVENGINE = {**settings.CONVENGINE, "HTTP_CONNECTIONS": {"orders": declared}}

    (error,) = checks.check_connections(None)
    assert (error.id, "orders" in error.msg) == ("convengine.E006", True)


@pytest.mark.django_db
def test_a_database_of_other_migrations_is_refused_with_the_remedy() -> None:
    assert not checks.check_migrations(None, databases=["default"])
    MigrationRecorder(connection).record_applied("config_admin", "0002_shipped_rows")

    with pytest.raises(SystemCheckError) as refused:
        call_command("migrate", skip_checks=False)

    text = str(refused.value)
    assert "(convengine.E007) Another version of ConvEngine made this database: config_admin.0002_shipped_rows" in text
    assert "convengine export" in text
    assert "convengine import" in text


@pytest.mark.django_db
def test_migrations_of_apps_that_were_removed_do_not_matter() -> None:
    MigrationRecorder(connection).record_applied("a_package_of_before", "0001_initial")

    assert not checks.check_migrations(None, databases=["default"])


def test_settings_that_turns_cannot_live_with_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    database = {"ENGINE": "django.db.backends.sqlite3", "OPTIONS": {}, "ATOMIC_REQUESTS": True}
    monkeypatch.setattr(checks, "settings", SimpleNamespace(USE_TZ=False, DATABASES={"default": database}))

    assert [message.id for message in checks.check_project(None)] == [
        "convengine.E008", "convengine.E009", "convengine.W002",
    ]  # fmt: skip


def test_a_misspelt_variable_is_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CE_LLM_MODLE", "x")

    (warning,) = checks.check_variables(None)

    assert (warning.id, "Did you mean" in warning.msg) == ("convengine.W001", True)


@pytest.mark.django_db
def test_squashed_migrations_of_other_apps_do_not_matter() -> None:
    MigrationRecorder(connection).record_applied("auth", "0000_before_it_was_squashed")

    assert not checks.check_migrations(None, databases=["default"])
