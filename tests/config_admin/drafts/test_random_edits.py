"""Random edits: a draft that is published and undone leaves no trace, and live edits merge with those of a draft."""

import random
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import transaction

from config_admin import models as m
from config_admin.drafts.named_configurations import read_configuration
from config_admin.drafts.open_draft import open_draft
from config_admin.drafts.publish_draft import publish_draft
from config_admin.releases.change_set import change_set
from config_admin.releases.undo import revert_release
from convengine.server.interfaces.configuration import ConfigurationName
from tests.config_admin.builders import EXAMPLES, make

pytestmark = pytest.mark.django_db
#: Tables whose rows of the examples pass the save checks.
EDITED = (m.CeIntent, m.CeIntentClassifier, m.CeRule, m.CePolicy, m.CeOutputSchema, m.CeResponse, m.CeConfig)
ROUNDS, EDITS = 20, 10
EACH_SEED = pytest.mark.parametrize(
    "seed", [seed if seed < 3 else pytest.param(seed, marks=pytest.mark.nightly) for seed in range(ROUNDS)]
)


@pytest.fixture
def rows() -> None:
    with change_set():
        for model in EDITED:
            make(model)
        for number in range(20):
            make(m.CeResponse, exact_text=f"Answer {number}", state_code=f"S{number}")


def content_hash() -> str:
    return str(m.CeConfigHead.objects.get(pk=1).content_hash)


def choose_edits(
    chance: random.Random, names: tuple[str, ...], count: int = EDITS
) -> Iterator[tuple[Any, Any, dict[str, Any]]]:
    """Changes of fields with these names, each of a row that exists."""
    tables = [model for model in EDITED if set(names) <= {column.attname for column in model._meta.concrete_fields}]
    tables = [model for model in tables if model._base_manager.exists()]
    for _ in range(count):
        model: Any = chance.choice(tables)
        pk = chance.choice(list(model._base_manager.values_list("pk", flat=True)))
        name = chance.choice(names)
        yield model, pk, {name: chance.randrange(1, 900) if name == "priority" else f"text {chance.random()}"}


def write(edits: list[tuple[Any, Any, dict[str, Any]]]) -> None:
    for model, pk, values in edits:
        model.objects.filter(pk=pk).update(**values)


@EACH_SEED
def test_publishing_and_undoing_leaves_the_same_content(rows: None, seed: int) -> None:
    chance, before = random.Random(seed), content_hash()
    draft = m.CeDraft.objects.create(title="Random")
    with open_draft(draft.pk, writing=True), change_set():
        write(list(choose_edits(chance, ("priority", "description"))))
        make(m.CeIntent, **EXAMPLES[m.CeIntent][0] | {"intent_code": "NEW"})
        m.CePolicy.objects.all().delete()
    expected = read_configuration(ConfigurationName("draft", draft.pk)).content_hash
    release = publish_draft(draft.pk)
    assert content_hash() == expected != before
    revert_release(release.pk)
    assert content_hash() == before


@EACH_SEED
def test_edits_of_other_fields_merge_to_what_both_made_live(rows: None, seed: int) -> None:
    chance = random.Random(seed)
    in_draft, live = list(choose_edits(chance, ("priority",))), list(choose_edits(chance, ("description",)))
    with transaction.atomic():
        with change_set():
            write([*in_draft, *live])
        expected = content_hash()
        transaction.set_rollback(True)
    draft = m.CeDraft.objects.create(title="Random")
    with open_draft(draft.pk, writing=True), change_set():
        write(in_draft)
    with change_set():
        write(live)
    publish_draft(draft.pk)
    assert content_hash() == expected
