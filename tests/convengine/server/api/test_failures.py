import re
from pathlib import Path

from drf_spectacular.generators import SchemaGenerator

from convengine.server.api.failures import list_error_codes, list_failures, list_turn_failures

MANUAL = Path(__file__).resolve().parents[4] / "docs/api.md"


def test_the_manual_lists_every_failure_with_its_status() -> None:
    rows = re.findall(r"^\| (\d{3}) \| (yes|no) \| (`.+`) \|$", MANUAL.read_text(), re.MULTILINE)
    listed = [(status, again, code) for status, again, codes in rows for code in codes.strip("`").split("`, `")]

    assert listed == sorted((str(f.status), "yes" if f.recoverable else "no", f.code) for f in list_failures())


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
