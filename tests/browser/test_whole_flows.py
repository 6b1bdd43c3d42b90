"""Two whole flows in a real browser, made with their page alone and talked to before they are saved."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.axe import no_violations
from tests.browser.conftest import Visitor

pytestmark = pytest.mark.browser
SCREENS = pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])


def add_field(page: Page, title: str, kind: str, question: str = "") -> Locator:
    """Fill in the last card, or a new one, and give it."""
    cards = page.locator("[data-rows=field] [data-row]:visible")
    if cards.last.get_by_role("textbox", name="Field", exact=True).input_value():
        page.get_by_role("button", name="Add a field").click()
    card = cards.nth(cards.count() - 1)
    card.get_by_role("textbox", name="Field", exact=True).fill(title)
    card.get_by_label("Type").select_option(kind)
    card.get_by_role("textbox", name="Question", exact=True).fill(question)
    return card


def ask_only_if(card: Locator, title: str, value: str, operator: str = "=") -> None:
    card.locator("summary", has_text="Ask only if").click()
    card.get_by_label("Ask only if").fill(title)
    card.get_by_label("Is or is not").select_option(operator)
    card.get_by_label("Value", exact=True).fill(value)


def begin(visitor: Visitor, name: str, phrases: str) -> Page:
    page = visitor.go("/admin/config_admin/ceintent/start/?kind=collect").tab
    page.locator("#id_title").fill(name)
    page.locator("#id_phrases").fill(phrases)
    return page


@SCREENS
def test_a_damage_is_reported(somebody: Callable[[], Visitor], width: int, scheme: str) -> None:
    ben = somebody().log_in("analyst").at(width, scheme)
    page = begin(ben, f"Report a damage {scheme}", f"I want to report a {scheme} damage\nmy {scheme} pram broke")
    story = add_field(page, "What happened?", "text")
    story.get_by_role("button", name="Long text").click()
    expect(story.get_by_label("Type")).to_have_value("long_text")
    expect(story.get_by_text("the whole answer is stored as typed")).to_be_visible()
    number = add_field(page, "Policy number", "pattern")
    number.get_by_label("Like these examples").fill("HX-20931, AB-10077")
    number.get_by_label("Try a value").fill("HX-2")
    expect(number.get_by_text("Like this: 2 capital letters, “-”, 5 digits.")).to_be_visible()
    expect(number.get_by_text("“HX-2” does not fit.")).to_be_visible()
    add_field(page, "Somebody else involved", "yes_no", "Was anybody else involved?")
    other = add_field(page, "Other person's name", "short_text", "What is the name?")
    ask_only_if(other, "somebody else involved", "yes")
    answer = page.get_by_label("Answer", exact=True)
    answer.fill("Thank you. We write to ")
    page.locator("#id_answer ~ [data-advice]").get_by_role("button", name="Other person's name").click()
    expect(answer).to_have_value("Thank you. We write to {{ otherPersonsName }}")

    told = "Somebody drove into my pram yesterday in front of the bakery and did not stop"
    for text in (f"I want to report a {scheme} damage", told, "HX-20931"):
        ben.say(text)
    talk = page.get_by_role("complementary", name="Talk to this flow")
    expect(talk.locator("#last")).to_contain_text("Was anybody else involved?")
    ben.say("no")
    expect(talk.locator("#last")).to_contain_text(f"What happened: {told}")
    number.get_by_role("textbox", name="Field", exact=True).fill("Number of the policy")
    answer.fill("Thank you. We write to {{ Other persons name }}")
    page.get_by_role("button", name="Preview").click()
    expect(page.get_by_role("alert").first).to_contain_text("Did you mean Other person's name?")
    no_violations(page)
    assert ben.fits
    answer.fill("Thank you. We write to {{ other person's name }}.")
    page.get_by_label("Reason for this change").fill("damages")
    with page.expect_navigation():
        page.get_by_role("button", name="Create").click()
    for text in (f"my {scheme} pram broke", told, "AB-10077", "yes", "My name is Ann Hill, please", "yes"):
        ben.say(text)
    expect(talk.locator("#last")).to_contain_text("We write to Ann Hill.")


@SCREENS
def test_a_pet_stays(somebody: Callable[[], Visitor], width: int, scheme: str) -> None:
    ben = somebody().log_in("analyst").at(width, scheme)
    page = begin(ben, f"Stay of a {scheme} pet", f"a {scheme} place for my pet\nmy {scheme} pet needs a bed")
    pet = add_field(page, "Kind of pet", "choice")
    pet.get_by_label("Choice, row 1").fill("cat")
    pet.get_by_label("Choice, row 2").fill("dog")
    breed = add_field(page, "Breed", "short_text", "Which breed is the dog?")
    ask_only_if(breed, "Kind of pet", "dgo")
    name = add_field(page, "Pet's name", "short_text")
    name.locator("summary", has_text="Other names").click()
    name.get_by_label("Other names").fill("called, name of the animal")
    add_field(page, "First day", "date", "From which day?")
    add_field(page, "Special diet", "long_text", "What does {{ Pet's name }} eat?")

    page.get_by_label("Your message").fill(f"a {scheme} place for my pet")
    page.get_by_label("Your message").press("Enter")
    talk = page.get_by_role("complementary", name="Talk to this flow")
    expect(talk.get_by_role("alert")).to_contain_text("“Kind of pet” has no choice “dgo”. Did you mean dog?")
    breed.get_by_label("Value", exact=True).fill("dog")
    talk.get_by_role("button", name="Play again").click()
    expect(talk.locator("#last")).to_contain_text("cat")
    for text in ("cat", "Minka", "16 March 2031"):
        ben.say(text)
    expect(talk.locator("#last")).to_contain_text("What does Minka eat?")
    ben.say("Dry food in the morning, and please nothing with fish after 6pm")
    expect(talk.locator("#last")).to_contain_text("Dry food in the morning, and please nothing with fish after 6pm")
    talk.get_by_role("button", name="Remove from here (turn 2)").click()
    expect(talk.locator("[data-turn]")).to_have_count(1)
    ben.say("a dog")
    expect(talk.locator("#last")).to_contain_text("Which breed is the dog?")
    no_violations(page)
    assert ben.fits
    with page.expect_popup() as popup:
        talk.get_by_role("button", name="Make a test").click()
    expect(popup.value.get_by_text("a dog").first).to_be_visible()
    page.get_by_label("Reason for this change").fill("pets")
    with page.expect_navigation():
        page.get_by_role("button", name="Create").click()
    expect(page).to_have_url(re.compile("/flow/"))
