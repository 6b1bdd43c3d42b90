"""`manage.py audit_partitions`: make the partitions that the coming audit events need."""

from typing import Any

from django.core.management.base import BaseCommand

from audit.partitions import ensure


class Command(BaseCommand):
    """Safe to run at any time, and as often as wanted."""

    help = "Make the partitions of ce_audit that the coming events need (PostgreSQL)."

    def handle(self, *args: Any, **options: Any) -> None:
        """Make them and say how many."""
        self.stdout.write(f"{ensure()} made")
