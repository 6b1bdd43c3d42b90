"""A table's tree is one for one content, and an edit touches little of it."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from config_admin.models import CeReleaseBlob
from config_admin.releases import tree
from config_admin.releases.blobs import Blobs

TABLE = "ce_mcp_planner"


def row(pk, text="x"):
    return tree.up_to_date(TABLE, {"planner_id": pk, "system_prompt": text, "intent_code": "I", "state_code": "S"})


def intent(code, text="x"):
    return tree.up_to_date("ce_intent", {"intent_code": code, "description": text})


def content(blobs, table, root):
    return tree.rows_of(blobs, table, tree.index_of(blobs, root))


keys = st.integers(1, 3000)
contents = st.dictionaries(keys, st.sampled_from("abc"), max_size=400)
changes = st.dictionaries(keys, st.one_of(st.none(), st.sampled_from("abcd")), max_size=60)


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(contents, changes)
def test_patching_gives_the_tree_that_building_would(before, change):
    blobs = Blobs()
    root = tree.build(blobs, TABLE, [row(pk, text) for pk, text in before.items()])
    patched = tree.patch(blobs, TABLE, root, {pk: text and row(pk, text) for pk, text in change.items()})
    after = {pk: text for pk, text in (before | change).items() if text is not None}
    assert patched == tree.build(blobs, TABLE, [row(pk, text) for pk, text in after.items()])
    differences = tree.differences(blobs, TABLE, root, patched)
    assert {d.pk for d in differences} == {pk for pk in before | change if before.get(pk) != after.get(pk)}


@settings(max_examples=30)
@given(st.dictionaries(st.text("ABC_", min_size=1, max_size=6), st.sampled_from("abc"), max_size=200))
def test_keys_may_be_texts(codes):
    blobs = Blobs()
    root = tree.patch(blobs, "ce_intent", None, {code: intent(code, text) for code, text in codes.items()})
    assert root == tree.build(blobs, "ce_intent", [intent(code, text) for code, text in codes.items()])
    assert list(content(blobs, "ce_intent", root)) == sorted(codes)


def test_no_rows_have_no_tree():
    blobs = Blobs()
    root = tree.build(blobs, TABLE, [row(1)])
    assert tree.build(blobs, TABLE, []) is None
    assert tree.patch(blobs, TABLE, root, {1: None}) is None
    assert tree.patch(blobs, TABLE, None, {1: None}) is None


def test_taking_out_what_is_not_there_changes_nothing():
    blobs = Blobs()
    root = tree.build(blobs, TABLE, [row(pk) for pk in range(1, 200)])
    assert tree.patch(blobs, TABLE, root, {500: None}) == root


def test_true_and_one_are_different_values():
    blobs = Blobs()
    number = tree.build(blobs, "ce_tool", [tree.up_to_date("ce_tool", {"ce_tool_id": 1, "args_template": {"a": 1}})])
    true = tree.build(blobs, "ce_tool", [tree.up_to_date("ce_tool", {"ce_tool_id": 1, "args_template": {"a": True}})])
    assert [d.pk for d in tree.differences(blobs, "ce_tool", number, true)] == [1]


def test_a_row_of_an_older_day_has_the_defaults_of_columns_that_came_later():
    blobs = Blobs()
    old = blobs.add({"columns": ["planner_id", "gone"], "rows": [[1, "x"]]})
    root = blobs.add([[1, 1, old]])
    assert content(blobs, TABLE, root)[1]["enabled"] is True
    assert "gone" not in content(blobs, TABLE, root)[1]


@pytest.mark.django_db
def test_an_edit_reads_and_writes_one_chunk(django_assert_num_queries):
    first = Blobs()
    root = tree.build(first, TABLE, [row(pk) for pk in range(1, 2001)])
    first.write()
    stored = CeReleaseBlob.objects.count()
    second = Blobs()
    with django_assert_num_queries(2):
        tree.patch(second, TABLE, root, {1234: row(1234, "y")})
    second.write()
    assert CeReleaseBlob.objects.count() == stored + 2


@pytest.mark.django_db
def test_one_row_is_read_from_one_chunk(django_assert_num_queries):
    first = Blobs()
    root = tree.build(first, TABLE, [row(pk) for pk in range(1, 2001)])
    first.write()
    with django_assert_num_queries(2):
        assert tree.row_of(Blobs(), TABLE, root, 77)["planner_id"] == 77
    assert tree.row_of(Blobs(), TABLE, root, 99_999) is None
    assert tree.row_of(Blobs(), TABLE, None, 1) is None
