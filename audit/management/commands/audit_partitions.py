"""`manage.py audit_partitions`: make the next partitions of `ce_audit`."""

from typing import Any

from django.core.management.base import BaseCommand

from audit.record.partitions import ensure_partitions


class Command(BaseCommand):
    """Safe to run at any time and repeatedly."""

    help = "Create the next partitions of ce_audit (PostgreSQL)."

    def handle(self, *args: Any, **options: Any) -> None:
        """Make them and print how many."""
        self.stdout.write(f"{ensure_partitions()} made")
