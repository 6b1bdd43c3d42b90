"""Documents are stored once, under the hash of their one text."""

import pytest

from config_admin.models import CeReleaseBlob
from config_admin.releases.blobs import BATCH, Blobs, batches, canonical

pytestmark = pytest.mark.dialects


def test_the_order_of_keys_does_not_matter():
    assert canonical({"b": 1, "a": [{"d": 2, "c": 3}]}) == b'{"a":[{"c":3,"d":2}],"b":1}'


def test_any_text_can_be_stored():
    assert canonical("é \ud800 \u2028") == b'"\\u00e9 \\ud800 \\u2028"'


@pytest.mark.django_db
def test_what_was_written_is_read_again():
    blobs = Blobs()
    name = blobs.add({"n": 2**80, "t": "\ud800"})
    blobs.write()
    assert Blobs().get(name) == {"n": 2**80, "t": "\ud800"}


@pytest.mark.django_db
def test_the_same_document_is_stored_once():
    for _ in range(2):
        blobs = Blobs()
        blobs.add(["only once"])
        blobs.write()
        blobs.write()
    assert CeReleaseBlob.objects.filter(pk=blobs.add(["only once"])).count() == 1


@pytest.mark.django_db
def test_many_documents_are_read_in_few_queries(django_assert_num_queries):
    blobs = Blobs()
    names = [blobs.add([number]) for number in range(BATCH + 1)]
    blobs.write()
    fresh = Blobs()
    with django_assert_num_queries(2):
        fresh.fetch(names)
        assert [fresh.get(name) for name in names] == [[number] for number in range(BATCH + 1)]


@pytest.mark.django_db
def test_a_document_that_is_not_there_is_told():
    with pytest.raises(KeyError):
        Blobs().get("0" * 64)


def test_long_lists_of_keys_are_cut_into_statements():
    assert [len(batch) for batch in batches(range(2 * BATCH + 1))] == [BATCH, BATCH, 1]
