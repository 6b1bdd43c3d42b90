"""A topic is renamed, copied, switched, exported and deleted: the preview, one release, and what is refused."""

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from config_admin import models as m
from config_admin.drafts.models import CeDraft, CeDraftEdit, CeDraftSchedule
from config_admin.flows.mapping import write_rows
from config_admin.flows.reading import read_flow
from config_admin.releases.active import snapshots
from config_admin.releases.change_set import change_set
from config_admin.releases.renamed_intents import filter_open_conversations
from config_admin.transfer.apply_import import add_rows, import_document
from config_admin.transfer.document import ImportMode
from config_admin.transfer.files import read_bytes
from convengine.server.sessions.models import CeConversation
from tests.config_admin.admin.pages import newest, read_message
from tests.config_admin.builders import changed_rows, make
from tests.config_admin.flows.topics.builders import make_references, make_topic

pytestmark = pytest.mark.django_db
WHY = {"reason": "The product has a new name"}
FLOW = {
    "code": "LOAN", "title": "Loan", "kind": "collect", "phrases": ["I need a loan"], "answer": "Noted.",
    "fields": [{"name": "amount", "title": "Amount", "type": "money"}],
    "questions_and_answers": [
        {"questions": ["what is the interest rate"], "answer": "Four percent."},
        {"questions": ["may I pay back earlier"], "answer": "Yes."},
    ],
}  # fmt: skip
NAMES = {"code": "credit", "title": "Credit"}


def page(name: str, intent: str = "LOAN") -> str:
    return reverse(f"admin:config_admin_ceintent_{name}", args=[intent])


def ask(client: Client, name: str, **values: str) -> Any:
    """The preview."""
    return client.get(page(name), values).context["question"]


def messages_of(question: Any) -> list[str]:
    return [refusal.message for refusal in question.refusals]


def codes(model: Any) -> set[str]:
    return set(model.objects.values_list("intent_code", flat=True)) - {"ANY", "UNKNOWN"}


def a_conversation(**values: Any) -> CeConversation:
    return CeConversation.objects.create(conversation_id=uuid4(), intent_code="LOAN", **values)


def test_the_workspace_offers_what_a_user_may_do(ben: Client, somebody: Any) -> None:
    make_topic()
    url = page("workspace")
    shown = ben.get(url).content.decode()
    reader = somebody("quinn", "qa").get(url).content.decode()

    for name in ("rename", "duplicate", "switch", "export", "delete_all"):
        assert page(name) in shown
        assert (page(name) in reader) is (name == "export")
    assert "topic_links" not in ben.get(page("workspace", "ANY")).content.decode()


def test_renaming_asks_for_the_name_first(ben: Client) -> None:
    make_topic(display_name="Loan")

    form = ben.get(page("rename")).context["form"]

    assert (form["code"].value(), form["title"].value(), form.errors) == ("LOAN", "Loan", {})


@pytest.mark.parametrize("code", ["no code", "ANY", "HELP", ""])
def test_a_name_that_cannot_be_is_refused_at_its_field(ben: Client, code: str) -> None:
    make_topic()
    with change_set():
        make(m.CeIntent, intent_code="HELP")
    before = newest().pk

    for send in (ben.get, ben.post):
        assert "code" in send(page("rename"), {"code": code} | WHY).context["form"].errors
    assert newest().pk == before


def test_a_code_of_rows_without_an_intent_is_refused(ben: Client) -> None:
    make_topic()
    with change_set():
        make(m.CeResponse, intent_code="CREDIT")

    errors = ben.get(page("rename"), NAMES).context["form"].errors

    assert errors["code"] == ["Rows of CREDIT exist already, without an intent. Choose another code."]


def test_the_preview_counts_rows_by_table_and_changes_nothing(ben: Client) -> None:
    make_topic()
    make_references()
    before = newest().pk

    question = ask(ben, "rename", **NAMES)

    assert dict(question.counts)["Intents"] == "1 renamed"
    assert dict(question.counts)["Rules"] == "3 changed"
    assert question.notes[0].message == "Rows of other intents that change too: 2"
    assert not question.refusals
    assert newest().pk == before


def test_renaming_changes_every_row_that_names_the_intent_in_one_release(ben: Client) -> None:
    rows = make_topic()
    references = make_references()
    before = newest().pk

    response = ben.post(page("rename"), NAMES | WHY)

    assert response["Location"] == page("workspace", "CREDIT")
    assert (newest().pk, newest().author, newest().reason) == (before + 1, "ben", WHY["reason"])
    for model in (m.CeIntent, m.CeIntentClassifier, m.CeRule, m.CeResponse, m.CeMcpTool, m.CeTool, m.CeStateGraph):
        assert codes(model) == {"CREDIT"}, model
    assert m.CeIntent.objects.get().display_name == "Credit"
    for row in references.values():
        row.refresh_from_db()
    assert references["switches"].action_value == "CREDIT"
    assert '"value": "CREDIT"' in references["compares"].match_pattern
    rows["rule"].refresh_from_db()
    assert rows["rule"].created_at.microsecond == m.CeRule.objects.get(pk=rows["rule"].pk).created_at.microsecond


def test_the_old_code_leads_to_the_renamed_intent(ben: Client) -> None:
    make_topic()
    ben.post(page("rename"), NAMES | WHY)
    first = newest().pk
    ben.post(page("rename", "CREDIT"), {"code": "MONEY"} | WHY)

    for url, target in (
        (page("workspace"), page("workspace", "MONEY")),
        (page("change"), page("change", "MONEY")),
        (page("map_of"), page("map_of", "MONEY")),
    ):
        response = ben.get(url)
        assert response["Location"] == target
        assert f"LOAN was renamed to MONEY in release {first + 1}." in read_message(response, ben)
    assert ben.get(page("workspace", "NEVER")).status_code == 404


def test_the_page_of_a_deleted_intent_names_the_release_to_undo(ben: Client) -> None:
    make_topic()
    ben.post(page("delete_all"), WHY)

    for name in ("workspace", "map_of"):
        response = ben.get(page(name))
        assert response.status_code == 404
        assert f"It was deleted in release {newest().pk}; undo that release" in response.content.decode()


def test_open_conversations_go_on_under_the_new_code(ben: Client) -> None:
    make_topic()
    open_one, _ = a_conversation(), a_conversation(lifecycle="COMPLETE")

    warning = "1 open conversation is in this intent. Open conversations go on under CREDIT."
    assert ask(ben, "rename", **NAMES).warnings == [warning]
    ben.post(page("rename"), NAMES | WHY)

    assert list(filter_open_conversations("CREDIT")) == [open_one]
    (move,) = m.CeReleaseMove.objects.filter(config_version=newest().pk)
    assert (move.from_intent, move.to_intent) == ("LOAN", "CREDIT")


def test_taking_a_rename_back_brings_rows_and_conversations_back(ben: Client) -> None:
    make_topic()
    conversation = a_conversation()
    ben.post(page("rename"), NAMES | WHY)

    ben.post(reverse("admin:config_admin_cerelease_take_back", args=[newest().pk]), WHY)

    conversation.refresh_from_db()
    assert (codes(m.CeIntent), codes(m.CeRule), conversation.intent_code) == ({"LOAN"}, {"LOAN"}, "LOAN")


def test_a_new_title_alone_changes_one_row(ben: Client) -> None:
    make_topic(display_name="Loan")

    ben.post(page("rename"), {"code": "LOAN", "title": "Credit"} | WHY)

    assert changed_rows(newest().pk) == [("ce_intent", "LOAN")]
    assert "Nothing would change" in messages_of(ask(ben, "rename", code="LOAN", title="Credit"))[0]


def test_the_preview_of_a_new_title_alone_speaks_of_nothing_else(ben: Client) -> None:
    make_topic(display_name="Loan")
    make_references()
    a_conversation()

    question = ask(ben, "rename", code="LOAN", title="Credit")

    assert question.intro == "Give the intent LOAN the title “Credit”? Its code stays."
    assert (question.reason, question.notes, question.warnings) == ("Change the title of LOAN", (), [])


def test_a_copy_has_all_rows_under_its_own_code_and_numbers(ben: Client) -> None:
    rows = make_topic()
    make_references()

    question = ask(ben, "duplicate", **NAMES)
    response = ben.post(page("duplicate"), NAMES | WHY)

    assert response["Location"] == page("workspace", "CREDIT")
    assert dict(question.counts)["Intents"] == "1 added"
    assert codes(m.CeIntent) == codes(m.CeRule) == codes(m.CeResponse) == codes(m.CeStateGraph) == {"LOAN", "CREDIT"}
    copy = m.CeVerbose.objects.get(intent_code="CREDIT")
    assert copy.rule_id == m.CeRule.objects.get(intent_code="CREDIT").pk != rows["rule"].pk
    assert m.CeRule.objects.get(action="SET_INTENT").action_value == "LOAN"


def test_a_copy_has_tools_of_its_own_and_its_phrases_are_off(ben: Client) -> None:
    make_topic()

    ben.post(page("duplicate"), NAMES | WHY)

    tool = m.CeMcpTool.objects.get(intent_code="CREDIT")
    assert tool.tool_code == m.CeTool.objects.get(intent_code="CREDIT").tool_code == "loan.rate_credit"
    assert m.CeMcpDbTool.objects.filter(tool=tool).exists()
    assert not m.CeIntentClassifier.objects.get(intent_code="CREDIT").enabled
    assert m.CeIntentClassifier.objects.get(intent_code="LOAN").enabled


def test_switching_off_touches_the_intent_alone_and_comes_back(ben: Client) -> None:
    make_topic()
    question = ask(ben, "switch")

    assert (dict(question.counts), question.answer) == ({"Intents": "1 changed"}, "Switch off")
    assert "1 rule" in question.notes[0].message
    ben.post(page("switch"), WHY)
    assert not m.CeIntent.objects.get().enabled
    assert ask(ben, "switch").answer == "Switch on"
    ben.post(page("switch"), WHY)
    assert m.CeIntent.objects.get().enabled


@pytest.mark.parametrize(
    ("answers", "text"), [(0, ""), (1, " Its 1 other row stays as it is."), (2, " Its 2 other rows stay as they are.")]
)
def test_switching_on_counts_the_other_rows(ben: Client, answers: int, text: str) -> None:
    with change_set():
        make(m.CeIntent, intent_code="LOAN", display_name="Loan", enabled=False)
        for number in range(answers):
            make(m.CeResponse, intent_code="LOAN", state_code=f"S{number}")

    assert ask(ben, "switch").intro == f"Switch “Loan” on? Users can begin it again.{text}"


def test_an_export_has_the_rows_of_the_topic_and_adds_them_where_it_is_imported(ben: Client) -> None:
    rows = make_topic()
    make_references()
    assert dict(ben.get(page("export")).context["counts"])["Rules"] == 1

    sent = ben.get(page("export"), {"download": "1"})
    document = read_bytes("loan.yaml", sent.content)

    assert sent["Content-Disposition"] == 'attachment; filename="loan.yaml"'
    assert (document.mode, document.count) == (ImportMode.ADD, len(rows))
    before = newest().pk
    assert import_document(document, author="ada", reason="again").release is None
    ben.post(page("delete_all"), WHY)  # Refused: other rows name it.
    assert newest().pk == before


def test_a_deleted_topic_is_imported_again_from_its_export(ben: Client) -> None:
    models = [type(row) for row in make_topic().values()]
    before = [model.objects.count() for model in models]
    sent = ben.get(page("export"), {"download": "1"}).content
    ben.post(page("delete_all"), WHY)
    assert [model.objects.count() for model in models] != before

    import_document(read_bytes("loan.yaml", sent), author="ada", reason="again")

    assert [model.objects.count() for model in models] == before


def test_deleting_names_what_still_refers_to_it(ben: Client) -> None:
    make_topic()
    references = make_references()

    question = ben.post(page("delete_all"), WHY).context["question"]

    assert messages_of(question)[0].startswith("2 rows of other intents still name LOAN.")
    assert len(question.refusals[0].rows) == len(references)
    assert codes(m.CeIntent) == {"LOAN"}


def test_deleting_takes_all_rows_in_one_release(ben: Client) -> None:
    rows = make_topic()
    before = newest().pk
    question = ask(ben, "delete_all")

    response = ben.post(page("delete_all"), WHY)

    assert question.answer == f"Delete {len(rows)} rows"
    assert sorted(changed_rows(newest().pk)) == sorted((row._meta.db_table, row.pk) for row in rows.values())
    assert newest().pk == before + 1
    assert f"Release {newest().pk}" in read_message(response, ben)


@pytest.mark.parametrize("name", ["rename", "duplicate", "switch", "delete_all"])
def test_nothing_happens_without_a_reason(ben: Client, name: str) -> None:
    make_topic()
    before = newest().pk

    response = ben.post(page(name), NAMES | {"reason": " "})

    assert "Enter a reason for this change." in response.content.decode()
    assert newest().pk == before


def test_a_preview_that_is_old_is_asked_again(ben: Client) -> None:
    make_topic()
    inputs = dict(ask(ben, "delete_all").inputs)
    with change_set():
        make(m.CeResponse)

    question = ben.post(page("delete_all"), inputs | WHY).context["question"]

    assert "was created meanwhile" in question.news
    assert codes(m.CeIntent) == {"LOAN"}


def test_rows_that_a_user_may_not_change_are_named_with_whom_to_ask(ben: Client) -> None:
    make_topic()
    with change_set():
        make(m.CeMcpServer, intent_code="LOAN", state_code="ANY")

    for name, verb in (("delete_all", "delete"), ("rename", "change")):
        (message,) = messages_of(ask(ben, name, **(NAMES if name == "rename" else {})))
        assert message == f"You may not {verb} MCP servers: only configuration administrators may. Ask one."


def test_reserved_intents_are_no_topics(ada: Client) -> None:
    for code in ("ANY", "UNKNOWN", "NOTHING"):
        assert ada.get(page("rename", code)).status_code == 404


def test_problems_that_rows_have_already_do_not_prevent_a_rename(ben: Client) -> None:
    make_topic()
    with change_set():
        make(m.CeRule, rule_type="REGEX", match_pattern="(", priority=7)

    ben.post(page("rename"), NAMES | WHY)

    assert codes(m.CeRule) == {"CREDIT"}
    question = ben.get(page("duplicate", "CREDIT"), {"code": "MONEY"}).context["question"]
    assert "(REGEX_INVALID)" in messages_of(question)[0]


def test_the_history_under_the_old_code_stays(ben: Client) -> None:
    make_topic()
    ben.post(page("rename"), NAMES | WHY)

    shown = ben.get(page("history"))

    assert (shown.status_code, WHY["reason"] in shown.content.decode()) == (200, True)


def make_flow() -> None:
    add_rows(write_rows(FLOW), author="ada", reason="begin")


def list_questions(intent: str) -> Any:
    """What *Edit flow* shows of the questions beside it."""
    reading = read_flow(snapshots.current(), intent)
    return reading and reading.document.get("questions_and_answers")


def test_the_questions_beside_a_flow_are_renamed_with_it(ben: Client) -> None:
    make_flow()
    CeConversation.objects.create(conversation_id=uuid4(), intent_code="LOAN_Q2")
    question = ask(ben, "rename", **NAMES)

    ben.post(page("rename"), NAMES | WHY)

    assert "Questions in between, which go with it: 2" in [note.message for note in question.notes]
    assert dict(question.counts)["Intents"] == "3 renamed"
    assert codes(m.CeIntent) == codes(m.CeResponse) == {"CREDIT", "CREDIT_Q1", "CREDIT_Q2"}
    assert list_questions("CREDIT") == FLOW["questions_and_answers"]
    assert filter_open_conversations("CREDIT_Q2").count() == 1
    assert ben.get(page("workspace", "LOAN"))["Location"] == page("workspace", "CREDIT")
    assert ben.get(page("workspace", "LOAN_Q1"))["Location"] == page("workspace", "CREDIT_Q1")


def test_the_questions_beside_a_flow_are_copied_with_it(ben: Client) -> None:
    make_flow()

    ben.post(page("duplicate"), NAMES | WHY)
    with change_set():
        for phrase in m.CeIntentClassifier.objects.filter(enabled=False):
            phrase.enabled = True
            phrase.save()

    assert list_questions("CREDIT") == list_questions("LOAN") == FLOW["questions_and_answers"]


def test_the_questions_beside_a_flow_are_switched_and_deleted_with_it(ben: Client) -> None:
    make_flow()

    ben.post(page("switch"), WHY)
    assert not m.CeIntent.objects.filter(intent_code__startswith="LOAN", enabled=True).exists()
    ben.post(page("switch"), WHY)
    assert not m.CeIntent.objects.filter(enabled=False).exists()
    ben.post(page("delete_all"), WHY)
    assert not codes(m.CeIntent) | codes(m.CeIntentClassifier) | codes(m.CeResponse)


def test_the_questions_beside_a_flow_are_exported_with_it(ben: Client) -> None:
    make_flow()
    sent = ben.get(page("export"), {"download": "1"}).content
    ben.post(page("delete_all"), WHY)

    import_document(read_bytes("loan.yaml", sent), author="ada", reason="again")

    assert list_questions("LOAN") == FLOW["questions_and_answers"]


def test_a_code_whose_questions_are_taken_is_refused(ben: Client) -> None:
    make_flow()
    with change_set():
        make(m.CeIntent, intent_code="CREDIT_Q1")

    errors = ben.get(page("rename"), NAMES).context["form"].errors

    assert errors["code"] == ["The intent CREDIT_Q1 already exists. Choose another code."]


@pytest.mark.parametrize(
    ("typed", "why"),
    [
        ("loan", "so loan is the present code LOAN"),
        ("Loan", "so Loan is the present code LOAN"),
        ("_LOAN", "Begin with a letter"),
        ("2LOAN", "Begin with a letter"),
        ("LOAN-2", "use capital letters, digits and underscores"),
    ],
)
def test_a_code_that_cannot_be_given_says_why(ben: Client, typed: str, why: str) -> None:
    make_topic()
    assert why in ben.get(page("rename"), {"code": typed}).content.decode()


@pytest.mark.parametrize(("typed", "new"), [("loan_2", "LOAN_2"), ("LOAN_", "LOAN_"), ("my_loan", "MY_LOAN")])
def test_a_code_with_underscores_is_given(ben: Client, typed: str, new: str) -> None:
    make_topic()
    assert f"to {new}?" in ask(ben, "rename", code=typed).intro


@pytest.mark.parametrize("is_scheduled", [True, False])
@pytest.mark.parametrize("edited", ["phrase", "answer", "new row"])
def test_an_intent_that_a_draft_changes_is_not_deleted_without_a_word(
    ben: Client, edited: str, is_scheduled: bool
) -> None:
    make_topic()
    draft = CeDraft.objects.create(title="Christmas")
    row = {"phrase": m.CeIntentClassifier, "answer": m.CeResponse, "new row": m.CeResponse}[edited]
    pk = 9999 if edited == "new row" else row.objects.filter(intent_code="LOAN").first().pk
    CeDraftEdit.objects.create(
        draft=draft, table_name=row._meta.db_table, row_pk=str(pk), after={"intent_code": "LOAN"}
    )
    if is_scheduled:
        CeDraftSchedule.objects.create(draft=draft, publish_at=timezone.now() + timedelta(days=1), edits_hash="x")

    question = ask(ben, "delete_all")

    assert "The draft “Christmas” changes rows of it." in question.warnings
    refused = "The draft “Christmas” changes rows of LOAN, and is scheduled." in " ".join(messages_of(question))
    assert refused is is_scheduled


def test_drafts_of_other_intents_and_ended_ones_do_not_matter(ben: Client) -> None:
    make_topic()
    for title, status, intent in (("Other", "OPEN", "OTHER"), ("Old", "PUBLISHED", "LOAN")):
        draft = CeDraft.objects.create(title=title, status=status)
        CeDraftEdit.objects.create(draft=draft, table_name="ce_response", row_pk="9999", after={"intent_code": intent})

    assert not [text for text in ask(ben, "delete_all").warnings if "draft" in text]
