"""The demonstration's configuration travels: what goes out, comes in and goes out again is the same file."""

import json

import pytest

from config_admin.transfer.add_rows import load
from config_admin.transfer.apply_import import bring
from config_admin.transfer.files import JSON, YAML, bundle_of, read_bytes
from tests.config_admin.transfer.conftest import delete_all_rows
from tests.demo.conftest import CONFIGURATION


@pytest.mark.usefixtures("db", "own_code")
def test_the_demonstration_comes_back_to_the_same_bytes() -> None:
    delete_all_rows()
    load(json.loads(CONFIGURATION.read_text()), author="demo", reason="its rows")
    for form, data in [(form, bundle_of(form=form)) for form in (YAML, JSON)]:
        delete_all_rows()
        done = bring(read_bytes("x", data), author="ada", reason="from elsewhere")
        assert done.plan.document.count > 100
        assert bundle_of(form=form) == data
