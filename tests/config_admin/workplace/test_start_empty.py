"""*Start empty* takes the demonstration away, and nothing else."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from config_admin import models as m
from config_admin.commands.management.commands.demo import TESTS
from config_admin.flows.mapping import write_rows
from config_admin.flows.saving import create_flow
from config_admin.releases.change_set import change_set
from config_admin.releases.undo import revert_release
from config_admin.test_cases.models import CeTestCase
from config_admin.test_cases.transfer import import_files
from config_admin.transfer.apply_import import add_rows
from config_admin.workplace.start_empty import AUTHOR, REASON
from tests.api import Caller
from tests.config_admin.admin.pages import newest
from tests.config_admin.flows.test_reading import BASE

pytestmark = pytest.mark.django_db
OWN = {**BASE, "kind": "answer"}


DEMONSTRATION = {**OWN, "code": "GREETING", "title": "Greeting", "phrases": ["hello there"], "answer": "Hi."}


@pytest.fixture(autouse=True)
def in_a_demonstration(settings: Any) -> None:
    settings.CONVENGINE = {**settings.CONVENGINE, "DEMO": True}


def load_demonstration() -> None:
    add_rows(write_rows(DEMONSTRATION), author=AUTHOR, reason=REASON)
    file = sorted(TESTS.glob("*.yaml"))[0]
    assert import_files([(file.name, file.read_bytes())], editor=AUTHOR).added


def press(client: Client) -> Any:
    return client.post(reverse("config_admin_start_empty"), follow=True)


def test_it_takes_the_demonstration_away_keeps_later_flows_and_can_be_undone(somebody: Any) -> None:
    load_demonstration()
    create_flow(OWN, author="ben", reason="mine")
    with change_set(reason="words"):
        m.CeResponse.objects.filter(intent_code="GREETING").update(exact_text="Good day.")
    ada = somebody("ada", "config_admin")

    assert "Start empty" in ada.get(reverse("admin:index")).content.decode()
    shown = press(ada).content.decode()

    assert "is active" in shown
    assert list(m.CeIntent.objects.values_list("pk", flat=True)) == ["BOOKING"]
    assert not CeTestCase.objects.exists()
    assert "Start empty</button>" not in shown
    caller = Caller()
    assert "Done." in str(caller.say("book a table"))
    assert caller.say("hello there")["intent"] != "GREETING"
    revert_release(newest().pk)
    assert "Good day." in str(caller.say("hello there"))


def test_it_is_not_offered_without_the_demonstration_or_the_rights(somebody: Any) -> None:
    ada = somebody("ada", "config_admin")
    assert "Start empty" not in ada.get(reverse("admin:index")).content.decode()
    load_demonstration()
    zoe = somebody("zoe", "qa")

    assert press(zoe).status_code == 403
    assert m.CeIntent.objects.filter(pk="GREETING").exists()
