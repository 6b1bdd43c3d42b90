"""Build hook of hatchling: wheel and source distribution name the commit that they were built from."""

import os
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CommitHook(BuildHookInterface):
    """Takes the commit from `BUILD_COMMIT` (an image has no repository), from git, or from the source distribution."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        file = Path(self.root, "convengine/commit.txt")
        command = ["git", "-C", self.root, "rev-parse", "--short=12", "HEAD"]
        commit = os.environ.get("BUILD_COMMIT", "")
        if not commit and Path(self.root, ".git").exists():
            git = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
            commit = git.stdout.strip()
        if commit:
            file = Path(tempfile.mkdtemp(), "commit.txt")
            file.write_text(commit)
        if file.exists():
            build_data["force_include"][str(file)] = "convengine/commit.txt"
