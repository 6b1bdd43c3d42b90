"""Words: how texts are cut, what is wanted of them, and what the index of PostgreSQL keeps of them."""

import pytest
from django.db import connection

from audit.models import CeTurnText
from audit.search.query import MOST_BYTES, NoWords, TextQuery, distinct_words, turn_text
from audit.search.text_index import index_new_turns
from tests.audit.search.records import turn

pytestmark = pytest.mark.dialects


@pytest.mark.parametrize(
    ("wanted", "text", "fits"),
    [
        ("order", "My ORDER, please", True),
        ("order", "reorder", False),
        ("ord*", "My orders", True),
        ("order late", "late, my order", True),
        ('"late order"', "late, my order", False),
        ('"my order"', "late, my order!", True),
        ("A-1007", "order a-1007", True),
        ("A-1007", "1007 a", False),
        ("cafe", "Café", True),
        ("STRASSE", "Straße", True),
        ("straße", "Strasse", True),
        ('"lange strasse"', "Lange Straße 5", True),
        ("lodz", "Łódź", True),
        ("Ärger", "argerlich", False),
        ("заказ", "Где мой ЗАКАЗ?", True),
        ("l'amour", "L’Amour", True),
    ],
)
def test_a_text_fits_when_it_has_every_word(wanted: str, text: str, fits: bool) -> None:
    assert TextQuery.read(wanted).matches_text(text) is fits


@pytest.mark.parametrize("text", ["", "?!", "ab*", '""'])
def test_what_has_no_word_cannot_be_looked_for(text: str) -> None:
    with pytest.raises(NoWords):
        TextQuery.read(text)


def test_words_are_marked_where_they_stand() -> None:
    text = "Später: der CAFÉ-Besitzer der Gießerei"

    assert [text[start:end] for start, end in TextQuery.read("cafe besitz* spater giess*").find_spans(text)] == [
        "Später",
        "CAFÉ",
        "Besitzer",
        "Gießerei",
    ]


def test_answers_of_every_shape_are_said() -> None:
    assert turn_text("a", {"type": "TEXT", "value": "b"}) == "a\nb"
    assert turn_text(None, {"order": {"status": "late"}}) == '\n{"order":{"status":"late"}}'
    assert turn_text("a", None) == "a\n"


def test_an_enormous_text_keeps_as_many_words_as_an_index_takes() -> None:
    found = distinct_words(" ".join(f"word{number}" for number in range(100_000)))

    assert 10_000 < len(found) < 100_000
    assert sum(map(len, found)) <= MOST_BYTES


@pytest.mark.django_db
@pytest.mark.skipif(connection.vendor != "postgresql", reason="Words are indexed on PostgreSQL only.")
class TestTheIndex:
    def test_it_has_the_words_of_every_turn_once(self) -> None:
        made = [turn(number, user_input=text).pk for number, text in enumerate(("Late order", None, "\\' :* &"))]
        counts = [count for one in index_new_turns() for count in one.values()]

        assert sum(counts) == 3
        assert list(CeTurnText.objects.order_by("pk").values_list("pk", flat=True)) == made
        assert CeTurnText.objects.get(pk=made[0]).words == "'day' 'good' 'late' 'order'"
        assert not list(index_new_turns())

    @pytest.mark.usefixtures("changeable_turns")
    def test_what_becomes_of_a_text_becomes_of_its_words(self) -> None:
        erased, removed = turn(1, user_input="secret"), turn(2, user_input="secret")
        list(index_new_turns())
        type(erased).objects.filter(pk=erased.pk).update(user_input="")
        removed.delete()

        assert not CeTurnText.objects.exists()
