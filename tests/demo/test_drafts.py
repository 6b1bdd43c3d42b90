"""200 random edits of the demonstration in a draft: published and undone without a trace, merged with live edits."""

import random

import pytest
from django.db import transaction

from config_admin import models as m
from config_admin.drafts.open_draft import open_draft
from config_admin.drafts.publish_draft import publish_draft
from config_admin.releases.change_set import change_set
from config_admin.releases.undo import revert_release
from convengine.server.extensions.registry import Registry
from tests.config_admin.drafts.test_random_edits import choose_edits, content_hash, write

pytestmark = [pytest.mark.django_db, pytest.mark.long]
EDITS = 200
EACH_SEED = pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.nightly) for seed in (1, 2))])


@EACH_SEED
def test_publishing_and_undoing_leaves_the_same_content(helpdesk: Registry, seed: int) -> None:
    before, draft = content_hash(), m.CeDraft.objects.create(title="Random")
    with open_draft(draft.pk, writing=True), change_set():
        write(list(choose_edits(random.Random(seed), ("priority", "description"), EDITS)))
        m.CePolicy.objects.all().delete()
    release = publish_draft(draft.pk)
    assert content_hash() != before
    revert_release(release.pk)
    assert content_hash() == before


@EACH_SEED
def test_edits_of_other_fields_merge_to_what_both_made_live(helpdesk: Registry, seed: int) -> None:
    chance = random.Random(seed)
    in_draft, live = (list(choose_edits(chance, (name,), EDITS)) for name in ("priority", "description"))
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
