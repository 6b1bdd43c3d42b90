"""A pattern is made from examples, and told in words."""

import pytest
from django.test import Client

from config_admin.flows.examples import derive_pattern, describe_pattern
from config_admin.flows.reading import read_flow
from config_admin.releases.active import snapshots
from convengine.engine.rules.patterns import compile_pattern
from tests.config_admin.flows.test_page import send

EXAMPLES = [
    (["HX-20931", "AB-10077"], "[A-Z]{2}-[0-9]{5}", "2 capital letters, “-”, 5 digits"),
    (["A1", "B22"], "[A-Z][0-9]{1,2}", "1 capital letter, 1 to 2 digits"),
    (["Ab-12", "AB-12"], "[A-Za-z]{2}-[0-9]{2}", "2 letters, “-”, 2 digits"),
    (
        ["12 AB", "AB 12"],
        "[A-Z0-9]{2} [A-Z0-9]{2}",
        "2 capital letters or digits, a blank, 2 capital letters or digits",
    ),
    (["(1.5)", "(2.0)"], r"\([0-9]\.[0-9]\)", "“(”, 1 digit, “.”, 1 digit, “)”"),
    (["A-1", "12/7"], "[A-Z]-[0-9]|[0-9]{2}/[0-9]", "1 capital letter, “-”, 1 digit or 2 digits, “/”, 1 digit"),
    (["ÄÖ-1"], r"\p{L}{2}-[0-9]", "2 letters of any language, “-”, 1 digit"),
    (["a_1|b"], r"[a-z]_[0-9]\|[a-z]", "1 small letter, “_”, 1 digit, “|”, 1 small letter"),
    ([" ", ""], "", ""),
]


@pytest.mark.parametrize(("examples", "pattern", "words"), EXAMPLES)
def test_examples_make_the_narrowest_pattern_that_they_fit(examples: list[str], pattern: str, words: str) -> None:
    assert (derive_pattern(examples), describe_pattern(pattern)) == (pattern, words)
    assert all(compile_pattern(pattern, ignore_case=False).fits(each) for each in examples if pattern)
    assert describe_pattern(f"^(?:{pattern})$" if "|" in pattern else f"^{pattern}$") == words


@pytest.mark.parametrize("pattern", ["[A-Z]+x", "(?i)ab", r"\bA"])
def test_other_patterns_have_no_words(pattern: str) -> None:
    assert describe_pattern(pattern) == ""


CODE = {
    "field-0-title": "Order number", "field-0-type": "pattern", "field-0-examples": "HX-20931, AB-10077",
    "field-1-DELETE": "on",
}  # fmt: skip


@pytest.mark.django_db
def test_the_page_makes_the_pattern_from_examples_and_tries_a_value(ben: Client) -> None:
    text = send(ben, _check="1", **CODE, **{"field-0-tried": "hx-1"}).content.decode()
    saved = send(ben, **CODE, _save="1", reason="orders")

    assert "Like this: 2 capital letters, “-”, 5 digits." in text
    assert "“hx-1” does not fit." in text
    assert saved.status_code == 302, saved.context["problems"]
    reading = read_flow(snapshots.current(), "BOOK_TABLE")
    assert reading is not None
    assert reading.document["fields"] == [
        {
            "name": "orderNumber", "title": "Order number", "type": "pattern",
            "examples": ["HX-20931", "AB-10077"], "pattern": "^[A-Z]{2}-[0-9]{5}$",
        }
    ]  # fmt: skip


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("values", "problem"),
    [
        ({"field-0-pattern": "[A-Z]{2}-[0-9]{4}"}, "“HX-20931” does not fit the pattern."),
        ({"field-0-examples": ""}, "Enter examples, or a pattern."),
    ],
)
def test_a_pattern_that_examples_do_not_fit_is_refused(ben: Client, values: dict[str, str], problem: str) -> None:
    assert problem in send(ben, **CODE | values).content.decode()
