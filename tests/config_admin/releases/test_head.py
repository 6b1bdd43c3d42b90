"""The head is one text that any statement may carry."""

import pytest
from django.db import connection

from config_admin import models as m
from config_admin.releases import head
from config_admin.releases.head import HEAD_SQL, Head
from tests.config_admin.builders import make

pytestmark = pytest.mark.dialects


def test_the_text_is_read_in_parts():
    assert Head.parse("812:9001:9000:abc:7f") == Head(812, 9001, 9000, "abc", "7f")
    assert not Head.parse("812:9001:9000:abc:").settled
    assert Head.parse("812:9001:9001:abc:").settled


def test_another_text_is_refused():
    with pytest.raises(ValueError, match="values"):
        Head.parse("812")


@pytest.mark.django_db
def test_a_statement_of_any_kind_may_carry_it():
    make(m.CeRule)
    with connection.cursor() as cursor:
        cursor.execute("CREATE TEMPORARY TABLE errand (n int)")
        answers = []
        for statement in (
            f"INSERT INTO errand (n) VALUES (1) RETURNING {HEAD_SQL}",
            f"UPDATE errand SET n = 2 WHERE n = 1 RETURNING n, {HEAD_SQL}",
            f"SELECT {HEAD_SQL}",
            f"DELETE FROM errand RETURNING {HEAD_SQL}",
        ):
            cursor.execute(statement)
            answers.append(cursor.fetchone()[-1])
    stored = m.CeConfigHead.objects.get(pk=1)
    assert set(answers) == {
        f"{stored.config_version}:{stored.write_counter}:{stored.released_counter}:{stored.content_hash}:{stored.audience}"
    }


@pytest.mark.django_db
def test_a_missing_head_reads_as_null():
    m.CeConfigHead.objects.all().delete()
    assert head.read() is None
