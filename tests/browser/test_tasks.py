"""Four tasks for somebody who has never seen the product, played as the manual tells them, which shows the pictures."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.conftest import Visitor
from tests.browser.pictures import ROOT, WRITES, picture

pytestmark = [pytest.mark.browser, pytest.mark.long]

MANUAL = ROOT / "docs" / "first_hour_analyst.md"
TASKS = {
    "collect": "Make an intent that collects two fields and confirms",
    "why": "Find out why a sentence went to the wrong intent",
    "swap": "Swap the priority of two rules",
    "undo": "Undo yesterday's change",
}


class Guide:
    """Whoever plays a task. The manual tells each step in the words given here, with a picture of the page after it."""

    def __init__(self, visitor: Visitor, task: str) -> None:
        self.visitor, self.page, self.task = visitor, visitor.page, task
        self.page.set_viewport_size({"width": 1360, "height": 850})
        self.steps: list[str] = []

    def did(self, words: str, shows: Locator | None = None) -> None:
        """End a step, with `shows` in sight."""
        number = len(self.steps) + 1
        file = picture(self.page, f"tasks/{self.task}-{number}", shows)
        self.steps.append(f"{number}. {words}\n\n   ![After step {number}](../static/docs/tasks/{file.name})\n\n")

    def check_manual(self) -> None:
        """The manual tells these steps under the heading of the task, and no others."""
        begin = f"## {TASKS[self.task]}\n\n"
        before, _, rest = MANUAL.read_text().partition(begin)
        told, heading, after = rest.partition("## ")
        if WRITES:
            MANUAL.write_text(f"{before}{begin}{''.join(self.steps)}{heading}{after}".rstrip() + "\n")
        else:
            assert told.split() == "".join(self.steps).split()

    def fill(self, **fields: str) -> None:
        """Fill in fields by their ids."""
        for name, value in fields.items():
            field = self.page.locator(f"#id_{name}")
            if field.evaluate("one => one.tagName") == "SELECT":
                field.select_option(value)
            else:
                field.fill(value)

    def save(self, reason: str) -> None:
        """Give the reason, and save; a warning is confirmed once."""
        self.page.get_by_label("Reason for this change").fill(reason)
        self.visitor.save()
        anyway = self.page.get_by_label("Save anyway")
        if anyway.count():
            anyway.check()
            self.visitor.save()


@pytest.fixture
def analyst(somebody: Callable[[], Visitor]) -> Visitor:
    return somebody().log_in("analyst")


def test_an_intent_that_collects_two_fields_and_confirms(analyst: Visitor) -> None:
    guide, page = Guide(analyst, "collect"), analyst.page
    page.get_by_role("link", name="Intents", exact=True).first.click()
    page.get_by_role("link", name="Add intent").click()
    guide.fill(intent_code="BOOK_TABLE", display_name="Book a table", description="A guest wants a table.")
    guide.did("Open **Intents**, press **+**, and enter a code and a description.")

    guide.save("guests ask for tables")
    expect(page.get_by_text("No phrases yet. Add one first.")).to_be_visible()
    guide.did("Enter a reason and save. The workspace of the intent opens.")

    add(guide, "Phrases")
    guide.fill(rule_type="REGEX", pattern=r"\b(book|reserve)\b.*\btable\b", state_code="COLLECT")
    guide.did("At **Phrases**, press **Add**. Enter the words that lead to the intent, and its first state.")
    guide.save("what guests write")

    add(guide, "Form")
    guide.fill(state_code="ANY")
    field(guide, "guests", "integer")
    field(guide, "name", "string")
    guide.did("At **Form**, add two required fields.", page.get_by_label("Type of name"))
    guide.save("what we must know")

    answer(guide, "COLLECT", "For how many guests, and in which name?")
    guide.did("At **Answers**, add the question for the state `COLLECT`, which collects the data.")
    guide.save("ask for the data")

    add(guide, "Rules", "a rule after data collection")
    guide.fill(
        state_code="COLLECT", rule_type="JSON_PATH", match_pattern="$[?(@.schemaComplete == true)]",
        action="SET_STATE", action_value="CONFIRM",
    )  # fmt: skip
    expect(page.locator("#ce-sentence")).to_have_text(
        "When the form of BOOK_TABLE is complete in state COLLECT, set state to CONFIRM."
    )
    guide.did(
        "At **Rules**, press **Add a rule after data collection**. The sentence above the form describes your rule."
    )
    guide.save("ask for confirmation when the form is complete")

    answer(guide, "CONFIRM", "A table for {{ guests }}, in the name of {{ name }}. Shall I book it?")
    guide.save("ask for confirmation")
    add(guide, "Rules", "a rule after the dialogue act")
    guide.fill(
        state_code="CONFIRM", rule_type="EXACT", match_target="DIALOGUE_ACT", match_pattern="AFFIRM",
        action="SET_STATE", action_value="DONE",
    )  # fmt: skip
    guide.did(
        "Add the confirmation question for `CONFIRM`. Press **Add a rule after the dialogue act**, and let a yes set "
        "the state to `DONE`."
    )
    guide.save("a yes books")
    answer(guide, "DONE", "Your table is booked, {{ name }}.")
    guide.save("say that it is booked")
    guide.did("Add the last answer. The page no longer reports missing answers.")

    page.get_by_role("link", name="Try a conversation").first.click()
    for text in ("I would like to book a table", "4 guests, name: Anna", "yes please"):
        guide.visitor.say(text)
    expect(page.locator("#last")).to_contain_text("Your table is booked, Anna.")
    guide.did("Press **Try a conversation** and write as a guest.")
    guide.check_manual()


def add(guide: Guide, section: str, what: str = "") -> None:
    """Press Add in a section of the workspace."""
    words = f"Add {what} to {section}".replace("  ", " ")
    guide.page.get_by_role("link", name=words, exact=True).click()
    guide.page.get_by_label("Reason for this change").wait_for()


def field(guide: Guide, name: str, kind: str) -> None:
    """Add a required field to the table of a schema."""
    page = guide.page
    page.get_by_role("button", name="Add a field").click()
    page.keyboard.type(name)
    page.keyboard.press("Tab")
    page.get_by_label(f"Type of {name}", exact=True).select_option(kind)
    page.get_by_label(f"Required of {name}", exact=True).check()


def answer(guide: Guide, state: str, text: str) -> None:
    """Fill in an answer as it is written."""
    add(guide, "Answers")
    guide.fill(state_code=state, response_type="EXACT", exact_text=text)


def test_why_a_sentence_went_to_the_wrong_intent(analyst: Visitor) -> None:
    guide, page = Guide(analyst, "why"), analyst.page
    asked = "Where is the bill of my order?"
    page.get_by_role("link", name="Try & test").first.click()
    guide.visitor.say(asked)
    expect(page.locator("#last")).to_contain_text("Track an order")
    guide.did("Open **Try & test** and send the sentence. The page shows which phrase decided.")

    page.locator(".ce-account").get_by_role("link", name=re.compile("^phrase")).first.click()
    box = page.locator(".ce-try").first
    box.locator("summary").click()
    box.get_by_label("Message").fill(asked)
    box.get_by_label("Message").press("Enter")
    expect(box).to_contain_text("The message leads to ORDER_STATUS.")
    guide.did("Click the phrase. **Preview** below the pattern shows the result, and what else matches.", box)

    page.get_by_role("link", name="Intents", exact=True).first.click()
    page.get_by_role("link", name="Understanding the bill").click()
    add(guide, "Phrases")
    guide.fill(rule_type="PHRASE", pattern="where is the bill of my order", state_code="IDLE")
    guide.did("Open the right intent, and add a phrase as users type it.")
    guide.save("questions about bills went to the tracking of orders")

    page.get_by_role("link", name="Try a conversation").first.click()
    guide.visitor.say(asked)
    expect(page.locator("#last")).to_contain_text("Understanding the bill")
    guide.did("Send the sentence again. It leads to the right intent.")
    guide.check_manual()


def test_the_priority_of_two_rules_is_swapped(analyst: Visitor) -> None:
    guide, page = Guide(analyst, "swap"), analyst.page
    first, second = "set state to COLLECT.", "clear orderNumber."
    page.get_by_role("link", name="Intents", exact=True).first.click()
    page.get_by_role("link", name="Cancel an order").click()
    rows = page.get_by_role("row").filter(has_text="order.found")
    expect(rows.nth(0)).to_contain_text(first)
    guide.did(
        "Open the intent. Its rules are listed in the order in which they are evaluated. "
        "A lower priority number comes first.",
        rows.nth(1),
    )

    for words, priority in ((first, "30"), (second, "20")):
        row = rows.filter(has_text=words)
        row.get_by_role("button", name="Edit here").click()
        form = page.frame_locator("iframe.ce-frame")
        form.locator("#id_priority").fill(priority)
        form.locator("#id_priority").scroll_into_view_if_needed()
        if words == first:
            guide.did(
                "Press **Edit here** at the first rule. Enter the priority of the second rule and a reason, and save."
            )
        form.get_by_label("Reason for this change").fill("first forget, then go back")
        with page.expect_navigation():
            form.get_by_role("button", name="Save", exact=True).click()
    expect(rows.nth(0)).to_contain_text(second)
    guide.did(
        "Give the second rule the priority of the first. The page shows the new order.",
        rows.nth(1),
    )
    guide.check_manual()


def test_yesterdays_change_is_undone(somebody: Callable[[], Visitor]) -> None:
    guide = Guide(somebody().log_in("admin"), "undo")
    page = guide.page
    guide.visitor.open_response("shop is open")
    changed = page.url
    as_it_was = page.locator("#id_exact_text").input_value()
    guide.fill(exact_text="We are closed for good.")
    guide.save("closing time, as I heard")

    page.get_by_role("link", name="Releases", exact=True).first.click()
    row = page.get_by_role("row").filter(has_text="closing time, as I heard")
    guide.did(
        "Open **Releases**. It lists each change with its author, time and reason. "
        "Open the change that you want to undo.",
        row,
    )
    row.get_by_role("link").first.click()
    guide.did("The page shows the values before and after the change. Press **Undo only this release**.")
    page.get_by_role("link", name="Undo only this release").click()
    page.get_by_label("Reason for this change").fill("the shop stays open")
    guide.did("Check the changes, enter a reason, and confirm. Later changes are kept.")
    with page.expect_navigation():
        page.locator("button.ce-button-main").click()
    guide.did(
        "A new release restores the old text. Conversations that are open "
        "[move to it](drafts.md#conversations-that-are-open) with their next message, unless `Releases/RUNNING` delays "
        "this. The history shows both releases."
    )

    guide.visitor.go(changed.removeprefix(guide.visitor.server.url))
    assert page.locator("#id_exact_text").input_value() == as_it_was
    guide.check_manual()
