"""The snapshot of live, of a release, or of a draft, with unsaved rows on top: for everything that tries one."""

from dataclasses import replace

from config_admin.drafts.models import CeDraft, DraftStatus
from config_admin.drafts.open_draft import DraftEnded, get_live_head, read_draft
from config_admin.releases import tree
from config_admin.releases.active import snapshots
from config_admin.releases.audience import find_gradual_release
from config_admin.releases.models import CeRelease
from config_admin.releases.queries import NoSuchRelease, manifest_of
from config_admin.releases.working_copy import WorkingCopy, find_working_copy
from convengine.engine.turn.snapshot import Snapshot
from convengine.server.interfaces.configuration import ConfigurationName, UnsavedRows

#: How many drafts and how many releases a page offers.
_OFFERED = 50


class OtherDraftOpen(LookupError):
    """Inside of a draft only that draft can be read: the rows of the tables are its own."""

    def __init__(self) -> None:
        super().__init__("Another draft is open. Leave it first.")


def read_configuration(name: ConfigurationName, unsaved: UnsavedRows | None = None) -> Snapshot:
    """The snapshot of a configuration, with `unsaved` rows in place of its own.

    Raises DraftEnded, NoSuchRelease and OtherDraftOpen, which are LookupErrors.
    """
    if unsaved or name.kind == "draft":
        copy = _read_copy(name)
        for table, rows in (unsaved or {}).items():
            root = tree.patch(copy.blobs, table, copy.manifest.pop(table, None), rows)
            if root:
                copy.manifest[table] = root
        return snapshots.of_draft(copy)
    if name.number is None and (copy_of_request := find_working_copy()):
        return snapshots.at(copy_of_request.config_version)
    return snapshots.current() if name.number is None else snapshots.at(name.number)


def describe_configuration(name: ConfigurationName) -> str:
    """What a configuration is called on pages. Raises DraftEnded and NoSuchRelease."""
    if name.kind == "draft":
        return f"Draft: {_find_draft(name).title}"
    if name.number is None:
        return "Live"
    if not CeRelease.objects.filter(pk=name.number).exists():
        raise NoSuchRelease(name.number)
    return f"Release {name.number}"


def list_configurations() -> list[tuple[ConfigurationName, str]]:
    """Live, open drafts and the newest releases, at most `_OFFERED` of each, with what they are called. Two queries."""
    drafts = CeDraft.objects.filter(status=DraftStatus.OPEN).order_by("title").values_list("pk", "title")[:_OFFERED]
    releases = CeRelease.objects.order_by("-pk").values_list("pk", flat=True)[:_OFFERED]
    return [
        (ConfigurationName("live"), "Live"),
        *((ConfigurationName("draft", pk), f"Draft: {title}") for pk, title in drafts),
        *((ConfigurationName("release", pk), f"Release {pk}") for pk in releases),
    ]


def list_used_configurations() -> list[ConfigurationName]:
    """Live, the release before a gradual one, and the open drafts."""
    gradual = find_gradual_release()
    drafts = CeDraft.objects.filter(status=DraftStatus.OPEN).order_by("pk").values_list("pk", flat=True)
    return [
        ConfigurationName("live"),
        *([ConfigurationName("release", gradual.parent_version)] if gradual else ()),
        *(ConfigurationName("draft", pk) for pk in drafts),
    ]


def _read_copy(name: ConfigurationName) -> WorkingCopy:
    """A copy of a named draft or release. Inside a draft, live is the release below it.

    Raises DraftEnded, NoSuchRelease, and OtherDraftOpen for another draft than the one of the request.
    """
    copy_of_request = find_working_copy()
    if name.kind == "draft":
        draft = _find_draft(name)
        if copy_of_request is None:
            return read_draft(draft)[0]
        if copy_of_request.title != draft.title:
            raise OtherDraftOpen
        return replace(copy_of_request, manifest=dict(copy_of_request.manifest))
    live = copy_of_request.config_version if copy_of_request else get_live_head()
    number = live if name.number is None else name.number
    manifest = manifest_of(number)
    return WorkingCopy(str(name), number, dict(manifest), dict(manifest))


def _find_draft(name: ConfigurationName) -> CeDraft:
    draft = CeDraft.objects.filter(pk=name.number or 0, status=DraftStatus.OPEN).first()
    if draft is None:
        raise DraftEnded(name.number)
    return draft
