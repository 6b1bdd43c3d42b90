"""The grid of a table: its rows in parts, what is sent, and who may."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from config_admin import models as m
from config_admin.grid import page as grid_page
from config_admin.releases import head
from config_admin.releases.change_set import change_set
from tests.config_admin.admin.pages import a_response, address, newest
from tests.config_admin.builders import EXAMPLES, make, new

pytestmark = pytest.mark.django_db


def rows(client: Client, model: Any, **params: str) -> dict[str, Any]:
    body: dict[str, Any] = client.get(address(model, "grid_rows"), params).json()
    return body


def send(client: Client, model: Any, edits: Any, **more: str) -> Any:
    given = SimpleUploadedFile("edits.json", json.dumps(edits).encode(), "application/json")
    return client.post(address(model, "grid_save"), {"edits": given, "reason": "tidy", **more})


def make_edit(client: Client, model: Any, pk: Any, **cells: str) -> dict[str, Any]:
    seen = next(row[1] for row in rows(client, model)["rows"] if row[0] == str(pk))
    return {str(pk): {"seen": seen, "cells": cells}}


@pytest.mark.parametrize("model", [model for model in EXAMPLES if model is not m.CeMcpServer])
def test_every_table_has_one_with_the_columns_of_its_form(model: Any, ada: Client) -> None:
    row = make(model)
    about = ada.get(address(model, "grid")).context["grid"]
    grid_rows = rows(ada, model)["rows"]

    assert str(row.pk) in [cells[0] for cells in grid_rows]
    assert {len(cells[4]) for cells in grid_rows} == {len(about["columns"])}
    assert address(model, "grid") in ada.get(address(model)).content.decode()


def test_rows_come_in_parts_with_as_many_queries_however_many_there_are(
    ada: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(grid_page, "CHUNK", 20)
    with change_set():
        m.CeRule.objects.bulk_create(new(m.CeRule, priority=number) for number in range(45))
    rows(ada, m.CeRule)
    seen, after, counts = [], {}, []
    while True:
        with CaptureQueriesContext(connection) as captured:
            part = rows(ada, m.CeRule, **after)
        counts.append(len(captured))
        seen += [int(row[0]) for row in part["rows"]]
        if not part["next"]:
            break
        after = {"after": part["next"]}

    assert seen == list(m.CeRule.objects.order_by("pk").values_list("pk", flat=True))
    assert len(set(counts)) == 1
    assert counts[0] < 10
    assert ada.get(address(m.CeRule, "grid_rows"), {"after": "x"}).status_code == 400


def test_the_filters_of_the_list_hold_here_too(ada: Client) -> None:
    row = a_response(exact_text="Only this one")
    page = ada.get(address(m.CeResponse), {"q": "only this", "p": "1"})
    link = page.context["grid_url"]

    assert link.endswith("grid/?q=only+this")
    assert ada.get(link).context["is_filtered"]
    assert [row[0] for row in rows(ada, m.CeResponse, q="only this")["rows"]] == [str(row.pk)]


def test_it_is_saved_with_its_reason_and_told_with_its_release(ada: Client) -> None:
    row = a_response()
    body = send(ada, m.CeResponse, make_edit(ada, m.CeResponse, row.pk, priority="77")).json()

    row.refresh_from_db()
    assert row.priority == 77
    assert body["release"]["number"] == newest().pk
    assert (newest().author, newest().reason) == ("ada", "tidy")
    assert body["rows"][0][1] == rows(ada, m.CeResponse, q=row.exact_text)["rows"][0][1]


def test_without_a_reason_nothing_is_saved(ada: Client) -> None:
    row = a_response()
    version = head.newest()
    body = send(ada, m.CeResponse, make_edit(ada, m.CeResponse, row.pk, priority="77"), reason=" ").json()

    assert body["field"] == "reason"
    assert head.newest() == version


def test_findings_and_foreign_changes_are_told_at_their_cells(ada: Client) -> None:
    row = a_response()
    given = make_edit(ada, m.CeResponse, row.pk, priority="soon")
    finding = send(ada, m.CeResponse, given).json()["findings"][0]
    assert (finding["row"], finding["field"], finding["severity"]) == (str(row.pk), "priority", "ERROR")

    with change_set(author="ben"):
        m.CeResponse.objects.filter(pk=row.pk).update(exact_text="Theirs")
    met = send(ada, m.CeResponse, given).json()["met"][str(row.pk)]
    assert met["who"] == "ben"
    assert "Theirs" in met["row"][4]


def test_what_is_set_once_or_is_no_cell_is_refused(ada: Client) -> None:
    intent = make(m.CeIntent)
    for given in (
        {intent.pk: {"seen": "", "cells": {"intent_code": "OTHER"}}},
        {intent.pk: {"seen": "", "cells": {"created_at": "2020-01-01"}}},
        {intent.pk: {"seen": "", "cells": {"priority": 5}}},
        {intent.pk: "x"},
        [],
    ):
        assert send(ada, m.CeIntent, given).status_code == 400
    assert ada.post(address(m.CeIntent, "grid_save"), {"reason": "x"}).status_code == 400


@pytest.mark.parametrize("model", [m.CeRule, m.CeMcpHttpTool])
@pytest.mark.parametrize(
    "given", [{"x": {"new": 1, "seen": "", "cells": {}}}, {"9" * 20: {"seen": "", "cells": {}}}, {"-1": {"cells": {}}}]
)
def test_a_key_that_no_row_can_have_is_refused(ada: Client, model: Any, given: dict[str, Any]) -> None:
    assert send(ada, model, given).status_code == 400


def test_readers_see_it_and_save_nothing(somebody: Callable[..., Client]) -> None:
    reader, row = somebody("rita", "qa"), a_response()

    assert not reader.get(address(m.CeResponse, "grid")).context["may_edit"]
    assert rows(reader, m.CeResponse)["rows"]
    assert send(reader, m.CeResponse, {str(row.pk): {"seen": "", "cells": {}}}).status_code == 403


def test_reserved_settings_are_for_administrators_here_too(ben: Client, ada: Client) -> None:
    reserved = make(m.CeConfig, config_type="AUDIT", config_key="LEVEL", config_value="STANDARD")
    given = make_edit(ben, m.CeConfig, reserved.pk, config_value="FULL")
    assert "configuration administrators" in send(ben, m.CeConfig, given).json()["findings"][0]["message"]


def test_rows_are_added_and_deleted_and_the_answer_names_them(ben: Client) -> None:
    gone = a_response()
    seen = next(row[1] for row in rows(ben, m.CeResponse)["rows"] if row[0] == str(gone.pk))
    cells = {"intent_code": "ANY", "state_code": "NEW", "response_type": "EXACT", "exact_text": "Hi"}
    given = {"new-1": {"new": True, "cells": cells}, str(gone.pk): {"seen": seen, "deleted": True}}
    body = send(ben, m.CeResponse, given).json()

    made = m.CeResponse.objects.get(state_code="NEW")
    assert body["added"] == {"new-1": str(made.pk)}
    assert body["deleted"] == [str(gone.pk)]
    assert [row[0] for row in body["rows"]] == [str(made.pk)]
    problem = send(ben, m.CeResponse, {"new-1": {"new": True, "cells": {"priority": "soon"}}}).json()["findings"][0]
    assert problem["row"] == "new-1"


def test_a_new_row_with_a_name_of_its_own_has_a_cell_for_it(ben: Client) -> None:
    about = ben.get(address(m.CeIntent, "grid")).context["grid"]
    cells = {"intent_code": "new_one", "description": "Why."}
    given = {"new-1": {"new": True, "cells": cells}}
    warnings = send(ben, m.CeIntent, given).json()["findings"]
    body = send(ben, m.CeIntent, given, confirmed=" ".join(each["key"] for each in warnings)).json()

    assert about["keyTyped"]
    assert body["added"] == {"new-1": "NEW_ONE"}


def test_rows_of_a_tool_are_not_added_in_the_grid(ada: Client) -> None:
    assert not ada.get(address(m.CeMcpHttpTool, "grid")).context["may_add"]
    assert send(ada, m.CeMcpHttpTool, {"new-1": {"new": True, "cells": {}}}).status_code == 403


def test_the_grid_of_rules_offers_json_paths_as_fields_and_values(ada: Client) -> None:
    simple, more = "$[?(@.intent == 'LOAN')]", "$.items[*].price"
    with change_set():
        for path in (simple, more):
            make(m.CeRule, rule_type="JSON_PATH", match_pattern=path)

    paths = ada.get(address(m.CeRule, "grid")).context["grid"]["condition"]["paths"]

    assert list(paths) == [simple]
    assert '"field": "intent"' in paths[simple]


def test_the_grid_of_rules_offers_the_editor_of_conditions(ada: Client) -> None:
    page = ada.get(address(m.CeRule, "grid"))

    assert page.context["grid"]["condition"]["column"] == "match_pattern"
    assert page.context["grid"]["condition"]["operators"]
    assert "grid-condition.js" in page.content.decode()
    assert ada.get(address(m.CePolicy, "grid")).context["grid"]["condition"] is None
