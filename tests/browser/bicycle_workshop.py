"""The second demonstration, a bicycle workshop: an analyst makes it with the pages alone, and exports it.

`python -m tests.browser.bicycle_workshop` makes it again and writes `fixtures/bicycle_workshop.json`.
"""

import json
import os
import re
import secrets
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from playwright.sync_api import Locator, sync_playwright

from tests.browser.conftest import FLAGS, ROOT, Server, Visitor, find_free_port, wait_for_server
from tests.browser_setup import chromium
from tests.migrated import copy_migrated

BUNDLE = ROOT / "fixtures/bicycle_workshop.json"
USER = "analyst"
_MAKE_USER = f"""
import os
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group
user = get_user_model().objects.create_user("{USER}", password=os.environ["NEW_PASSWORD"], is_staff=True)
user.groups.add(Group.objects.get(name="analyst"))
"""


@dataclass(frozen=True)
class FieldCard:
    """What is typed into the card of a field: its name, its type, and its other inputs by label."""

    title: str
    type: str
    texts: Mapping[str, str] = field(default_factory=dict)
    is_optional: bool = False


@dataclass(frozen=True)
class FlowPage:
    """What is typed into the page *Start a flow*; `questions` are pairs of phrasings and an answer."""

    kind: str
    code: str
    title: str
    applies: str
    phrases: Sequence[str]
    answer: str
    fields: Sequence[FieldCard] = ()
    questions: Sequence[tuple[str, str]] = ()
    confirmation: str = ""


CHOICES = "Choices"
REPAIR = FlowPage(
    "Collect and confirm",
    "BOOK_REPAIR",
    "Book a repair",
    "Somebody wants a bicycle repaired or serviced.",
    (
        "I need my bike repaired",
        "book a repair",
        "my bicycle is broken",
        "can you fix my bike",
        "I would like to bring my bike in for a service",
        "I have a puncture",
        "I have a flat tyre",
    ),
    "Thank you, {{ name }}. Your appointment is noted; we call {{ phoneNumber }} if anything changes.",
    (
        FieldCard("Bicycle", "choice", {
            "Question": "What kind of bicycle is it: city bike, e-bike, racing bike or child's bike?",
            CHOICES: "city\tcity bike\ttown bike, trekking bike\nelectric\te-bike\telectric bike, pedelec\n"
            "racing\tracing bike\troad bike\tracer\nchild\tchild's bike\tkids bike, children's bike",
        }),
        FieldCard("Problem", "text", {"Question": "What is wrong with it?"}),
        FieldCard("Day", "date", {
            "Question": "On which day can you bring it?", "On or after": "today", "On or before": "today+60d",
        }),
        FieldCard("Time", "time", {"Question": "At what time?", "On or after": "09:00", "On or before": "18:00"}),
        FieldCard("Name", "text", {"Question": "What is your name?"}),
        FieldCard("Phone number", "phone", {"Question": "What is your phone number?", "Country": "GB"}),
    ),
    (
        ("what does a repair cost\nhow much is a service\nwhat are your prices",
         "A service costs 45 pounds; a puncture 12."),
        ("how long does a repair take\nwhen will my bike be ready", "Most repairs are ready on the next day."),
    ),
    "Shall I book that?",
)  # fmt: skip
RENTAL = FlowPage(
    "Collect and confirm",
    "RENT_BICYCLE",
    "Rent bicycles",
    "Somebody wants to rent bicycles.",
    (
        "I want to rent a bike",
        "can we hire bicycles",
        "do you have rental bikes",
        "reserve hire bikes for the weekend",
    ),
    "Your {{ numberOfBicycles }} bicycles are reserved. We sent a note to {{ emailAddress }}.",
    (
        FieldCard("Number of bicycles", "number", {
            "Question": "How many bicycles do you need?", "At least": "1", "At most": "8",
        }),
        FieldCard("Start", "datetime", {
            "Question": "From when? Please give day and time.", "On or after": "now", "On or before": "today+90d",
        }),
        FieldCard("Duration", "duration", {"Question": "For how long?", "At least": "PT1H", "At most": "P2W"}),
        FieldCard("Helmets", "yes_no", {"Question": "Do you need helmets?"}),
        FieldCard("Email address", "email", {"Question": "What is your email address?"}),
    ),
    (("is there a deposit\nhow much is the deposit", "We keep 50 pounds for each bicycle until it is back."),),
)  # fmt: skip
PURCHASE = FlowPage(
    "Collect and confirm",
    "SELL_BICYCLE",
    "Sell us a bicycle",
    "Somebody wants to sell a used bicycle to the workshop.",
    ("I want to sell my bike", "do you buy used bicycles", "sell you my old bicycle", "trade in my bike"),
    "Thank you. We collect it at {{ postCode }} and pay £{{ price }} once we have seen it.",
    (
        FieldCard("Frame number", "pattern", {
            "Question": "What is the frame number? It has two letters and six digits.", "Pattern": "[A-Z]{2}[0-9]{6}",
        }),
        FieldCard("Price", "money", {
            "Question": "What price do you ask?", "Currency": "GBP", "At least": "20", "At most": "3000",
        }),
        FieldCard("Post code", "postcode", {"Question": "At which post code can we collect it?", "Country": "GB"}),
        FieldCard("IBAN", "iban", {"Question": "To which IBAN shall we pay?"}),
        FieldCard("Remark", "text", {"Question": "Is there anything else we should know?"}, is_optional=True),
    ),
)  # fmt: skip
PERSON = FlowPage(
    "Hand over to a person",
    "TALK_TO_MECHANIC",
    "Talk to a mechanic",
    "Somebody wants to talk to a person.",
    ("I want to talk to a mechanic", "let me speak to a person", "can I talk to somebody"),
    "One moment, a mechanic takes over.",
)
FLOWS = (REPAIR, RENTAL, PURCHASE, PERSON)
#: Cells that are pasted: questions, answer, name of the intent.
QUESTIONS = (
    (
        "What are your opening hours?|When are you open?|Are you open on Saturdays?",
        "We are open from 9 to 6.",
        "Opening hours",
    ),
    (
        "Where is your workshop?|What is your address?|How do I find you?",
        "You find us at 12 Mill Lane, beside the bridge.",
        "Address",
    ),
    (
        "Can I pay by card?|Which payment methods do you take?",
        "You can pay in cash, by card or by phone.",
        "Payment",
    ),
    (
        "Do you sell new bicycles?|Which brands do you sell?",
        "We sell no new bicycles, only used ones that we repaired.",
        "New bicycles",
    ),
    (
        "Is there a warranty?|How long is the guarantee?",
        "Each repair has a warranty of six months.",
        "Warranty",
    ),
    (
        "Do you have inner tubes and tyres?|Do you sell spare parts?",
        "We have most spare parts in stock.",
        "Spare parts",
    ),
)
EDITED = ("We are open from 9 to 6.", "We are open from 9 to 6, Monday to Saturday.")


def make_workshop(analyst: Visitor) -> dict[str, Any]:
    """Make all of it with the pages; the bundle that the page exports."""
    for flow in FLOWS:
        _start_flow(analyst, flow)
    _add_questions(analyst)
    _edit_answer(analyst)
    return _export(analyst)


def _start_flow(analyst: Visitor, flow: FlowPage) -> None:
    page = analyst.go("/admin/config_admin/ceintent/start/").page
    page.get_by_label(flow.kind).check()
    for label, text in (
        ("Code", flow.code),
        ("Name", flow.title),
        ("What users want here", flow.applies),
        ("Phrases", "\n".join(flow.phrases)),
    ):
        page.locator("section[aria-labelledby=words-title]").get_by_label(label).fill(text)
    for number, card in enumerate(flow.fields, 1):
        _add_field(analyst, number, card)
    if flow.fields:
        page.get_by_label("Language").select_option("en-GB")
    answers = page.locator("section[aria-labelledby=answers-title]")
    answers.get_by_label("Answer", exact=True).fill(flow.answer)
    if flow.confirmation:
        answers.get_by_label("Confirmation").fill(flow.confirmation)
    for number, (phrasings, answer) in enumerate(flow.questions, 1):
        page.get_by_role("button", name="Add a question").click()
        card = page.get_by_role("group", name=f"Question {number}", exact=True)
        card.get_by_label("Questions").fill(phrasings)
        card.get_by_label("Answer").fill(answer)
    page.get_by_label("Reason for this change").fill(f"{flow.title} in the chat")
    page.get_by_role("button", name="Create").click()
    page.wait_for_url(re.compile(f"{flow.code}/flow/"))


def _add_field(analyst: Visitor, number: int, field_card: FieldCard) -> None:
    page = analyst.page
    page.get_by_role("button", name="Add a field").click()
    card = page.get_by_role("group", name=re.compile(rf"^Field {number}\b"))
    card.get_by_role("textbox", name="Field", exact=True).fill(field_card.title)
    card.get_by_label("Type").select_option(field_card.type)
    if field_card.is_optional:
        card.get_by_label("Needed").select_option("no")
    for label, text in field_card.texts.items():
        if label == CHOICES:
            paste(card.get_by_label("Choice, row 1"), text)
        else:
            card.get_by_label(label, exact=True).fill(text)


def paste(cell: Locator, text: str) -> None:
    """Paste cells of a spreadsheet."""
    cell.evaluate(
        """(cell, text) => {
            const clipboardData = new DataTransfer();
            clipboardData.setData("text/plain", text);
            cell.dispatchEvent(new ClipboardEvent("paste", {clipboardData, bubbles: true, cancelable: true}));
        }""",
        text,
    )


def _add_questions(analyst: Visitor) -> None:
    cells = "\n".join("\t".join(line) for line in (("Questions", "Answer", "Intent name"), *QUESTIONS))
    page = analyst.go("/admin/config_admin/ceintent/faq/").page
    page.get_by_label("Cells of a spreadsheet").fill(cells)
    page.get_by_role("button", name="Preview").click()
    page.get_by_label("Reason for this change").fill("What customers ask most")
    page.get_by_role("button", name="Create", exact=True).click()
    page.wait_for_url(re.compile("/cerelease/"))


def _edit_answer(analyst: Visitor) -> None:
    old, new = EDITED
    analyst.open_response(old)
    analyst.page.locator("#id_exact_text").fill(new)
    analyst.save()


def _export(analyst: Visitor) -> dict[str, Any]:
    page = analyst.go("/admin/config_admin/cerelease/transfer/").page
    with page.expect_download() as download:
        page.get_by_role("button", name="Download JSON").click()
    bundle: dict[str, Any] = json.loads(Path(download.value.path()).read_text())
    return bundle


@contextmanager
def serve_empty(folder: Path) -> Iterator[Server]:
    """A deployment without any rows of an analyst, and an analyst."""
    password, port = secrets.token_urlsafe(12), find_free_port()
    environment = {
        **{name: value for name, value in os.environ.items() if name not in ("DATABASE_URL", "CE_TEST_DATABASE")},
        "CE_VAR_DIR": str(folder),
        "CE_DEBUG": "false",
        "CE_SECRET_KEY": secrets.token_urlsafe(64),
        "NEW_PASSWORD": password,
    }
    manage = [sys.executable, str(ROOT / "manage.py")]
    copy_migrated(folder / "convengine.sqlite3")
    subprocess.run([*manage, "shell", "-v0", "-c", _MAKE_USER], cwd=ROOT, env=environment, check=True)
    serve = ["serve", "--port", str(port), "--workers", "1", "--streams-port", "0", "--no-jobs"]
    with (folder / "log").open("w") as log:
        process = subprocess.Popen([*manage, *serve], cwd=ROOT, env=environment, stdout=log, stderr=log)
        try:
            url = f"http://127.0.0.1:{port}"
            wait_for_server(url, process, folder / "log")
            yield Server(url, "", {USER: password}, environment)
        finally:
            process.terminate()
            process.wait(20)


def main() -> None:
    """Make the workshop and write its bundle."""
    with tempfile.TemporaryDirectory() as folder, serve_empty(Path(folder)) as server, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=list(FLAGS))
        bundle = make_workshop(Visitor(server, browser.new_page()).sign_in(USER))
        browser.close()
    BUNDLE.write_text(json.dumps(bundle, indent=2, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
