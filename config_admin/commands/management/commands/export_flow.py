"""`manage.py export_flow CODE FILE`: the document of a flow that exists, or of all flows."""

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from config_admin.flows.reading import export_flow, list_flows, write_flow_file
from config_admin.releases.active import snapshots
from convengine.server.deployment.exact_command import ExactCommand


class Command(ExactCommand):
    """Each file names the release that it is from, so that `start_flow --update` takes back no later change."""

    help = "Write the document of a flow to a file, or with --all those of all flows into a folder."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("code", nargs="?", metavar="CODE", help="The code of the flow.")
        parser.add_argument("file", nargs="?", type=Path, metavar="FILE", help="Without it, the document is printed.")
        parser.add_argument(
            "--all",
            type=Path,
            metavar="DIR",
            help="Write all flows into this folder. A file that has the flow already is written again, under its name.",
        )

    def handle(self, *args: Any, code: str | None, file: Path | None, **options: Any) -> None:
        """Raises CommandError for an unknown flow, or when a file cannot be written."""
        if (code is None) is (options["all"] is None):
            raise CommandError("Name the code of a flow, or --all and a folder.")
        try:
            if code is None:
                self._export_all(options["all"])
                return
            flow = export_flow(code)
            if flow is None:
                raise CommandError(f"There is no flow {code}.")
            if file is None:
                self.stdout.write(json.dumps(flow, ensure_ascii=False, indent=2))
            else:
                write_flow_file(flow, file)
        except OSError as error:
            raise CommandError(f"{error.filename} cannot be written: {error.strerror}.") from None

    def _export_all(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        files = {code: file for file in sorted(folder.glob("*.json")) if (code := _read_code(file))}
        for document in list(list_flows(snapshots.current())):
            file = files.get(document["code"], folder / f"{document['code'].lower().replace('_', '-')}.json")
            write_flow_file(export_flow(document["code"]) or document, file)
            self.stdout.write(str(file))


def _read_code(file: Path) -> str:
    """The code of the flow in a file, or blank."""
    try:
        document = json.loads(file.read_text("utf-8"))
    except ValueError:
        return ""
    return str(document.get("code") or "") if isinstance(document, dict) else ""
