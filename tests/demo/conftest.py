"""The demonstration in the test's database: its rows, its own code, its books in a folder of the test."""

import importlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from config_admin.snapshot.transfer import load
from convengine import wiring
from convengine.extensions import registry as registered
from convengine.extensions.registry import Registry
from convengine.wiring import Outside
from tests.api import Caller
from tests.demo.newcomer import Demo, newcomer
from tests.live.processes import free_port

ROOT = Path(__file__).resolve().parent.parent.parent
CONFIGURATION = ROOT / "fixtures/demo/configuration.json"


@pytest.fixture
def own_code(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, settings: Any) -> Iterator[Registry]:
    """What `fixtures.demo.helpdesk` registers, in a registry of this test, and in the engine that its turns use."""
    registry = Registry()
    settings.VAR_DIR = tmp_path
    monkeypatch.setattr(registered, "registry", registry)
    monkeypatch.setattr(wiring, "registry", registry)
    monkeypatch.setattr("config_admin.validation.installation.registry", registry)
    sys.modules.pop("fixtures.demo.helpdesk", None)
    importlib.import_module("fixtures.demo.helpdesk")
    wiring.engine.cache_clear()
    with wiring.using(Outside(registry)):
        yield registry
    wiring.engine.cache_clear()


@pytest.fixture
def helpdesk(own_code: Registry, db: None, monkeypatch: pytest.MonkeyPatch) -> Registry:
    """The demonstration, ready to talk to."""
    # Its rows are judged once, in test_configuration.
    monkeypatch.setattr("config_admin.validation.restoring.check_row", lambda row, snapshot, world: [])
    load(json.loads(CONFIGURATION.read_text()), author="demo", reason="The demonstration")
    return own_code


@pytest.fixture
def customer(db: None) -> Caller:
    """Somebody in a conversation of their own."""
    return Caller()


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Demo]:
    """`make demo` in a clean copy of the tree, running."""
    demo = newcomer(tmp_path_factory.mktemp("newcomer"), tmp_path_factory.mktemp("programs"))
    try:
        demo.make(free_port())
        yield demo
    finally:
        demo.end()
