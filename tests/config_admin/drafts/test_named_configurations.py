"""Configurations by name: live, a release, a draft, and unsaved rows on top."""

import pytest

from config_admin.drafts.models import CeDraft
from config_admin.drafts.named_configurations import (
    OtherDraftOpen,
    describe_configuration,
    list_configurations,
    read_configuration,
)
from config_admin.drafts.open_draft import DraftEnded, open_draft
from config_admin.drafts.publish_draft import discard_draft
from config_admin.models import CeRule
from config_admin.releases.content import content_of
from config_admin.releases.queries import NoSuchRelease
from convengine.engine.turn.snapshot import Snapshot
from convengine.server.interfaces.configuration import ConfigurationName
from tests.worlds import create_help_desk

pytestmark = pytest.mark.django_db
LIVE = ConfigurationName("live")


def read_priority(snapshot: Snapshot, rule: CeRule) -> object:
    row = snapshot.tables["ce_rule"].by_pk.get(rule.pk)
    return row and getattr(row, "priority")  # noqa: B009


@pytest.fixture
def rule() -> CeRule:
    create_help_desk()
    rule = CeRule.objects.first()
    assert rule
    return rule


def edit(draft: CeDraft, rule: CeRule, priority: int) -> ConfigurationName:
    with open_draft(draft.pk, writing=True):
        edited = CeRule.objects.get(pk=rule.pk)
        edited.priority = priority
        edited.save()
    return ConfigurationName("draft", draft.pk)


@pytest.mark.parametrize("text", ["live", "release:12", "draft:7", " Draft:7 "])
def test_a_name_reads_as_it_is_written(text: str) -> None:
    assert str(ConfigurationName.parse(text)) == text.strip().lower()


@pytest.mark.parametrize("text", ["", "live:3", "release", "release:x", "draft:-1", "draft:²", "other:1"])
def test_another_text_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="names no configuration"):
        ConfigurationName.parse(text)


def test_each_name_gives_its_own_rows(rule: CeRule) -> None:
    before = read_configuration(LIVE).config_version
    draft = CeDraft.objects.create(title="Seven")
    name = edit(draft, rule, 7)
    rule.priority = 5
    rule.save()
    assert read_priority(read_configuration(LIVE), rule) == 5
    assert read_priority(read_configuration(ConfigurationName("release", before)), rule) != 5
    unsaved = {"ce_rule": {rule.pk: {**content_of(rule), "priority": 9}}}
    assert read_priority(read_configuration(LIVE, unsaved), rule) == 9
    assert read_priority(read_configuration(LIVE, {"ce_rule": {rule.pk: None}}), rule) is None
    assert read_priority(read_configuration(LIVE), rule) == 5
    assert describe_configuration(name) == "Draft: Seven"
    assert describe_configuration(LIVE) == "Live"


def test_inside_of_a_draft_live_is_live_and_the_draft_is_what_is_edited(rule: CeRule) -> None:
    draft, other = (CeDraft.objects.create(title=title) for title in ("Seven", "Other"))
    was = read_priority(read_configuration(LIVE), rule)
    name = edit(draft, rule, 7)
    with open_draft(draft.pk):
        assert read_priority(read_configuration(name), rule) == 7
        assert read_priority(read_configuration(LIVE), rule) == was
        with pytest.raises(OtherDraftOpen):
            read_configuration(ConfigurationName("draft", other.pk))


def test_what_does_not_exist_is_said(rule: CeRule) -> None:
    draft = CeDraft.objects.create(title="Gone")
    discard_draft(draft.pk)
    for name, error in (
        (ConfigurationName("draft", draft.pk), DraftEnded),
        (ConfigurationName("release", 999_999), NoSuchRelease),
    ):
        for read in (read_configuration, describe_configuration):
            with pytest.raises(error):
                read(name)


def test_pages_offer_live_the_open_drafts_and_the_newest_releases(rule: CeRule) -> None:
    draft = CeDraft.objects.create(title="Seven")
    discard_draft(CeDraft.objects.create(title="Gone").pk)

    live, first, *releases = list_configurations()

    assert live == (LIVE, "Live")
    assert first == (ConfigurationName("draft", draft.pk), "Draft: Seven")
    assert all(name.kind == "release" for name, _ in releases)
    assert releases[0][0].number == read_configuration(LIVE).config_version
