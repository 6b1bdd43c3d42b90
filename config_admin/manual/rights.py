"""The chapter of groups: who may do what, from the table that the rights are held to (R18)."""

from collections.abc import Iterator

from config_admin.manual.entry import Chapter, Choice, Entry
from convengine.rights import GROUPS, groups_and_tasks


def chapters() -> Iterator[Chapter]:
    """The one chapter."""
    about = (
        "What somebody may do comes from their groups. What they may not do is not shown, and refused when it is asked "
        "for. Administrators may do everything, and alone give people their groups."
    )
    yield Chapter("groups", "Who may do what", about, tuple(_groups()), "People")


def _groups() -> Iterator[Entry]:
    tasks = groups_and_tasks()
    for group in GROUPS:
        choices = tuple(Choice("", task.title, "") for task in tasks[group.name])
        yield Entry(f"group.{group.name}", group.title, group.about, group.name, (), choices)
