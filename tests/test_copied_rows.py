"""Copied rows are the rows that were made, and are only copied where they would be made the same."""

from collections.abc import Callable

import pytest
from django.db import transaction

from audit.integrity.verify_all import verify_all
from config_admin.models import CeIntent, CeResponse
from config_admin.releases.change_set import change_set
from tests.api import Caller
from tests.copied_rows import make_rarely, read_tables
from tests.threads import travel_desk
from tests.worlds import create_help_desk

pytestmark = [pytest.mark.django_db, pytest.mark.dialects]


@pytest.mark.parametrize("make", [create_help_desk, travel_desk])
def test_copied_rows_are_those_that_were_made(make: Callable[[], None]) -> None:
    made: list[None] = []
    make_or_copy = make_rarely(lambda: made.append(make.__wrapped__()))  # type: ignore[attr-defined]
    found = []
    for _ in range(4):
        with transaction.atomic():
            make_or_copy()
            found.append(read_tables())
            assert verify_all().findings == []
            assert Caller().say("hours")["payload"]["value"] == "Nine to five."
            transaction.set_rollback(True)

    assert len(made) == 2
    assert found[1] == found[2] == found[3]


def test_rows_are_made_where_the_configuration_is_another_one() -> None:
    made: list[int] = []

    @make_rarely
    def make() -> None:
        with change_set():
            made.append(CeIntent.objects.create(intent_code=f"I{len(made)}", description="one").pk)

    make()
    make()
    with change_set():
        CeResponse.objects.all().delete()
        # In the middle of a change set there is no release to copy.
        make()

    assert CeIntent.objects.filter(pk__in=made).count() == 3
