"""The database refuses no statement because of a text: one place replaces what cannot be stored."""

import pytest
from django.db import connection

from convengine.server.api.models import CeThrottle
from convengine.server.channels.models import CeChannel, CeOptOut
from convengine.server.database.sql import database_time, dialect

pytestmark = [pytest.mark.django_db, pytest.mark.dialects]
UNSTORABLE = ("a\0b", "a\ud800b", "\0", "\udfff\ud800")
STORED = ("a\ufffdb", "a\ufffdb", "\ufffd", "\ufffd\ufffd")


@pytest.mark.parametrize(("text", "stored"), list(zip(UNSTORABLE, STORED, strict=True)))
def test_every_text_and_document_is_stored_and_found_again(text: str, stored: str) -> None:
    channel = CeChannel.objects.create(name="shop", provider=text, settings={text: [text, {"n": 10**30}]})
    CeOptOut.objects.bulk_create([CeOptOut(channel=channel, recipient=text, created_at=database_time())])
    assert CeOptOut.objects.get_or_create(channel=channel, recipient=text)[1] is False
    CeChannel.objects.filter(provider=text).update(refusal=text, secrets={"token": [text]})

    channel.refresh_from_db()
    assert (channel.provider, channel.refusal) == (stored, stored)
    assert channel.opt_outs.get().recipient == stored
    if dialect().vendor == "postgresql":
        # SQLite keeps documents as texts in which everything is escaped.
        assert (channel.settings, channel.secrets) == ({stored: [stored, {"n": 10**30}]}, {"token": [stored]})


def test_statements_by_hand_have_storable_texts_too() -> None:
    insert = "INSERT INTO ce_throttle (key, count, next_at, expires_at) VALUES (%s, 1, 0, 0)"
    with connection.cursor() as cursor:
        cursor.execute(insert, ("one\0",))
        cursor.executemany(insert, [["two\0"], ["three\ud800"]])
        cursor.execute("UPDATE ce_throttle SET count = 2 WHERE key = %(name)s", {"name": "one\0"})
        cursor.execute("SELECT count(*) FROM ce_throttle", None)
        assert cursor.fetchone() == (3,)
    names = CeThrottle.objects.order_by("count", "key").values_list("key", "count")
    assert list(names) == [("three\ufffd", 1), ("two\ufffd", 1), ("one\ufffd", 2)]
