"""`manage.py user_create NAME`: make a user of the admin."""

import os
import secrets
from argparse import ArgumentParser
from typing import Any

from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.core.management.base import CommandError

from convengine.server.deployment.exact_command import ExactCommand

PASSWORD = "DJANGO_SUPERUSER_PASSWORD"  # noqa: S105 - a variable's name


class Command(ExactCommand):
    """Without a password in the environment it makes one and prints it once."""

    help = f"Make a user who can sign in to the admin. The password is in {PASSWORD}, or is made and printed."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", metavar="NAME")
        parser.add_argument("--group", action="append", default=[], help="A group, such as analyst or qa. Repeatable.")
        parser.add_argument("--superuser", action="store_true", help="The user may do everything.")
        parser.add_argument("--email", default="")

    def handle(self, *args: Any, name: str, group: list[str], superuser: bool, email: str, **options: Any) -> None:
        """Raises CommandError when the name is taken, a group is unknown or the password is too weak."""
        users: Any = get_user_model()
        known = {each.name: each for each in Group.objects.all()}
        if unknown := sorted(set(group) - known.keys()):
            raise CommandError(f"There is no group {unknown[0]}. Groups: {', '.join(sorted(known))}.")
        if not group and not superuser:
            raise CommandError(f"Choose what {name} may do: --superuser, or --group {' | '.join(sorted(known))}.")
        if users.objects.filter(**{users.USERNAME_FIELD: name}).exists():
            raise CommandError(f"The user {name} already exists.")
        password = os.environ.get(PASSWORD) or secrets.token_urlsafe(12)
        try:
            validate_password(password)
        except ValidationError as error:
            raise CommandError(f"{PASSWORD}: {' '.join(error.messages)}") from None
        make = users.objects.create_superuser if superuser else users.objects.create_user
        user = make(name, email=email, password=password, **({} if superuser else {"is_staff": True}))
        user.groups.add(*(known[each] for each in group))
        self.stdout.write(f"Made the user {name}.")
        if not os.environ.get(PASSWORD):
            self.stdout.write(f"Password: {password}")
