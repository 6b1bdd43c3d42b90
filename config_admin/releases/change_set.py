"""A change set: rows changed together, by one author for one reason, that become one release.

    with change_set(origin=Origin.ADMIN, author=request.user, reason="Quieter at night"):
        rule.save()
        CeResponse.objects.filter(…).update(enabled=False)

The release is made inside the same transaction, when the outermost change set ends. A write outside of any opens
one for itself; several such in one transaction make one release together. While the working copy of a draft is open,
the changes go to it, and there is no release.
"""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar

from django.contrib.auth.base_user import AbstractBaseUser
from django.db import transaction
from simple_history.models import HistoricalRecords

from config_admin.releases.changes import Author, ChangeSet
from config_admin.releases.head import lock_head, read_write_counter
from config_admin.releases.make_release import publish, settle
from config_admin.releases.models import CeConfigHead, Origin
from config_admin.releases.working_copy import find_working_copy

_current: ContextVar[ChangeSet | None] = ContextVar("change_set", default=None)


def current() -> ChangeSet | None:
    return _current.get()


@contextmanager
def change_set(origin: Origin | str = Origin.SHELL, author: Author = None, reason: str = "") -> Iterator[ChangeSet]:
    """Make one release of all changes inside; inside another change set, join that one.

    `author` is a user or a name; None is the user of the running request, if there is one. An exception rolls back the
    changes without a release. Raises ValueError for an unknown origin.
    """
    outer = current()
    if outer is None:
        with _open(ChangeSet(Origin(origin), author or _get_request_user(), reason)) as change:
            yield change
    else:
        with transaction.atomic():
            yield outer


@contextmanager
def record_write() -> Iterator[ChangeSet]:
    """Around one write of the ORM: in the open change set, or in one of its own."""
    outer = current()
    if outer is None:
        with _open(ChangeSet(Origin.SHELL, _get_request_user(), implicit=True)) as change, change.write():
            yield change
    else:
        with outer.write():
            yield outer


def get_released_head() -> CeConfigHead:
    """The head, after every earlier write has a release: by the open change set, else as an out-of-band release."""
    change, copy = current(), find_working_copy()
    if copy is not None:
        if change is not None:
            copy.record(change)
    elif change is None:
        return settle(Origin.OUT_OF_BAND)
    else:
        publish(change)
    return CeConfigHead.objects.get(pk=1)


def get_content_hash() -> str:
    """The hash of the configuration, or of the open draft, after every earlier write is in it."""
    released, copy = get_released_head(), find_working_copy()
    return copy.content_hash if copy else released.content_hash


def lock_content() -> str:
    """The content hash. Nobody else changes the configuration until the transaction ends.

    A draft is locked already: a lock of the head would make live changes wait for its page, and a page for them.
    """
    copy = find_working_copy()
    return copy.content_hash if copy else lock_head().content_hash


@contextmanager
def _open(change: ChangeSet) -> Iterator[ChangeSet]:
    """Make a change set the current one; at its end, publish it or, in a draft, record it there."""
    with transaction.atomic():
        copy = find_working_copy()
        # Earlier writes outside of the application do not belong to this change set: they get their own release.
        change.counter = settle(Origin.OUT_OF_BAND).write_counter if copy is None else read_write_counter()
        with copy.restored_on_failure() if copy else nullcontext():
            token = _current.set(change)
            try:
                yield change
            finally:
                _current.reset(token)
            if copy is None:
                publish(change)
            else:
                change.account(read_write_counter())
                copy.record(change)


def _get_request_user() -> AbstractBaseUser | None:
    user = getattr(getattr(HistoricalRecords.context, "request", None), "user", None)
    return user if isinstance(user, AbstractBaseUser) and user.is_authenticated else None
