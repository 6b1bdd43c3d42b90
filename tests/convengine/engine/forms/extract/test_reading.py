import pytest

from convengine.engine.forms.extract.reading import Reading


def at(reading: Reading, part: str) -> tuple[int, int]:
    start = reading.text.index(part)
    return start, start + len(part)


@pytest.mark.parametrize(
    ("message", "part", "typed"),
    [
        ("Ich will nach ZÜRICH!", "zurich", "ZÜRICH"),
        ("Zu\u0308rich", "zurich", "Zu\u0308rich"),
        ("a\u200bb c", "ab", "a\u200bb"),
        ("ﬁne day", "fine", "ﬁne"),
        ("İzmir", "izmir", "İzmir"),
        ("don’t", "don't", "don’t"),
    ],
)
def test_every_part_leads_back_to_what_was_typed(message: str, part: str, typed: str) -> None:
    reading = Reading(message)
    start, end = at(reading, part)

    assert reading.quote(start, end) == typed
    first, last = reading.span(start, end)
    assert message[first:last] == typed
    assert reading.to_text_position(first) == start


@pytest.mark.parametrize(
    ("message", "denied"),
    [
        ("not dallas", True),
        ("I don't live in dallas", True),
        ("anything but dallas", True),
        ("dallas isn't it", True),
        ("dallas is wrong", True),
        ("no dallas", True),
        ("no, dallas", False),
        ("not irving but dallas", False),
        ("I do not have much time so please bring it to dallas", False),
        ("dallas, not irving", False),
        ("nothing but dallas", False),
    ],
)
def test_what_is_denied(message: str, denied: bool) -> None:
    reading = Reading(message)

    assert reading.is_denied(*at(reading, "dallas")) is denied


@pytest.mark.parametrize(
    ("message", "is_question"),
    [
        ("is dallas possible?", True),
        ("which is cheaper, dallas", True),
        ("can you ship to dallas?", False),
        ("dallas please?", False),
        ("what about dallas?", False),
        ("where are you? i am in dallas.", False),
        ("i am in dallas", False),
    ],
)
def test_what_is_only_asked_about(message: str, is_question: bool) -> None:
    reading = Reading(message)

    assert reading.is_question(at(reading, "dallas")[0]) is is_question


@pytest.mark.parametrize(
    ("message", "shouting"),
    [("WE LIVE IN DALLAS", True), ("we live here", True), ("We live here. I do.", True), ("We live in Dallas", False)],
)
def test_capitals_tell_something_or_nothing(message: str, shouting: bool) -> None:
    assert Reading(message).is_shouting is shouting


def test_what_is_inside_an_address_or_a_time_is_nothing_by_itself() -> None:
    reading = Reading("dallas@example.org at 10:30, good morning, dallas")

    assert reading.touches_structure(*at(reading, "dallas"))
    assert reading.touches_structure(*at(reading, "30"))
    assert reading.touches_structure(*at(reading, "morning"))
    assert not reading.touches_structure(reading.text.rindex("dallas"), len(reading.text))


def test_the_word_behind_is_looked_for_in_the_same_breath() -> None:
    reading = Reading("24 months, 5")

    word = reading.word_after(2)
    assert word is not None
    assert word.group(1) == "months"
    assert reading.word_after(9) is None
