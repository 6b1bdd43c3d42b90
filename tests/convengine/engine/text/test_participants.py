import time

import pytest

from convengine.engine.text.participants import LONGEST, MOST, has_all, list_local_terms, list_parts, list_terms
from tests.pace import allow


@pytest.mark.parametrize(
    ("participant", "typed"),
    [
        ("José.Núñez@example.com", "jose"),
        ("José.Núñez@example.com", "NUNEZ"),
        ("José.Núñez@example.com", "josé núñez"),
        ("José.Núñez@example.com", "unez exam"),
        ("Łukasz Żółć", "lukasz zolc"),
        ("Straße", "STRASSE"),
        ("4915112345678@s.whatsapp.net", "+49 151 1234 5678"),
        ("4915112345678@s.whatsapp.net", "0049 (151) 123-45678"),
        ("4915112345678@s.whatsapp.net", "0151/12345678"),
        ("+49 151 12345678", "5678"),
        ("+49 151 12345678", "15112345678"),
        ("user_42", "user 42"),
    ],
)
def test_people_are_found_as_they_are_typed(participant: str, typed: str) -> None:
    terms = list_terms(typed)

    assert has_all(participant, terms)
    assert any(part.startswith(terms[0]) for part in list_parts(participant))


def test_the_end_of_a_number_finds_one_that_is_stored_without_its_country() -> None:
    (term,) = list_local_terms("+49 151 12345678")

    assert any(part.startswith(term) for part in list_parts("0151 12345678"))
    assert list_local_terms("anna") == []


def test_a_long_name_has_a_limited_number_of_parts() -> None:
    parts = list_parts("a" * 200 + " " + "ab" * 50)

    assert len(parts) <= MOST
    assert max(map(len, parts)) <= LONGEST


@pytest.mark.parametrize("sign", ["1", " ", "("])
def test_a_long_number_is_read_once(sign: str) -> None:
    begun = time.process_time()
    list_terms(sign * 10_000 + "x")

    assert time.process_time() - begun < allow(0.2)
