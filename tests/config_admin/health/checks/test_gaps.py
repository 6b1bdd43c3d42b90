from config_admin.health.checks.gaps import find_answers_with_gaps
from convengine.server.interfaces.turn_reports import EmptyValue
from tests.builders import make_response
from tests.config_admin.health.run_check import run_check

ANSWER = make_response("Order {{ orderNumber }} is a {{ item }}.", response_id=4)


def gap(*names: str) -> EmptyValue:
    return EmptyValue("ce_response", 4, names, 1)


def test_an_answer_that_had_gaps_in_several_turns_is_told_with_its_names() -> None:
    gaps = [gap("item"), gap("item"), gap("orderNumber", "gone")]

    (finding,) = run_check(find_answers_with_gaps, ANSWER, empty_values=lambda: gaps)

    assert (finding.code, finding.row, finding.field) == ("ANSWER_WITH_GAPS", 4, "exact_text")
    assert "In 3 recent turns, item, orderNumber had no value" in finding.message


def test_one_gap_and_names_that_the_text_no_longer_has_are_no_finding() -> None:
    gaps = [gap("item"), gap("gone"), gap("gone")]

    assert run_check(find_answers_with_gaps, ANSWER, empty_values=lambda: gaps) == []
