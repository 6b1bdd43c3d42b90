"""Scanning SQL templates."""

import pytest

from config_admin.validation.sql import scan, writes


def test_parameters_identifiers_and_functions_are_found_outside_of_texts_and_comments() -> None:
    statement = scan(
        "SELECT lower(a), b::text, ':no', \"x:y\", f (1) /* :no */ -- ${no}\n"
        "FROM ${schema}.t WHERE c = :one AND d IN (:two) AND e = $q$ :no $q$"
    )
    assert statement.params == {"one", "two"}
    assert statement.identifiers == {"schema"}
    assert list(statement.functions) == ["lower", "f"]


def test_one_trailing_semicolon_is_left_out() -> None:
    assert scan("select 1 ;").tokens == scan("select 1").tokens


def test_a_comment_mark_inside_a_text_hides_nothing() -> None:
    assert writes(scan("select '--'; grant all on t to x"), keywords=(), allowed=(), blocked=()) != ""


@pytest.mark.parametrize("name", ["PG_SLEEP", '"pg_sleep"', "pg_catalog.pg_sleep"])
def test_a_function_is_recognised_however_it_is_written(name: str) -> None:
    assert "pg_sleep" in writes(scan(f"select {name}(1)"), keywords=(), allowed=(), blocked=())


def test_a_built_in_function_can_be_blocked() -> None:
    assert "replace" in writes(scan("select replace(a, b, c)"), keywords=(), allowed=(), blocked={"replace"})
