"""Pages of trust: intact or where not, files to take along, paper, and erasing with a reason."""

import csv
import json
from io import StringIO

import pytest
from django.db import connection
from django.test import Client
from django.urls import reverse

from audit.integrity import ledger, nightly_job
from audit.models import CeAccessLog, CeErasure
from convengine.server.sessions.models import CeConversation, CeConversationHistory
from tests.api import Caller
from tests.database import allow_forging
from tests.record import change_entries, events
from tests.sign_in import sign_in
from tests.worlds import create_help_desk

pytestmark = pytest.mark.django_db


@pytest.fixture
def caller() -> Caller:
    create_help_desk()
    found = Caller()
    for text in ("hours", "=fees", "hours"):
        found.say(text)
    return found


def signed_in(group: str) -> Client:
    return sign_in(group, group)


def address(caller: Caller, page: str) -> str:
    return reverse(f"admin:audit_ceaudit_{page}", args=[caller.conversation_id])


def test_a_conversation_is_told_intact_or_where_it_is_not(caller: Caller) -> None:
    qa = signed_in("qa")
    assert "The record is unchanged" in qa.get(address(caller, "trust")).content.decode()

    change_entries(caller.conversation_id, 2, lambda entries: [one for one in entries if one["seq"] != 4])

    page = qa.get(address(caller, "trust")).content.decode()
    assert "The record was changed" in page
    assert "Turn 2</a>, event" in page
    assert "EVENT_MISSING" in page
    assert CeAccessLog.objects.filter(reader="qa").count() == 2
    with pytest.raises(nightly_job.NotIntact, match="turn 2, event"):
        list(nightly_job.verify_record())


def test_it_goes_out_as_json_lines_and_a_table(caller: Caller) -> None:
    qa = signed_in("qa")

    def text(form: str) -> str:
        answer = qa.get(address(caller, "export"), {"format": form})
        return b"".join(answer.streaming_content).decode()  # type: ignore[attr-defined]

    whole = json.loads(text("json"))
    assert [turn["turn_no"] for turn in whole["turns"]] == [1, 2, 3]
    assert sum(len(turn["events"]) for turn in whole["turns"]) == len(events())
    assert whole["turns"][0]["decidedBy"]
    assert "lease_token" not in whole["conversation"]
    lines = [json.loads(line) for line in text("ndjson").splitlines()]
    assert [next(iter(line)) for line in lines] == ["conversation", "turn", "turn", "turn"]
    table = list(csv.reader(StringIO(text("csv"))))
    assert [row[3] for row in table] == ["userText", "hours", "'=fees", "hours"]
    assert qa.get(address(caller, "export"), {"format": "pdf"}).status_code == 404
    assert CeAccessLog.objects.filter(kind="EXPORT").count() == 3


def test_it_is_printed(caller: Caller) -> None:
    page = signed_in("qa").get(address(caller, "print")).content.decode()

    assert page.count("<section>") == 3
    assert "=fees" in page


def test_only_who_may_erases_and_never_without_a_reason(caller: Caller) -> None:
    assert signed_in("qa").get(address(caller, "erase")).status_code == 403
    boss = signed_in("config_admin")
    refused = boss.post(address(caller, "erase"), {"scope": "conversation", "sure": "on"})
    assert refused.status_code == 400
    assert "Enter a reason" in refused.content.decode()
    assert not CeErasure.objects.exists()

    done = boss.post(address(caller, "erase"), {"scope": "conversation", "reason": "asked", "sure": "on"}, follow=True)
    assert "Erased." in done.content.decode()
    assert "by config_admin: asked" in done.content.decode()
    assert "The record is unchanged" in done.content.decode()
    assert not CeConversationHistory.objects.exclude(user_input=None).exists()
    assert "proven" in boss.get(reverse("admin:audit_ceerasure_changelist")).content.decode()


def test_a_participant_is_erased_with_all_their_conversations(caller: Caller) -> None:
    other = Caller()
    other.say("hours")
    CeConversation.objects.filter(pk=other.conversation_id).update(lifecycle="COMPLETE")
    CeConversation.objects.update(remote_jid="rumpel")
    boss = signed_in("config_admin")
    assert "2 conversations" in boss.get(address(caller, "erase")).content.decode()

    boss.post(address(caller, "erase"), {"scope": "participant", "reason": "asked", "sure": "on"})

    assert CeErasure.objects.count() == 2
    assert not CeConversation.objects.filter(remote_jid="rumpel").exists()


def test_the_page_says_what_is_covered_and_names_changed_releases(caller: Caller) -> None:
    qa = signed_in("qa")
    page = qa.get(address(caller, "trust")).content.decode()
    assert "What is not covered" in page
    assert "No daily root has been written yet" in page

    list(ledger.write_root())
    with allow_forging("ce_release"), connection.cursor() as cursor:
        cursor.execute("UPDATE ce_release SET author = 'eve'")
    page = qa.get(address(caller, "trust")).content.decode()
    assert "The last daily root was written" in page
    assert "<code>ce_release</code>, row" in page
