"""The pages of tests: made, edited, run, imported and exported."""

import io
import time
import zipfile
from itertools import pairwise
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from config_admin import models as m
from config_admin.drafts.models import CeDraft
from config_admin.test_cases import transfer
from config_admin.test_cases.documents import TestRefused, store_test
from config_admin.test_cases.models import CeTestCase, CeTestCaseTag, CeTestResult, CeTestRun
from config_admin.test_cases.runs import SelectedTests, create_run, test_runs
from convengine.engine.turn.codec import dumps
from convengine.server.interfaces.configuration import ConfigurationName
from tests.config_admin.test_cases.builders import make_test, run_tests
from tests.sign_in import sign_in_superuser
from tests.worlds import create_help_desk

pytestmark = pytest.mark.django_db
LIST, ADD = "/admin/config_admin/cetestcase/", "/admin/config_admin/cetestcase/add/"


@pytest.fixture(autouse=True)
def desk() -> None:
    create_help_desk()


def fields_of(page: Any) -> dict[str, Any]:
    """What a browser would send of the editor on a page."""
    editor, sent = page.context["editor"], {}
    for name in ("title", "folder", "tags", "why", "stubs", "conversation_id"):
        sent[name] = getattr(editor, name)
    sent["turns"] = len(editor.turns)
    for number, turn in enumerate(editor.turns):
        prefix = f"turn-{number}-"
        sent |= {f"{prefix}user": turn.user, f"{prefix}details": turn.details, f"{prefix}more": turn.more}
        sent[f"{prefix}ticks"] = len(turn.ticks)
        for index, tick in enumerate(turn.ticks):
            sent |= {
                f"{prefix}kind-{index}": tick.kind,
                f"{prefix}name-{index}": tick.name,
                f"{prefix}mode-{index}": tick.mode,
                f"{prefix}value-{index}": tick.value,
            }
            if tick.is_checked:
                sent[f"{prefix}tick-{index}"] = "1"
    return sent


def test_a_test_is_made_from_messages_and_what_the_bot_answered(ben: Client) -> None:
    assert ben.get(ADD).status_code == 200
    page = ben.post(ADD, {"title": "Hours", "messages": "hours\nfees", "tags": "smoke"})
    assert b"Nine to five." in page.content
    saved = ben.post(ADD, {**fields_of(page), "do": "save"})
    case = CeTestCase.objects.get()
    assert saved["Location"] == f"{LIST}{case.pk}/change/"
    assert case.document["turns"] == [
        {"user": "hours", "expect": {"intent": "HOURS", "state": "IDLE"}},
        {"user": "fees", "expect": {"response": {"equals": "No fees."}, "intent": "FEES", "state": "IDLE"}},
    ]
    assert (case.owner, case.name, [tag.tag for tag in case.tags.all()]) == ("ben", "hours", ["smoke"])


def test_a_document_of_the_simulator_or_of_a_conversation_loses_its_configuration(ben: Client) -> None:
    document = {
        "id": "x",
        "title": "Old",
        "tables": {"ce_intent": [{"intent_code": "A"}]},
        "turns": [{"user": "hours", "expect": {"intent": "FEES"}, "thread": {"remote_jid": "1"}}],
    }
    page = ben.post(ADD, {"title": "From a chat", "document": dumps(document)}, follow=True)
    assert b"Left out, because a test runs on your configuration: tables, thread." in page.content
    assert b"1 not as expected" in page.content
    ben.post(ADD, {**fields_of(page), "do": "save"})
    assert CeTestCase.objects.get().document == {
        "conversation": {"channel": "whatsapp"},
        "turns": [{"user": "hours", "expect": {"intent": "FEES"}}],
    }


def test_a_test_of_a_conversation_is_named_after_its_flow_and_expects_only_the_last_answer(ben: Client) -> None:
    m.CeIntent.objects.filter(pk="FEES").update(display_name="What it costs")
    said = {"response": {"type": "TEXT", "equals": "No fees."}, "intent": "FEES", "state": "IDLE"}
    document = {"title": "Saved from conversation 7", "turns": [{"user": word, "expect": said} for word in "ab"]}

    editor = ben.post(ADD, {"document": dumps(document)}).context["editor"]

    assert editor.title == "What it costs: a"
    assert [[tick.kind for tick in turn.ticks if tick.is_checked] for turn in editor.turns] == [
        ["intent", "state"],
        ["answer", "intent", "state"],
    ]


@pytest.mark.parametrize(
    ("expect", "accepted"),
    [
        (
            {"response": {"contains": "six"}, "intent": "HOURS"},
            {"response": {"equals": "Nine to five."}, "intent": "HOURS"},
        ),
        ({"response": {"contains": "five"}, "context": {"$.gone": 1}}, {"response": {"contains": "five"}}),
    ],
)
def test_what_a_failed_test_got_is_accepted(ben: Client, expect: Any, accepted: Any) -> None:
    case = make_test("Hours", {"user": "hours", "expect": expect})
    page = ben.post(f"{LIST}{case.pk}/change/", {"do": "accept", "configuration": "live"})
    assert b"Read it, then save it." in page.content
    ben.post(f"{LIST}{case.pk}/change/", {**fields_of(page), "do": "save"})

    case.refresh_from_db()
    assert case.document["turns"][0]["expect"] == accepted


@pytest.mark.parametrize(
    "expect",
    [
        {"response": {"contains": "five"}, "intent": "HOURS"},
        {"response": {"matches": "^N"}},
        {"response": {"json": {"$.a": 1}}, "context": {"$.a": 1, "$.b": "4711", "$.c": {"contains": "x"}}},
        {"context": {"$.list": [1, 2], "$.map": {"equals": {"a": 1}}, "$.gone": {"absent": True}}},
        {"task_calls": [{"bean": "till", "method": "open"}], "tool_calls": [{"tool_code": "a", "args": {"x": 1}}]},
        {"task_calls": [], "tool_calls": [], "llm_calls": {"intent": 1}},
        {"error": {"code": "X"}, "http_status": 500, "audit_stages_absent": ["A"]},
        {"intent": {"one_of": ["A", "B"]}, "persisted": {"status": "RUNNING"}},
    ],
)
def test_the_editor_gives_back_what_it_got(ben: Client, expect: Any) -> None:
    turn = {"user": "hours\nplease", "input_params": {"a": 1}, "at": "1h", "expect": expect}
    stubs = {"tasks": [{"bean": "till", "method": "open", "returns": None}], "conversation": {"state_code": "A"}}
    case = make_test("Any", turn, {"user": None}, **stubs)
    before = case.document
    page = ben.get(f"{LIST}{case.pk}/change/")
    sent = fields_of(page) | {"turn-1-silent": "1"}
    assert ben.post(f"{LIST}{case.pk}/change/", {**sent, "do": "save"}).status_code == 302
    case.refresh_from_db()
    assert case.document == before


def test_a_mistake_is_named_and_nothing_typed_is_lost(ben: Client) -> None:
    case = make_test()
    page = ben.get(f"{LIST}{case.pk}/change/")
    refused = ben.post(f"{LIST}{case.pk}/change/", {**fields_of(page), "stubs": "tables: {a: []}", "do": "save"})
    assert b"Stubs and start must not contain tables." in refused.content
    assert b"tables: {a: []}" in refused.content


def test_a_failure_is_shown_with_both_sides_the_reason_and_the_changed_row(ben: Client) -> None:
    make_test("Hours", {"user": "hours", "expect": {"response": {"contains": "to six"}}})
    run = run_tests()
    listed = ben.get(f"/admin/config_admin/cetestrun/{run.pk}/change/")
    assert b"The test failed" in listed.content
    result = ben.get(f"/admin/config_admin/cetestrun/{run.pk}/results/{run.results.get().pk}/")
    for text in (b"contains to six", b"Nine to five.", b"It has not passed in any stored run."):
        assert text in result.content
    assert b"Accept the actual result" in result.content


@pytest.mark.django_db(transaction=True)
def test_a_run_is_started_on_a_page_and_followed() -> None:
    # Committed for the thread of the run, so the groups of an installation may be gone.
    ben = sign_in_superuser("ben")
    make_test(tags=("smoke",))
    started = ben.post(f"{LIST}run/", {"configuration": "live", "tag": "smoke"})
    test_runs.queue.finish()
    page = ben.get(started["Location"])
    assert b"The test passed." in page.content
    again = ben.post(started["Location"].replace("change", "again"))
    test_runs.queue.finish()
    assert b"The test passed." in ben.get(again["Location"]).content
    assert b"No test has these tags" in ben.post(f"{LIST}run/", {"tag": "other"}).content


def test_tests_are_exported_and_imported_again(ben: Client) -> None:
    make_test("Hours", tags=("smoke", "desk"), folder="desk/late", why="It matters.")
    make_test("Fees", {"user": "fees", "expect": {"intent": "FEES"}})
    before = sorted(CeTestCase.objects.values_list("name", "title", "folder", "why", "document_hash"))
    archive = ben.get(f"{LIST}export/").content
    assert sorted(zipfile.ZipFile(io.BytesIO(archive)).namelist()) == ["desk/late/hours.yaml", "fees.yaml"]
    CeTestCase.objects.all().delete()
    for _ in range(2):
        ben.post(f"{LIST}import/", {"files": SimpleUploadedFile("tests.zip", archive)})
    assert sorted(CeTestCase.objects.values_list("name", "title", "folder", "why", "document_hash")) == before
    assert sorted(CeTestCaseTag.objects.values_list("tag", flat=True)) == ["desk", "smoke"]


def test_an_archive_that_unpacks_to_too_much_or_is_broken_is_refused(
    ben: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transfer, "LARGEST_IMPORT", 1000)
    bomb, broken = io.BytesIO(), io.BytesIO()
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(3):
            archive.writestr(f"{number}.yaml", f"id: t{number}\ntitle: T\nturns: [{{user: {'x' * 500}}}]")
    with zipfile.ZipFile(broken, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.yaml", b"x" * 500)
    data = broken.getvalue().replace(b"a.yaml", b"a.yaml", 1)
    torn = data[:40] + b"\xff" * 8 + data[48:]
    for archive_bytes, text in ((bomb.getvalue(), b"Split it"), (torn, b"is not a readable archive")):
        sent = {"files": SimpleUploadedFile("tests.zip", archive_bytes)}
        assert text in ben.post(f"{LIST}import/", sent, follow=True).content
    assert not CeTestCase.objects.exists()


def test_a_file_that_needs_a_database_is_refused_with_the_command(ben: Client) -> None:
    text = b"id: a\ntitle: A\ntables: {ce_intent: [{intent_code: A}]}\nturns: [{user: x}]"
    page = ben.post(f"{LIST}import/", {"files": SimpleUploadedFile("a.yaml", text)}, follow=True)
    assert b"Run it with: convengine test." in page.content
    assert not CeTestCase.objects.exists()


def test_pages_cost_the_same_queries_for_any_number_of_tests(ada: Client) -> None:
    counts = []
    for number in (3, 60):
        for index in range(number):
            make_test(f"Test {number} {index}", tags=("smoke",), folder=f"f{index % 3}")
        run = run_tests()
        case = CeTestCase.objects.latest("pk")
        for page in (LIST, f"{LIST}run/", f"{LIST}coverage/", f"{LIST}{case.pk}/change/",
                     "/admin/config_admin/cetestrun/", f"/admin/config_admin/cetestrun/{run.pk}/change/"):  # fmt: skip
            ada.get(page)
            with CaptureQueriesContext(
                connection,
            ) as queries:
                assert ada.get(page).status_code == 200
            counts.append((page.replace(str(case.pk), "N").replace(str(run.pk), "N"), len(queries)))
    half = len(counts) // 2
    assert counts[:half] == counts[half:]


@pytest.mark.nightly
def test_the_list_of_ten_thousand_tests_costs_the_queries_of_a_hundred(ada: Client) -> None:
    run = create_run(ConfigurationName("live"), SelectedTests(), "ada")
    counts = []
    for numbers in (range(100), range(100, 10_000)):
        cases = CeTestCase.objects.bulk_create(
            CeTestCase(name=f"t{number}", title=f"Test {number:05}", folder=f"f{number % 40:02}", document={})
            for number in numbers
        )
        CeTestCaseTag.objects.bulk_create(CeTestCaseTag(test_case=case, tag=f"tag{case.pk % 30}") for case in cases)
        CeTestResult.objects.bulk_create(
            CeTestResult(run=run, test_case=case, content_hash="a", passed=case.pk % 7 > 0) for case in cases
        )
        last = CeTestCase.objects.get(name="t50")
        pages = ("", f"?before={last.pk}", "?folder=f07", "?tag=tag3", "?result=failed", "?q=Test 0005")
        ada.get(LIST)
        for page in pages:
            with CaptureQueriesContext(connection) as queries:
                began = time.monotonic()
                assert ada.get(f"{LIST}{page}").status_code == 200
                assert time.monotonic() - began < 3, page
            counts.append(len(queries))
    assert counts[: len(pages)] == counts[len(pages) :]


def test_all_tests_are_listed_once_page_by_page(ada: Client) -> None:
    for number in range(120):
        make_test(f"Test {number:03}", folder=f"f{number % 2}")
    seen, url = [], LIST
    while url:
        with CaptureQueriesContext(connection) as queries:
            page = ada.get(url).context["cl"]
        assert not [query for query in queries if "OFFSET" in query["sql"]]
        seen += [(case.folder, case.title) for case in page.result_list]
        url = page.paginator.older and f"{LIST}{page.paginator.older}"
    assert seen == [(f"f{half}", f"Test {number:03}") for half in (0, 1) for number in range(half, 120, 2)]


def test_tests_of_a_later_page_are_chosen_and_run(ada: Client) -> None:
    for number in range(60):
        make_test(f"Test {number:02}")
    url = f"{LIST}{ada.get(LIST).context['cl'].paginator.older}"
    page = ada.get(url)
    assert "Next page" not in page.content.decode()
    assert "First page" in page.content.decode()
    chosen = [case.pk for case in page.context["cl"].result_list][:2]
    ada.post(url, {"action": "run_selected", "_selected_action": chosen, "index": 0})
    assert CeTestRun.objects.get().selection == {"cases": chosen}


def test_integrators_and_operators_may_not_see_tests(somebody: Any) -> None:
    case = make_test()
    for group in ("integrator", "operator"):
        client = somebody(group, group)
        for page in (LIST, ADD, f"{LIST}{case.pk}/change/", f"{LIST}coverage/", f"{LIST}export/", f"{LIST}run/"):
            assert client.get(page).status_code == 403
    assert somebody("quinn", "qa").get(ADD).status_code == 200


def test_a_test_runs_only_on_configurations_that_its_user_may_read(somebody: Any) -> None:
    case, quinn = make_test(), somebody("quinn")
    user = User.objects.get(username="quinn")
    rights = ("add_cetestcase", "change_cetestcase", "view_cetestcase", "view_cetestrun", "run_test_case")
    user.user_permissions.set(Permission.objects.filter(codename__in=rights))
    draft = CeDraft.objects.create(title="Secret")
    run = create_run(ConfigurationName("draft", draft.pk), SelectedTests(), "ada")
    for name in (f"draft:{draft.pk}", "release:1"):
        sent = {"configuration": name}
        editor = {**sent, "title": "Hours", "turns": 1, "turn-0-user": "hours"}
        assert quinn.get(f"{LIST}coverage/", sent).status_code == 403
        assert quinn.post(f"{LIST}run/", sent).status_code == 403
        assert quinn.post(f"{LIST}{case.pk}/again/", sent).status_code == 403
        assert quinn.post(f"{LIST}{case.pk}/change/", {**editor, "do": "play"}).status_code == 403
        assert quinn.post(f"{LIST}{case.pk}/change/", {**editor, "do": "run"}).status_code == 403
        assert quinn.post(ADD, {**sent, "messages": "hours"}).status_code == 403
    assert quinn.post(f"/admin/config_admin/cetestrun/{run.pk}/again/").status_code == 403
    assert CeTestRun.objects.get() == run
    assert quinn.get(f"{LIST}coverage/").status_code == 200


#: Ten to the power of eight texts.
_BOMB = "a: &a [x]\n" + "".join(
    f"{name}: &{name} [{', '.join(['*' + before] * 10)}]\n" for before, name in pairwise("abcdefghi")
)
_VALUE = "id: x\ntitle: X\nturns: [{user: hi, expect: {context: {'$.a': %s}}}]\n"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (_BOMB, "Aliases such as *"),
        (_VALUE % "&a [*a]", "*a names nothing that ends before it"),
        (_VALUE % ("[" * 100 + "]" * 100), "nested more than"),
        (_VALUE % ("[" * 3000 + "]" * 3000), "nested more than"),
        (_VALUE % "!!int abc", "has a value that JSON cannot hold"),
        (_VALUE % ("9" * 5000), "has a value that JSON cannot hold"),
    ],
)
def test_a_text_that_would_fill_the_memory_or_cannot_be_stored_is_refused(ben: Client, text: str, problem: str) -> None:
    file = SimpleUploadedFile("x.yaml", text.encode())
    assert problem in ben.post(f"{LIST}import/", {"files": file}, follow=True).content.decode()
    assert problem in ben.post(ADD, {"document": text}).content.decode()
    assert not CeTestCase.objects.exists()


def test_an_import_changes_tests_only_for_who_may_change_them(somebody: Any) -> None:
    case, quinn = make_test("Hours"), somebody("quinn")
    User.objects.get(username="quinn").user_permissions.set(
        Permission.objects.filter(codename__in=["add_cetestcase", "view_cetestcase"])
    )
    text = f"id: {case.name}\ntitle: Changed\nturns: [{{user: a}}]\n".encode()
    page = quinn.post(f"{LIST}import/", {"files": SimpleUploadedFile("a.yaml", text)}, follow=True)
    assert b"you may not change tests" in page.content
    assert CeTestCase.objects.get().title == "Hours"


def test_a_field_of_several_lines_stays_as_it_is(ben: Client) -> None:
    expect = {"context": {"$.note": "first\nsecond"}}
    case = make_test("Notes", {"user": "hours", "expect": expect})
    url = f"{LIST}{case.pk}/change/"
    sent = fields_of(ben.get(url))
    # As a browser sends the value of an input.
    sent = {name: value.replace("\n", "") if "-value-" in name else value for name, value in sent.items()}
    ben.post(url, {**sent, "do": "save"})
    case.refresh_from_db()
    assert case.document["turns"][0]["expect"] == expect


@pytest.mark.dialects
@pytest.mark.parametrize(
    "text",
    [
        'id: x\ntitle: "a\\0b"\nturns: [{user: a}]\n',
        'id: x\ntitle: T\nwhy: "\\0"\ncovers: ["\\0"]\nturns: [{user: a}]\n',
        'id: x\ntitle: T\nturns: [{user: "a\\0b", expect: {context: {$.a: "\\0"}}}]\n',
        'id: "\\0"\ntitle: T\nturns: [{user: a}]\n',
    ],
)
def test_what_a_database_cannot_store_is_replaced_or_refused(ben: Client, text: str) -> None:
    file = SimpleUploadedFile("x.yaml", text.encode())
    assert ben.post(f"{LIST}import/", {"files": file, "folder": "a\0b"}, follow=True).status_code == 200
    assert ben.post(ADD, {"document": text, "title": "\0"}).status_code == 200


def test_tags_that_are_no_list_are_refused() -> None:
    with pytest.raises(TestRefused, match="as a list"):
        store_test({"title": "T", "covers": 5, "turns": [{"user": "a"}]}, editor="ada")
