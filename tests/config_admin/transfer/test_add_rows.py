import pytest

from config_admin.models import CeIntent, CeRelease, CeResponse
from config_admin.transfer.add_rows import AddedRows, ImportRefused, add_rows

pytestmark = pytest.mark.django_db
ROW = {"intent_code": "UNKNOWN", "state_code": "IDLE", "response_type": "EXACT"}


def bring(*rows: dict[str, str]) -> AddedRows:
    return add_rows({"ce_response": [{**ROW, **row} for row in rows]}, author="ada", reason="from elsewhere")


def test_older_template_forms_come_in_as_jinja_and_are_told() -> None:
    done = bring({"exact_text": "Hi [(${name})]"}, {"exact_text": "Bye {{ name }}"})

    row = CeResponse.objects.get(exact_text="Hi {{ name }}")
    assert done.rows == 2
    assert {key: [tuple(one) for one in found] for key, found in done.conversions.items()} == {
        ("ce_response", row.pk): [("exact_text", "[(${name})]", "{{ name }}")]
    }


def test_one_that_cannot_be_converted_is_refused_with_all_the_others() -> None:
    before = CeRelease.objects.count()
    with pytest.raises(ImportRefused, match="This template is not valid"):
        bring({"exact_text": "Fine."}, {"exact_text": "#{T(java.lang.Runtime)}"})

    assert not CeResponse.objects.filter(exact_text="Fine.").exists()
    assert CeRelease.objects.count() == before


def test_a_row_of_a_name_that_is_there_is_not_changed() -> None:
    CeIntent.objects.create(intent_code="LOAN", description="Mine.")
    intent = {"intent_code": "LOAN", "description": "Theirs."}
    with pytest.raises(ImportRefused, match="Row LOAN already has this name"):
        add_rows({"ce_intent": [intent]}, author="ada", reason="from elsewhere")

    assert CeIntent.objects.get(intent_code="LOAN").description == "Mine."
