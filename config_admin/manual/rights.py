"""The chapter of groups: who may do what (R18)."""

from collections.abc import Iterator

from config_admin.manual.entry import Chapter, Choice, Entry
from convengine.server.admin_site.rights import GROUPS, groups_and_tasks


def chapters() -> Iterator[Chapter]:
    about = (
        "Permissions come from groups. Pages hide what a user is not allowed to do, and refuse it if requested "
        "directly. Administrators may do everything, and only they assign groups."
    )
    yield Chapter("groups", "Permissions", about, tuple(_groups()), "People")


def _groups() -> Iterator[Entry]:
    tasks = groups_and_tasks()
    for group in GROUPS:
        choices = tuple(Choice("", task.title, "") for task in tasks[group.name])
        yield Entry(f"group.{group.name}", group.title, group.about, group.name, (), choices)
