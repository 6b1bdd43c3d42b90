"""`manage.py api_key_create NAME`: make an API key."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from convengine.server.api.models import SCOPES, CeApiKey
from convengine.server.deployment.exact_command import ExactCommand


class Command(ExactCommand):
    """Prints the key alone on standard output, so that a script can store it. It is never shown again."""

    help = "Make an API key and print it. The key is shown only once."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", metavar="NAME", help="What the key is for.")
        parser.add_argument(
            "--scope",
            action="append",
            choices=[scope for scope, _ in SCOPES],
            help="A scope of the key. Repeatable. Default: turns.",
        )
        parser.add_argument("--workspace", default="default", help="The workspace of its conversations.")

    def handle(self, *args: Any, name: str, scope: list[str] | None, workspace: str, **options: Any) -> None:
        longest = CeApiKey._meta.get_field("name").max_length
        if longest and len(name) > longest:
            raise CommandError(f"A name has at most {longest} characters.")
        scopes = list(dict.fromkeys(scope or ["turns"]))
        _, secret = CeApiKey.objects.create_key(name=name, scopes=scopes, workspace_id=workspace)
        self.stderr.write(f"The key of {name} for {', '.join(scopes)}. It is not shown again:")
        self.stdout.write(str(secret))
