"""The demonstration goes out as a bundle and comes in again."""

import pytest

from config_admin.releases.models import Origin
from config_admin.transfer.apply_import import import_document
from config_admin.transfer.files import export_configuration, read_bytes
from convengine.server.extensions.registry import Registry
from tests.config_admin.transfer.conftest import delete_all_rows
from tests.demo.conftest import CONFIGURATION


@pytest.mark.django_db
def test_it_comes_back_to_the_same_bytes_and_once_more_changes_nothing(own_code: Registry) -> None:
    import_document(read_bytes("x", CONFIGURATION.read_bytes(), mode="add"), author="demo", reason="The demonstration")
    data = export_configuration(with_base=False)
    delete_all_rows()
    done = import_document(read_bytes("x", data), author="ada", reason="from elsewhere")
    assert export_configuration(with_base=False) == data
    assert done.release
    assert done.release.origin == Origin.IMPORT
    assert (done.release.author, done.release.reason) == ("ada", "from elsewhere")
    assert import_document(read_bytes("x", data), author="ada", reason="again").release is None
