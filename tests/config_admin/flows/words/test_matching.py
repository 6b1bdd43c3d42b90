"""Occurrences of a word, what is written instead, and where taking it out leaves a hole."""

import pytest

from config_admin.flows.words.matching import SoughtWord

BIKE = SoughtWord("bike")


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("Bring your bike to us.", 1),
        ("Bike or BIKE", 2),
        ("an e-bike, the bike's bell", 2),
        ("bikes, biker, motorbike", 0),
        (r"\bbike\b or \w+bike", 2),
        ("BIKE_REPAIR, bike2, bike_id", 0),
        ("{{ bike }} and {% if bike %}x{% endif %}", 2),
        ("", 0),
    ],
)
def test_a_whole_word_is_found_whatever_its_capitals(text: str, count: int) -> None:
    assert len(BIKE.list_spans(text)) == count


def test_it_may_count_inside_other_words() -> None:
    assert len(SoughtWord("bike", inside=True).list_spans("bikes, Motorbike, BIKE_REPAIR")) == 3
    assert len(SoughtWord("city bike").list_spans("a City\n bike")) == 1
    assert len(SoughtWord("c++ (new)").list_spans("learn C++ (new) today")) == 1


@pytest.mark.parametrize(
    ("word", "new", "text", "replaced"),
    [
        ("bike", "bicycle", "Bike? Your bike, BIKE!", "Bicycle? Your bicycle, BICYCLE!"),
        ("bike", "bicycle", "{{ bike }} is your bike", "{{ bike }} is your bicycle"),
        ("bike", "bicycle", "{% if bike %}A bike{# bike #}{% endif %}", "{% if bike %}A bicycle{# bike #}{% endif %}"),
        ("Fahrrad", "Rad", "Ihr Fahrrad, FAHRRAD, fahrrad, Fahrradladen", "Ihr Rad, RAD, rad, Fahrradladen"),
        ("Rad", "E-Bike", "Das Rad. rad", "Das E-Bike. e-Bike"),
        ("über", "unter", "Über uns, über euch", "Unter uns, unter euch"),
        ("bike", r"\1 $0 {{ x }}", "my bike", r"my \1 $0 {{ x }}"),
    ],
)  # fmt: skip
def test_another_word_takes_its_capitals_and_nothing_computed_changes(
    word: str, new: str, text: str, replaced: str
) -> None:
    assert SoughtWord(word).replace(text, new) == replaced


@pytest.mark.parametrize(
    ("text", "left", "holes"),
    [
        ("Bring your bike to us. Thank you.", "Bring your bike to us. Thank you.", ["Bring your […] to us."]),
        ("Cars, bikes and bike.", "Cars, bikes and bike.", ["Cars, bikes and […]."]),
        ("We mend cars, bike, and boats.", "We mend cars, and boats.", []),
        ("Two wheels (bike) only. Your bike?", "Two wheels only. Your bike?", ["Your […]?"]),
        ("Wir reparieren „Bike“ und Auto.", "Wir reparieren und Auto.", []),
        ("Bike", "Bike", ["[…]"]),
        ("bike, bike", "bike, bike", ["[…], […]"]),
        ("{{ bike }}", "{{ bike }}", []),
        ("Bikes only", "Bikes only", []),
    ],
)
def test_it_is_taken_out_only_where_signs_enclose_it(text: str, left: str, holes: list[str]) -> None:
    assert BIKE.take_out(text) == left
    assert list(BIKE.list_holes(text)) == holes
