"""An installation beside a real provider."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.convengine.server.sign_in.site import Site, find_free_port, serve, serve_real_provider

SetUser = Callable[..., None]


@pytest.fixture(scope="session")
def provider_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("provider")


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory, provider_folder: Path) -> Iterator[Site]:
    port = find_free_port()
    callback = f"http://127.0.0.1:{port}/admin/account/provider/answer/"
    with (
        serve_real_provider("real_provider", provider_folder, callback) as issuer,
        serve(tmp_path_factory.mktemp("site"), issuer, port) as site,
    ):
        yield site


@pytest.fixture(scope="session")
def saml_site(tmp_path_factory: pytest.TempPathFactory, provider_folder: Path) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("saml_site")
    with serve_real_provider("real_saml_provider", provider_folder) as provider:
        # For a browser, this name is another site, whose forms get none of our cookies.
        address = f"{provider}/metadata".replace("127.0.0.1", "localhost")
        variables = {"CE_SAML_ENTITY_ID": address, "CE_SAML_METADATA": address}
        with serve(folder, "", find_free_port(), **variables) as site:
            yield site


@pytest.fixture
def set_user(provider_folder: Path) -> SetUser:
    """Say who is at the browser, and what the provider knows about them now."""

    def write(name: str, *groups: str, **claims: Any) -> None:
        text = json.dumps({"name": name, "groups": list(groups), "email": f"{name}@example.com", **claims})
        (provider_folder / "user.json").write_text(text)

    return write
