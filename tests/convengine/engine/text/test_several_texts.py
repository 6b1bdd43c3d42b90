from collections import Counter

import pytest

from convengine.engine.text.several_texts import select_text, split_texts


@pytest.mark.parametrize(
    ("template", "texts"),
    [
        ("Hello.\n", ("Hello.\n",)),
        ("Hello.\n{% or %}\nHi.\n", ("Hello.", "Hi.")),
        ("Hello.\r\n\r\n  {%- or -%}  \r\nHi.\nBye.", ("Hello.", "Hi.\nBye.")),
        ("Tea {% or %} coffee\n{% orange %}", ("Tea {% or %} coffee\n{% orange %}",)),
    ],
)
def test_a_line_divides_texts(template: str, texts: tuple[str, ...]) -> None:
    assert split_texts(template) == texts


def test_each_text_has_its_share_of_conversations() -> None:
    counts = Counter(select_text("a\n{% or %}\nb\n{% or %}\nc", str(number)) for number in range(3000))
    assert all(900 < counts[text] < 1100 for text in "abc")


def test_choices_of_several_templates_are_independent() -> None:
    pairs = Counter(
        (select_text("a\n{% or %}\nb", str(number)), select_text("c\n{% or %}\nd", str(number)))
        for number in range(2000)
    )
    assert all(400 < count < 600 for count in pairs.values())
    assert len(pairs) == 4
