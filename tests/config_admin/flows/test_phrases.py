import pytest

from config_admin.flows.phrases import pattern
from convengine.engine.rules.patterns import compile_pattern


@pytest.mark.parametrize(
    ("phrase", "expected"),
    [
        ("I want to book a table", r"\bbook\b.*\btable\b"),
        ("What's it?", r"\bwhat's\b"),
        ("is it you", r"\bis\b.*\bit\b.*\byou\b"),
        ("c++ (help)", r"\bc\b.*\bhelp\b"),
        ("ça va très bien", r"(?:^|\W)ça\b.*\bva\b.*\btrès\b.*\bbien\b"),
        ("été à öl", r"(?:^|\W)été\W(?:.*\W)?à\W(?:.*\W)?öl\b"),
        ("*", r"\*"),
        ("😀", "😀"),
    ],
)
def test_a_phrase_is_known_by_its_telling_words(phrase: str, expected: str) -> None:
    assert pattern(phrase) == expected


@pytest.mark.parametrize(
    "phrase", ["ça va", "été foo", "foo été", "отменить мой заказ", "नमस्ते मित्र", "取消 订单", "öl über", "مُحَمَّد"]
)
def test_a_phrase_is_found_in_a_message_with_it_whatever_its_letters(phrase: str) -> None:
    found = compile_pattern(pattern(phrase))
    assert found.occurs_in(phrase)
    assert found.occurs_in(f"so: {phrase}!")
    assert not found.occurs_in("something else")
