from typing import Any

import pytest

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
        {"base_url": "https://x", "auth": "MAGIC"},
        {"base_url": "https://x", "auth": "API_KEY"},
        {"base_url": "https://x", "colour": "red"},
    ],
)
def test_a_connection_of_tools_that_cannot_be_read_is_an_error(settings: Any, declared: Any) -> None:
    settings.CONVENGINE = {**settings.CONVENGINE, "HTTP_CONNECTIONS": {"orders": declared}}

    (error,) = checks.check_connections(None)
    assert (error.id, "orders" in error.msg) == ("convengine.E006", True)
