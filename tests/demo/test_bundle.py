"""The demonstration's configuration travels: what goes out, comes in and goes out again is the same file."""

import json

import pytest

from config_admin.transfer.apply_import import add_rows, import_document
from config_admin.transfer.files import JSON, YAML, export_configuration, read_bytes
from tests.config_admin.transfer.conftest import delete_all_rows
from tests.demo.conftest import CONFIGURATION


@pytest.mark.usefixtures("db", "own_code")
def test_the_demonstration_comes_back_to_the_same_bytes() -> None:
    delete_all_rows()
    add_rows(json.loads(CONFIGURATION.read_text()), author="demo", reason="its rows")
    for form, data in [(form, export_configuration(form=form, with_base=False)) for form in (YAML, JSON)]:
        delete_all_rows()
        done = import_document(read_bytes("x", data), author="ada", reason="from elsewhere")
        assert done.plan.document.count > 100
        assert export_configuration(form=form, with_base=False) == data
