from drf_spectacular.generators import SchemaGenerator

from config_admin.manual import reference
from config_admin.manual.vocabulary import ERRORS
from convengine.server.api.failures import list_error_codes, list_failures, list_turn_failures


def test_the_reference_has_every_failure_with_its_status() -> None:
    facts = {entry.name: dict(entry.facts) for entry in reference.chapters()[ERRORS].entries}

    for failure in list_failures():
        assert str(failure.status) in facts[failure.code]["Status"].split(", ")
        assert facts[failure.code]["May succeed when tried again"] == ("yes" if failure.recoverable else "no")


def test_a_code_stands_for_one_status() -> None:
    codes = [failure.code for failure in list_turn_failures()]

    assert len(codes) == len(set(codes))


def test_the_description_of_the_api_names_them_all() -> None:
    schema = SchemaGenerator().get_schema(request=None, public=True)
    answers = schema["paths"]["/api/v1/conversation/message"]["post"]["responses"]

    for failure in list_turn_failures():
        assert f"`{failure.code}`" in answers[str(failure.status)]["description"]


def test_the_meaning_of_a_code_with_several_statuses_is_that_of_the_lowest() -> None:
    # The failures come from a set, whose order differs from process to process.
    assert dict(list_error_codes())["VALIDATION_ERROR"] == "The request is not valid."


def test_each_failure_that_a_caller_cannot_mend_says_what_to_do() -> None:
    inside = [each for each in list_turn_failures() if each.status >= 500]
    silent = {each.code for each in inside if ". " not in each.meaning and not each.remedy}

    # Each of them ends with “please try again”.
    assert silent == {"LLM_CALL_FAILED", "LLM_CIRCUIT_OPEN", "LLM_OVERLOADED", "LLM_TIMEOUT"}
