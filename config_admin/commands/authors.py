"""The option `--author` of commands: the named user may do what the command does, as on its page."""

from argparse import ArgumentParser
from getpass import getuser
from typing import Any

from django.contrib.auth import get_user_model
from django.contrib.auth.base_user import AbstractBaseUser
from django.core.management.base import CommandError
from django.http import HttpRequest

from config_admin.editing.confirmation import list_missing_rights
from config_admin.releases.changes import Author
from config_admin.releases.diff import RowDifferences
from convengine.engine.text.wording import did_you_mean
from convengine.server.admin_site.rights import describe_groups_with, find_task

_REMEDY = "leave --author out to do it as the system user."


class AuthorRefused(CommandError):
    """The user lacks a right."""

    def __init__(self, name: str, problem: str) -> None:
        super().__init__(f"--author {name}: {problem} Name a user who may, or {_REMEDY}")


def add_author_argument(parser: ArgumentParser, about: str = "The author of the release") -> None:
    text = f"{about}: a user who may do it in the admin. Default: the system user, who may do everything."
    parser.add_argument("--author", default="", metavar="NAME", help=text)


def read_author(name: str, *rights: str) -> Author:
    """The active user of this name, who has these rights; the name of the system user for a blank one.

    Raises AuthorRefused, and CommandError with status 2 for an unknown name.
    """
    if not name:
        return getuser()
    users: Any = get_user_model()
    user = users._default_manager.filter(**{users.USERNAME_FIELD: name}).first()
    if user is None:
        hint = did_you_mean(name, users._default_manager.values_list(users.USERNAME_FIELD, flat=True))
        raise CommandError(
            f"--author {name}: there is no such user.{hint} Name an existing one, make one with user_create, "
            f"or {_REMEDY}",
            returncode=2,
        )
    if not user.is_active:
        raise AuthorRefused(name, "this account is not active.")
    require_rights(user, *rights)
    return user  # type: ignore[no-any-return]


def require_rights(author: Author, *rights: str) -> None:
    """Raises AuthorRefused if a named user lacks one."""
    if not isinstance(author, AbstractBaseUser):
        return
    user: Any = author
    for right in rights:
        if not user.has_perm(right):
            task = find_task(right)
            needed = f"the permission “{task.title}”" if task else f"the permission {right}"
            raise AuthorRefused(user.get_username(), f"it needs {needed}. Only {describe_groups_with(right)} do this.")


def require_rights_to_rows(author: Author, by_table: RowDifferences) -> None:
    """Raises AuthorRefused if a named user may not make these changes."""
    if not isinstance(author, AbstractBaseUser):
        return
    request = HttpRequest()
    request.user = author  # type: ignore[assignment]
    if refusals := list_missing_rights(request, by_table):
        # The messages of pages speak to the user; this one is about somebody else.
        about = (each.message.replace("You may not", "the user may not", 1) for each in refusals[:3])
        raise AuthorRefused(author.get_username(), " ".join(text.removesuffix(" Ask one.") for text in about))
