"""The document of a flow as a file."""

import json
from pathlib import Path

from config_admin.flows.document import Document, Values
from config_admin.flows.reading import read_flow
from config_admin.releases.active import snapshots
from config_admin.releases.queries import content_hash_of
from config_admin.transfer.document import BaseRelease


def export_flow(flow_code: str) -> Values | None:
    """The document of a flow for a file, with the release that it is from. Returns None when there is no such flow."""
    snapshot = snapshots.current()
    reading = read_flow(snapshot, flow_code)
    if reading is None:
        return None
    version = snapshot.config_version
    return {**reading.document, "base": BaseRelease(version, content_hash_of(version))._asdict()}


def write_flow_file(flow: Document, file: Path) -> None:
    """Write a flow into a file. Raises OSError."""
    file.write_text(json.dumps(flow, ensure_ascii=False, indent=2) + "\n", "utf-8")
