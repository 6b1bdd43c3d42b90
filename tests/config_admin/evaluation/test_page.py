"""The pages *Tests › Understanding*."""

import re

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from config_admin.evaluation import page
from config_admin.evaluation.models import CeEvaluation
from config_admin.evaluation.runs import evaluations
from config_admin.tables.classifier import CeIntentClassifier
from config_admin.tables.config import CeConfig
from convengine.evaluation.labelled import LabelledMessage
from tests.config_admin.evaluation.test_runs import desk, evaluate

pytestmark = pytest.mark.django_db
__all__ = ["desk"]
ADDRESS = "/admin/config_admin/cetestcase/understanding/"


@pytest.fixture
def admin(admin_client: Client) -> Client:
    return admin_client


def read(client: Client, address: str) -> str:
    response = client.get(address)
    assert response.status_code == 200
    return re.sub(r"\s+", " ", response.content.decode())


def phrase_url(text: str) -> str:
    return reverse(
        "admin:config_admin_ceintentclassifier_change", args=[CeIntentClassifier.objects.get(pattern=text).pk]
    )


def confuse() -> None:
    """Give FEES a phrase that the phrases of HOURS are nearer to."""
    CeIntentClassifier.objects.create(
        intent_code="FEES", state_code="IDLE", rule_type="PHRASE", pattern="when do you really open"
    )


@pytest.mark.django_db(transaction=True)
def test_a_cross_validation_starts_in_the_background(admin: Client) -> None:
    assert "Nothing was measured yet." in read(admin, ADDRESS)

    response = admin.post(ADDRESS, {"configuration": "live"})
    evaluations.queue.finish()
    run = CeEvaluation.objects.get()

    assert response.url == f"{ADDRESS}{run.pk}/"
    assert (run.status, run.started_by) == ("DONE", "admin")
    assert "4 messages" in read(admin, ADDRESS)


@pytest.mark.django_db(transaction=True)
def test_a_file_of_messages_is_measured(admin: Client) -> None:
    file = SimpleUploadedFile("said.csv", b"message,intent\nyour fees?,FEES\nyour fees again,HOURS\n")

    admin.post(ADDRESS, {"configuration": "live", "file": file})
    evaluations.queue.finish()
    text = read(admin, f"{ADDRESS}{CeEvaluation.objects.get().pk}/")

    assert "Live: said.csv" in text
    assert "said.csv, line 3" in text


@pytest.mark.parametrize(
    ("sent", "problem"),
    [
        ({"configuration": "draft:99"}, "does not exist"),
        ({"file": SimpleUploadedFile("a.txt", b"x")}, "a.txt: the name must end with"),
        ({"file": SimpleUploadedFile("a.csv", b"message\n" + b"x\n" * 20)}, "at most 10 messages"),
        ({"file": SimpleUploadedFile("a.csv", b"message\n" + b"x" * 500)}, "MB. Split it."),
    ],
)
def test_what_cannot_be_measured_is_told_on_the_page(
    sent: dict[str, object], problem: str, admin: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page, "_LARGEST_FILE", 400)
    monkeypatch.setattr(page, "_MOST_MESSAGES", 10)

    response = admin.post(ADDRESS, sent)

    assert problem in response.content.decode()
    assert not CeEvaluation.objects.exists()


def test_a_confusion_links_to_both_phrases(admin: Client) -> None:
    confuse()
    text = read(admin, f"{ADDRESS}{evaluate().pk}/")

    confused = f'<a class="ce-link" href="{phrase_url("when do you really open")}">when do you really open</a>'
    cause = f'<a class="ce-link" href="{phrase_url("when do you open")}">when do you open</a>'
    assert text.index('<h2 id="confusions-title"') < text.index(confused) < text.index(cause)
    assert text.index(cause) < text.index("Which intents are confused")
    assert 'aria-label="Fees, taken for Hours: 1"' in text


def test_each_language_of_the_workspace_is_measured(admin: Client) -> None:
    assert "By language" not in read(admin, f"{ADDRESS}{evaluate().pk}/")
    CeConfig.objects.create(config_type="Session", config_key="LANGUAGES", config_value="en-GB, de-DE, es-ES")
    messages = LabelledMessage("wann habt ihr geöffnet", "HOURS"), LabelledMessage("when do you open", "HOURS")
    text = read(admin, f"{ADDRESS}{evaluate(*messages).pk}/")

    assert "By language" in text
    assert re.search(r"German</th><td>1</td>", text)
    assert re.search(r"English</th><td>1</td><td>1</td><td>0</td><td[^>]*>100.0 %</td>", text)
    assert re.search(r"Spanish</th><td>0</td><td>0</td><td>0</td><td[^>]*>–</td>", text)


def test_a_pair_shows_its_messages_alone(admin: Client) -> None:
    confuse()
    run = evaluate()
    text = read(admin, f"{ADDRESS}{run.pk}/?intent=FEES&decision=HOURS")

    assert "Fees, taken for Hours" in text
    assert "when do you really open" in text
    assert "Which intents are confused" not in text
    assert "No message of this intent was taken" in read(admin, f"{ADDRESS}{run.pk}/?intent=HOURS&decision=NONE")


def test_long_lists_have_pages(admin: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page, "_LISTED", 2)
    run = evaluate(*(LabelledMessage(f"nothing {number}", "HOURS") for number in range(5)))

    first = read(admin, f"{ADDRESS}{run.pk}/")
    last = read(admin, f"{ADDRESS}{run.pk}/?show=undecided&after=4")

    assert ("nothing 1" in first, "nothing 2" in first, "More of 5" in first) == (True, False, True)
    assert ("nothing 3" in last, "nothing 4" in last, "More of" in last) == (False, True, False)


def test_the_progress_of_an_open_evaluation_is_shown_and_it_can_be_cancelled(admin: Client) -> None:
    run = evaluate()
    CeEvaluation.objects.update(status="RUNNING", done=1, document=None, lease_expires_at=None)

    assert "1 of 4 messages" in read(admin, f"{ADDRESS}{run.pk}/")
    admin.post(f"{ADDRESS}{run.pk}/cancel/")
    assert "The evaluation was cancelled." in read(admin, f"{ADDRESS}{run.pk}/")


def test_the_list_reads_no_document_and_costs_the_same_for_many(admin: Client) -> None:
    run = evaluate()
    with CaptureQueriesContext(connection) as once:
        read(admin, ADDRESS)
    for _ in range(5):
        run.pk = None
        run.save()
    with CaptureQueriesContext(connection) as often:
        assert read(admin, ADDRESS).count("Cross-validation of the phrases") == 6

    assert len(often) == len(once)
    assert not [query for query in often if '"document"' in query["sql"]]


def test_each_measure_of_the_list_has_its_column(admin: Client) -> None:
    evaluate()
    head, _, row = read(admin, ADDRESS).partition("<table")[2].partition("</thead>")
    names = re.findall(r"<th scope=\"col\">([^<]*)", head)

    assert names == ["Messages", "Configuration", "Precision", "Recall", "F1", "Asked", "Fields", "When"]
    assert len(re.findall(r"<t[hd][ >]", row.partition("</tr>")[0])) == len(names)


def test_an_evaluation_that_is_gone_is_said_to_be(admin: Client) -> None:
    assert admin.get(f"{ADDRESS}99/").status_code == 404
