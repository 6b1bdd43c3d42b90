"""The demonstration in the test's database: its rows, its own code, its books in a folder of the test."""

import importlib
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.db import connection, transaction

from config_admin.transfer.apply_import import add_rows
from convengine.server import wiring
from convengine.server.extensions import registry as registered
from convengine.server.extensions.registry import Registry
from convengine.server.wiring import OutsideWorld
from tests.api import Caller, make_key
from tests.copied_rows import make_rarely
from tests.demo.newcomer import Demo, newcomer
from tests.live.processes import free_port

ROOT = Path(__file__).resolve().parent.parent.parent
CONFIGURATION = ROOT / "fixtures/demo/configuration.json"


@contextmanager
def install_helpdesk(folder: Path, settings: Any) -> Iterator[Registry]:
    """What `fixtures.demo.helpdesk` registers, in a registry of its own, and in the engine that turns use."""
    registry = Registry()
    with pytest.MonkeyPatch.context() as patched, wiring.replace_outside_world(OutsideWorld(registry)):
        patched.setattr(settings, "VAR_DIR", folder)
        patched.setattr(registered, "registry", registry)
        patched.setattr(wiring, "registry", registry)
        patched.setattr("convengine.play.stubs.registry", registry)
        patched.setattr("config_admin.validation.installation.registry", registry)
        sys.modules.pop("fixtures.demo.helpdesk", None)
        importlib.import_module("fixtures.demo.helpdesk")
        wiring.engine.cache_clear()
        yield registry
        wiring.engine.cache_clear()


@make_rarely
def load_rows() -> None:
    """Its rows. They are judged once, in test_configuration."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("config_admin.releases.restore_rows.check_row", lambda row, snapshot, world: [])
        add_rows(json.loads(CONFIGURATION.read_text()), author="demo", reason="The demonstration")


@pytest.fixture
def own_code(tmp_path: Path, settings: Any) -> Iterator[Registry]:
    """The demonstration's own code, without its rows."""
    with install_helpdesk(tmp_path, settings) as registry:
        yield registry


@pytest.fixture
def helpdesk(own_code: Registry, db: None) -> Registry:
    """The demonstration, ready to talk to."""
    load_rows()
    return own_code


@pytest.fixture(scope="module")
def rows_for_all(
    django_db_setup: None, django_db_blocker: Any, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[None]:
    """The rows, for all tests of a module: each takes back only what it did itself."""
    with django_db_blocker.unblock(), pytest.MonkeyPatch.context() as patched:
        # What Django does after each test would end the transaction that the rows are in.
        patched.setattr(connection, "close", lambda: None)
        with transaction.atomic():
            with install_helpdesk(tmp_path_factory.mktemp("rows"), settings):
                load_rows()
            with django_db_blocker.block():
                yield
            transaction.set_rollback(True)


@pytest.fixture
def shared_helpdesk(rows_for_all: None, own_code: Registry, db: None) -> Registry:
    """As `helpdesk`, for modules that talk to it many times and need no transactions of their own."""
    return own_code


@pytest.fixture
def customer(db: None) -> Caller:
    """Somebody in a conversation of their own."""
    return Caller(make_key(scopes=["turns", "audit", "approve"]))


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Demo]:
    """`make demo` in a clean copy of the tree, running."""
    demo = newcomer(tmp_path_factory.mktemp("newcomer"), tmp_path_factory.mktemp("programs"))
    try:
        demo.make(free_port())
        yield demo
    finally:
        demo.end()
