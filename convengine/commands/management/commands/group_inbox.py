"""`manage.py group_inbox`: read all messages of the inbox and group them again."""

from typing import Any

from audit.inbox.job import group_again
from convengine.server.deployment.exact_command import ExactCommand


class Command(ExactCommand):
    help = "Group the messages of the inbox again: all of the last 30 days, as the job does once a day."

    def handle(self, *args: Any, **options: Any) -> None:
        """Print how many there are."""
        counts = list(group_again())
        messages, groups = (sum(each[name] for each in counts) for name in ("messages", "groups"))
        self.stdout.write(f"Read {messages} messages; they are in {groups} groups.")
