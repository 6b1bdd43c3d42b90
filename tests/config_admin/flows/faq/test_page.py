"""The page: analysts paste or upload questions, see what they make, and create it as one release."""

from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from config_admin import models as m
from config_admin.editing.links import release_url, workspace_url
from config_admin.flows.faq import sheet
from tests.config_admin.admin.pages import newest

pytestmark = pytest.mark.django_db
TEXT = (
    "Questions\tAnswer\nWhat are your opening hours?\tFrom nine to five.\nWhere can I park my car?\tBehind the house.\n"
)


def send(client: Client, **values: Any) -> Any:
    return client.post(reverse("admin:config_admin_ceintent_faq"), {"text": TEXT, "skip": "on", **values})


def make(client: Client, **values: Any) -> Any:
    previewed = send(client, **values).context["plan"].digest
    return send(client, _make="1", reason="our questions", previewed=previewed, **values)


def test_existing_questions_are_skipped_unless_somebody_unticks_it(ben: Client) -> None:
    page = ben.get(reverse("admin:config_admin_ceintent_faq"))

    assert page.context["form"]["skip"].value() is True
    assert not page.context["form"].is_bound


def test_the_preview_shows_every_line_and_makes_nothing(ben: Client) -> None:
    before = newest().pk
    page = send(ben).content.decode()

    assert "2 answers with 2 questions" in page
    assert "Every question leads to its answer at once." in page
    assert "Enter a reason for this change" in send(ben, _make="1").content.decode()
    assert newest().pk == before


def test_questions_are_compared_with_other_phrases_when_somebody_asks(ben: Client) -> None:
    make(ben)
    lines = "Questions\tAnswer\nCan I park my car on Sundays?\tNo."

    page = send(ben, text=lines, _compare="1")

    (phrase,) = page.context["compared"].new
    assert (phrase.text, phrase.nearest) == ("Can I park my car on Sundays?", "Where can I park my car?")
    assert "compared" not in send(ben, text=lines).context
    assert newest().reason == "our questions"


def test_an_analyst_creates_all_lines_as_one_release(ben: Client) -> None:
    before = newest().pk
    answer = make(ben)

    release = newest()
    assert answer["Location"] == release_url(release.pk)
    assert (release.pk, release.author, release.reason) == (before + 1, "ben", "our questions")
    assert m.CeIntent.objects.filter(returns=True, pk__startswith="FAQ_").count() == 2


def test_what_changed_since_the_preview_is_shown_first(ben: Client) -> None:
    previewed = send(ben).context["plan"].digest
    before = newest().pk
    page = send(ben, _make="1", reason="x", previewed=previewed, text=TEXT.replace("nine", "ten")).content.decode()

    assert "changed since the preview" in page
    assert "From ten to five." in page
    assert newest().pk == before


def test_a_question_that_users_are_asked_about_names_the_other_intent(ben: Client) -> None:
    make(ben)
    page = send(ben, text="What are your opening hours?	Never.", skip="").content.decode()

    assert "also matches the phrase “What are your opening hours?” of “What are your opening hours” (" in page


def test_a_single_line_leads_to_its_intent(ben: Client) -> None:
    assert make(ben, text="Where can I park my car?;Behind the house.")["Location"] == workspace_url(
        "FAQ_WHERE_CAN_I_PARK_MY_CAR"
    )


def test_a_second_import_says_what_exists_and_makes_the_rest(ben: Client) -> None:
    make(ben)
    page = send(ben, text=f"{TEXT}Who is the boss?\tAda.").content.decode()

    assert "1 answer with 1 question" in page
    assert "2 questions exist already and are skipped, and with them 2 whole lines." in page
    assert "Nothing to create" in send(ben).content.decode()


def test_a_question_of_another_intent_is_left_out_until_somebody_moves_it(ben: Client) -> None:
    make(ben)
    text = "Where can I park my car?\tIn the yard."
    page = send(ben, text=text).content.decode()
    assert "is answered because of the phrase “Where can I park my car?” of “Where can I park my car” (" in page
    assert "Nothing to create" in page

    moved = {"text": text, "moved": "where can i park my car"}
    assert (
        "“Where can I park my car” (FAQ_WHERE_CAN_I_PARK_MY_CAR) loses its last phrase."
        in send(ben, **moved).content.decode()
    )
    make(ben, **moved)
    assert set(m.CeIntentClassifier.objects.filter(pattern__contains="park").values_list("intent_code", flat=True)) == {
        "FAQ_WHERE_CAN_I_PARK_MY_CAR_2"
    }


def test_a_file_appears_as_text_that_can_be_corrected(ben: Client) -> None:
    file = SimpleUploadedFile("faq.xlsx", sheet.write_template("faq.xlsx"))
    page = send(ben, file=file, text="")

    assert "2 answers with 4 questions" in page.content.decode()
    assert sheet.read_text(page.context["form"]["text"].value())[2][1][2] == "Parking"


def test_lines_with_problems_prevent_the_release_until_they_are_left_out(ben: Client) -> None:
    text = f"{TEXT}Who is the boss?\t"
    before = newest().pk
    page = make(ben, text=text).content.decode()

    assert "Line 4: The answer is missing." in page
    assert "Nothing was created." in page
    assert newest().pk == before
    make(ben, text=text, rest="on")
    assert newest().pk == before + 1


@pytest.mark.parametrize("values", [{"text": ""}, {"file": SimpleUploadedFile("faq.csv", b"\xff\x00\xdc")}])
def test_what_cannot_be_read_is_an_error_of_its_field(ben: Client, values: dict[str, Any]) -> None:
    page = send(ben, **values)

    assert page.context["form"].errors.keys() == values.keys()
    assert "plan" not in page.context


def test_whoever_may_not_add_rows_is_refused(somebody: Any) -> None:
    assert send(somebody("quinn", "qa")).status_code == 403


@pytest.mark.parametrize("name", ["faq.xlsx", "faq.csv"])
def test_the_template_is_downloaded(ben: Client, name: str) -> None:
    answer = ben.get(reverse("admin:config_admin_ceintent_faq_template", args=[name]))

    assert sheet.read_file(name, answer.content)
    assert name in answer["Content-Disposition"]
    assert ben.get(reverse("admin:config_admin_ceintent_faq_template", args=["other.pdf"])).status_code == 302
