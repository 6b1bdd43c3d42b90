"""Who is erased leaves no word in a test, nor anywhere else in the database."""

import uuid
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection
from django.test import Client

from audit.erasure.erase import EraseOrder, NothingToErase, erase_conversation, erase_participant
from audit.integrity.verify import verify_other_tables
from audit.models import CeErasure, CeLedger
from config_admin import models as m
from config_admin.drafts.open_draft import open_draft
from config_admin.drafts.publish_draft import publish_draft
from config_admin.releases.change_set import change_set
from config_admin.test_cases.documents import TestRefused, store_test
from config_admin.test_cases.gate import judge_gate
from config_admin.test_cases.models import CeTestCase, CeTestResult
from config_admin.test_cases.runs import SelectedTests, create_run, iterate_run
from config_admin.test_cases.transfer import build_files, import_files
from convengine.engine.turn.codec import loads
from convengine.server.interfaces.configuration import ConfigurationName
from convengine.server.sessions.models import CeConversation
from tests.api import Caller, make_key
from tests.config_admin.test_cases.builders import make_test, run_tests
from tests.config_admin.test_cases.test_admin import ADD, LIST, fields_of
from tests.threads import rename_participant
from tests.worlds import create_delivery_form, create_help_desk

pytestmark = [pytest.mark.django_db, pytest.mark.dialects]
MAIL, STREET, BEGIN, LAST = "ada@lovelace.example", "Rumpelstilt Street", "please deliver this", "fees or what"
NEEDLES = (MAIL, STREET, BEGIN, LAST, "fees-or-what", "Ada Byron", "+49151")
ORDER = EraseOrder("admin", "asked")


@pytest.fixture
def caller() -> Caller:
    """A conversation with a form; its participant has a number of their own."""
    create_help_desk()
    create_delivery_form()
    caller = Caller()
    for text in ("hours", BEGIN, MAIL, f"12 {STREET}", LAST):
        caller.say(text, inputParams={"customer": "Ada Byron"})
    CeConversation.objects.filter(pk=caller.conversation_id).update(remote_jid="+49151")
    return caller


def make_test_of(caller: Caller, client: Client, turn: int, **ticked: str) -> CeTestCase:
    """A test that is made on the pages, with what they offer."""
    page = client.get(f"/admin/audit/ceaudit/{caller.conversation_id}/scenario/?as=test&first={turn}&last={turn}")
    editor = client.post(page.context["test_url"], {"document": page.context["scenario"], **ticked})
    played = client.post(ADD, {**fields_of(editor), "do": "play"})
    client.post(ADD, {**fields_of(played), "tags": "smoke", "folder": "deliveries", "do": "save"})
    return CeTestCase.objects.latest("pk")


def find_needles() -> set[str]:
    """What of the person stands in any column of any table, as (table, needle) in words."""
    found = set()
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            cursor.execute(f"SELECT * FROM {connection.ops.quote_name(table)}")
            text = str([[bytes(value) if isinstance(value, memoryview) else value for value in row] for row in cursor])
            found |= {f"{table}: {needle}" for needle in NEEDLES if needle in text}
    return found


def erase(key: str) -> None:
    list(erase_conversation(uuid.UUID(key), ORDER))


def test_a_test_remembers_its_conversation_and_is_erased_with_it_in_every_table(
    caller: Caller, admin_client: Client
) -> None:
    case = make_test_of(caller, admin_client, 5)
    other = make_test("Hours", tags=("smoke",))
    assert str(case.conversation_id) == caller.conversation_id
    assert MAIL in str(case.document)
    with change_set():
        m.CeConfig.objects.create(config_type="Releases", config_key="GATE", config_value="smoke")
    deleted = make_test_of(caller, admin_client, 2)
    draft = m.CeDraft.objects.create(title="Fees")
    m.CeDraftSchedule.objects.create(
        draft=draft,
        publish_at=case.created_at,
        problem=f"2 tests fail on this draft: “{case.title}”; “{deleted.title}”.",
    )
    admin_client.post(f"{LIST}{deleted.pk}/delete/", {"post": "yes"})
    with change_set():
        m.CeOutputSchema.objects.filter(intent_code="DELIVER").delete()
    assert run_tests().failed == 1
    assert LAST in str(CeTestResult.objects.get(test_case=case).turns)
    assert {"ce_test_case", "ce_test_result", "ce_draft_schedule"} <= {name.split(":")[0] for name in find_needles()}

    page = admin_client.get(f"/admin/audit/ceaudit/{caller.conversation_id}/erase/")
    assert case.title in page.content.decode()
    done = admin_client.post(
        f"/admin/audit/ceaudit/{caller.conversation_id}/erase/",
        {"scope": "participant", "reason": "asked", "sure": "on"},
        follow=True,
    )

    assert find_needles() == set()
    assert f"Tests that are empty now: Erased test {case.pk}." in done.content.decode()
    assert f"Tests made from it: Erased test {case.pk}." in done.content.decode()
    case.refresh_from_db()
    assert (case.name, case.document, case.folder) == (f"erased-{case.pk}", {"turns": []}, "")
    assert CeErasure.objects.get().counts["tests"] == 1
    assert CeLedger.objects.filter(kind="ERASURE", table_name="ce_test_case", count=1).exists()
    problem = m.CeDraftSchedule.objects.get().problem
    assert problem == f"2 tests fail on this draft: “Erased test {case.pk}”; “Test {deleted.pk}”."
    assert other.results.count() == 1


def test_the_command_names_the_tests_first_and_then(caller: Caller, admin_client: Client) -> None:
    case, out = make_test_of(caller, admin_client, 5), StringIO()
    options = ["--participant", "+49151", "--by", "ada", "--reason", "asked"]
    call_command("audit_erase", *options, stdout=out)
    assert f"Tests that would be erased with them: {case.title}." in out.getvalue()
    assert MAIL in str(CeTestCase.objects.get().document)

    call_command("audit_erase", *options, "--yes", stdout=out)

    assert "1 tests" in out.getvalue()
    assert f"Tests made from them, now empty: Erased test {case.pk}." in out.getvalue()
    assert find_needles() == set()


def test_the_tests_of_a_conversation_that_retention_removed_are_erased(caller: Caller, admin_client: Client) -> None:
    case = make_test_of(caller, admin_client, 5)
    CeConversation.objects.all().delete()

    erase(caller.conversation_id)

    assert CeTestCase.objects.get(pk=case.pk).erased_at
    with pytest.raises(NothingToErase):
        erase(caller.conversation_id)


def test_tests_over_the_api_name_their_conversation(caller: Caller) -> None:
    document = {"id": "a", "title": "A", "turns": [{"user": MAIL}], "conversation_id": caller.conversation_id}
    secret, client = make_key(scopes=["config"]), Client()

    def send(**more: Any) -> Any:
        return client.post(
            "/api/v1/config/tests",
            {"tests": [{**document, **more}]},
            content_type="application/json",
            headers={"Authorization": f"Api-Key {secret}"},
        ).json()

    assert send()["added"] == ["a"]
    assert "conversation_id: write the id" in send(conversation_id="7")["refused"][0]["problem"]
    erase(caller.conversation_id)
    assert find_needles() == set()
    # It has another name now: the same document would be a new test of an erased conversation.
    assert "was erased" in send()["refused"][0]["problem"]


def test_what_was_open_while_its_conversation_was_erased_is_not_stored(caller: Caller, admin_client: Client) -> None:
    case = make_test_of(caller, admin_client, 5)
    page = admin_client.get(f"{LIST}{case.pk}/change/")
    run = create_run(ConfigurationName("live"), SelectedTests(), "ada")
    steps = iterate_run(run.pk, lambda *_: erase(caller.conversation_id))
    list(steps)

    saved = admin_client.post(f"{LIST}{case.pk}/change/", {**fields_of(page), "do": "save"})

    assert "This test was erased" in saved.content.decode()
    with pytest.raises(TestRefused, match="was erased"):
        store_test({"title": "A", "turns": [{"user": MAIL}], "conversation_id": caller.conversation_id}, editor="ada")
    assert find_needles() == set()


def test_a_file_of_a_test_names_its_conversation_so_that_its_copies_are_erased(
    caller: Caller, admin_client: Client
) -> None:
    make_test_of(caller, admin_client, 5)
    ((_, text),) = build_files(CeTestCase.objects.all())
    copy = text.replace("id: ", "id: copy-of-", 1).encode()
    assert import_files([("copy.yaml", copy)], editor="ada").added == ["copy-of-delivery-fees-or-what"]

    erase(caller.conversation_id)

    assert find_needles() == set()
    for _ in range(2):
        ((_, problem),) = import_files([("copy.yaml", copy)], editor="ada").refused
        assert "was erased" in problem
        CeConversation.objects.all().delete()


def test_a_test_stays_with_its_conversation(caller: Caller, admin_client: Client) -> None:
    case = make_test_of(caller, admin_client, 5)
    page = admin_client.get(f"{LIST}{case.pk}/change/")

    for other in (str(uuid.uuid4()), ""):
        sent = {**fields_of(page), "conversation_id": other, "do": "save"}
        saved = admin_client.post(f"{LIST}{case.pk}/change/", sent)
        assert ("A test of another conversation has this id" in saved.content.decode()) == bool(other)
    erase(caller.conversation_id)

    assert find_needles() == set()


def test_an_erased_test_does_not_run_and_blocks_no_gate(caller: Caller, admin_client: Client) -> None:
    case = make_test_of(caller, admin_client, 5)
    with change_set():
        m.CeConfig.objects.create(config_type="Releases", config_key="GATE", config_value="smoke")
    erase(caller.conversation_id)

    run = run_tests()
    state = judge_gate(run.content_hash, ["smoke"])

    assert (run.total, state.total, state.erased, state.is_open) == (0, 0, 1, True)
    assert list(build_files(CeTestCase.objects.all())) == []
    page = admin_client.get(f"{LIST}{case.pk}/change/").content.decode()
    assert "it cannot run, and it does not count for the gate" in page
    assert 'value="save"' not in page
    assert "Erased" in admin_client.get(LIST).content.decode()
    draft = m.CeDraft.objects.create(title="Fees")
    with open_draft(draft.pk, "ben", writing=True), change_set():
        m.CeResponse.objects.filter(intent_code="FEES").update(exact_text="Ten.")
    page = admin_client.get(f"/admin/config_admin/cedraft/{draft.pk}/change/").content.decode()
    assert "1 test of the gate was erased with its conversation: it cannot run and does not count." in page
    assert "The gate is open: no test with the tag smoke can run." in page
    publish_draft(draft.pk)


def test_the_page_says_what_a_test_will_hold_and_leaves_memory_out(caller: Caller, admin_client: Client) -> None:
    page = admin_client.get(f"/admin/audit/ceaudit/{caller.conversation_id}/scenario/?as=test&first=4&last=4")
    assert (
        "This test will hold 1 message, 3 earlier messages, a summary of the "
        "conversation, facts that the session remembered and the fields customer and email."
    ) in page.content.decode()
    editor = admin_client.post(page.context["test_url"], {"document": page.context["scenario"], "without_memory": "1"})
    assert "This test will hold 1 message and the fields" in editor.content.decode()

    case = make_test_of(caller, admin_client, 4, without_memory="1")

    assert MAIL not in str(case.document)
    assert BEGIN not in str(case.document)
    start = case.document["conversation"]
    assert (start["intent_code"], start["context"]["dialogue"]["asked_field"]) == ("DELIVER", "address")
    assert loads(page.context["scenario"])["conversation_id"] == caller.conversation_id


def test_folder_and_tags_go_unless_others_have_them_and_tests_that_quote_the_person_are_listed(
    caller: Caller, admin_client: Client
) -> None:
    case = make_test_of(caller, admin_client, 5)
    with change_set():
        m.CeConfig.objects.create(config_type="Releases", config_key="GATE", config_value="smoke")
    store_test(
        {
            "title": "A",
            "covers": ["smoke", "ada-byron"],
            "turns": [{"user": "hours"}],
            "conversation_id": str(case.conversation_id),
        },
        editor="ada",
        folder="people/ada",
    )
    name = 'Jörg "Jo"'
    quoting = make_test("Quotes", {"user": f"call {name}", "expect": {}})
    make_test("Other", folder="deliveries")
    run = run_tests(tags=["ada-byron"])
    rename_participant(caller.conversation_id, name)

    list(erase_participant(name, ORDER))

    first, second = CeTestCase.objects.exclude(erased_at=None).order_by("pk")
    assert (first.folder, second.folder) == ("deliveries", "")
    assert {tag.tag for tag in second.tags.all()} == {"smoke"}
    run.refresh_from_db()
    assert run.selection == {"tags": ["erased"]}
    listed = [entry.details.get("undecided") for entry in CeLedger.objects.filter(table_name="ce_test_case")]
    assert [quoting.pk] in listed
    assert verify_other_tables().findings == []
