"""Evidence goes to those who may read the record, and who got it is noted."""

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse

from audit.export.evidence.file import check_file
from audit.models import CeAccessLog
from audit.search import export
from tests.api import Caller, make_key
from tests.sign_in import sign_in

pytestmark = pytest.mark.django_db


def signed_in(group: str) -> Client:
    return sign_in(group, group)


def test_a_conversation_goes_out_as_evidence(caller: Caller) -> None:
    caller.say("hours")
    caller.say("fees")

    answer = signed_in("qa").get(reverse("admin:audit_ceaudit_evidence", args=[caller.conversation_id]))

    assert answer["Content-Disposition"] == f'attachment; filename="evidence-{caller.conversation_id}.html"'
    evidence = check_file(answer.content.decode())
    assert (evidence.findings, evidence.turn_count, evidence.data["madeBy"]) == ([], 2, "qa")
    assert "Nine to five." in answer.content.decode()
    assert list(CeAccessLog.objects.values_list("reader", "kind")) == [("qa", "EVIDENCE")]


def test_a_search_goes_out_as_evidence_and_says_what_is_left_out(
    caller: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = Caller(secret=caller.secret)
    for talker, text in ((caller, "hours"), (caller, "fees"), (caller, "hours"), (other, "hours")):
        talker.say(text)
    qa, address = signed_in("qa"), reverse("admin:audit_ceaudit_find")
    assert "Evidence file" in qa.get(address, {"intent": "HOURS"}).content.decode()
    CeAccessLog.objects.all()._raw_delete("default")

    evidence = check_file(qa.get(address, {"intent": "HOURS", "export": "evidence"}).content.decode())

    assert evidence.findings == []
    assert {talk.key: [turn.turn_no for turn in talk.turns] for talk in evidence.talks} == {
        other.conversation_id: [1],
        caller.conversation_id: [1, 3],
    }
    assert evidence.gaps == [f"conversation {caller.conversation_id}: turn 2 is not in the file"]
    assert CeAccessLog.objects.filter(kind="EVIDENCE").count() == 3

    monkeypatch.setattr(export, "MAX_EVIDENCE", 1)
    page = qa.get(address, {"intent": "HOURS", "export": "evidence"}).content.decode()
    assert "Left out: 2 turns that the search found, too; the file has the newest 1." in page


def test_a_search_gives_no_evidence_to_those_who_may_not_read_events(caller: Caller) -> None:
    caller.say("hours")
    user = User.objects.create_user("someone", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename="view_ceconversationhistory"))
    client = Client()
    client.force_login(user)

    assert "Evidence file" not in client.get(reverse("admin:audit_ceaudit_find"), {"q": "hours"}).content.decode()
    assert client.get(reverse("admin:audit_ceaudit_find"), {"q": "hours", "export": "evidence"}).status_code == 403
    assert client.get(reverse("admin:audit_ceaudit_evidence", args=[caller.conversation_id])).status_code == 403


def test_programs_get_evidence_with_the_scope_of_the_workspace(caller: Caller) -> None:
    caller.say("hours")

    answer = caller.get("/evidence")
    headers = {"Authorization": f"Api-Key {caller.secret}"}
    found = caller.client.get("/api/v1/audit/turns", {"intent": "HOURS", "format": "evidence"}, headers=headers)
    browser = caller.client.get("/api/v1/audit/turns", headers={**headers, "Accept": "text/html,*/*"})

    assert answer["Content-Type"] == found["Content-Type"] == "text/html; charset=utf-8"
    assert [check_file(each.content.decode()).findings for each in (answer, found)] == [[], []]
    assert browser["Content-Type"].startswith("application/json")
    assert caller.get("/evidence", first="x").status_code == 400
    own = Caller(make_key(scopes=["own_audit"]), caller.conversation_id)
    assert own.get("/evidence").status_code == 403
