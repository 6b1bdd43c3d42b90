import pytest

from convengine.engine.forms.extract.other_subject import is_of_other_subject
from convengine.engine.forms.extract.reading import Reading
from convengine.engine.forms.form import Form

FORM = Form(
    {
        "type": "object",
        "properties": {
            "day": {"type": "string", "format": "date"},
            "contractEnd": {"type": "string", "format": "date"},
            "email": {"type": "string", "format": "email"},
            "plan": {"type": "string", "enum": ["Solo"]},
            "currentPlan": {"type": "string", "enum": ["Solo"]},
            "newAddress": {"type": "string"},
            "address": {"type": "string"},
            "orderNumber": {"type": "string"},
            "zipCode": {"type": "string"},
        },
    }
)


@pytest.mark.parametrize(
    ("message", "name", "expected"),
    [
        ("it ends on [2027-03-01]", "day", True),
        ("it ends on [2027-03-01]", "contractEnd", False),
        ("born [1980-03-01]", "day", True),
        ("the invoice of [2027-03-01]", "day", True),
        ("on [2027-03-01]", "day", False),
        ("your colleague [a@example.org]", "email", True),
        ("your reply to [a@example.org]", "email", False),
        ("[a@example.org] said so", "email", True),
        ("i am currently on [solo]", "plan", True),
        ("i am currently on [solo]", "currentPlan", False),
        ("i have [solo] at the moment", "plan", True),
        ("i would like to have [solo]", "plan", False),
        ("i live at [5 oak street]", "newAddress", True),
        ("i live at [5 oak street]", "address", False),
        ("i will live at [5 oak street]", "newAddress", False),
        ("to my old flat, [5 oak street]", "newAddress", True),
        ("not my old flat, [5 oak street] is it", "newAddress", False),
        ("my zip code is [90210]", "orderNumber", True),
        ("my zip code is [90210]", "zipCode", False),
        ("[12900] euros", "orderNumber", True),
        ("it cost [12900]", "orderNumber", True),
        ("cancel [12900]", "orderNumber", False),
    ],
)
def test_what_the_words_give_to_something_else(message: str, name: str, expected: bool) -> None:
    start, end = message.index("["), message.index("]") - 1
    field = FORM.field(name)
    assert field is not None

    assert is_of_other_subject(Reading(message.replace("[", "").replace("]", "")), field, start, end) is expected
