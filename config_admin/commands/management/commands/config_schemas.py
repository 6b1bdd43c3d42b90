"""`manage.py config_schemas [DIR]`: write the JSON Schemas of bundles, forms, flow documents and scenario files."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from config_admin.flows.document import get_flow_schema
from config_admin.transfer.json_schemas import build_schemas, write_schema
from convengine.server.deployment.exact_command import ExactCommand


class Command(ExactCommand):
    """Exports refer to `schemas/bundle.schema.json`, so run this in the folder that has them."""

    help = "Write JSON Schemas of bundles, forms, flows and scenario files, so that editors check and complete them."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("folder", nargs="?", type=Path, default=Path("schemas"), metavar="DIR")

    def handle(self, *args: Any, folder: Path, **options: Any) -> None:
        """Write. Raises CommandError when a file cannot be written."""
        try:
            folder.mkdir(parents=True, exist_ok=True)
            for name, schema in {**build_schemas(), "flow.schema.json": get_flow_schema()}.items():
                (folder / name).write_text(write_schema(schema), encoding="utf-8")
                self.stdout.write(str(folder / name))
        except OSError as error:
            raise CommandError(str(error)) from None
