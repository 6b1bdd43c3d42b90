"""`make sbom`: the components that a server runs on, as a CycloneDX file, and whether each has an allowed licence.

The file is made from a throw-away environment that holds requirements-production.lock and nothing else.
"""

import json
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from convengine import __version__

_FILE = "tests/components.py"
ROOT = Path(__file__).resolve().parent.parent
LOCK = ROOT / "requirements-production.lock"
#: It runs apart, because its dependencies add formats to the validation of JSON that servers do not have.
TOOL = "cyclonedx-bom==7.5.0"
#: Licences that ask for a notice only, and those of libraries that we install unchanged (LGPL, MPL).
ALLOWED = frozenset(
    {
        *("0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "CC0-1.0", "ISC", "MIT", "MIT-0", "PSF-2.0"),
        *("Unlicense", "Zlib", "LGPL-2.1-or-later", "LGPL-3.0-only", "MPL-2.0"),
        *("License :: OSI Approved :: BSD License", "License :: OSI Approved :: Apache Software License"),
        "License :: OSI Approved :: Mozilla Public License 2.0 (MPL 2.0)",
    }
)
#: Licences of packages whose metadata name none in a standard form, as their files say.
READ: Mapping[str, str] = {"qrcode": "BSD-3-Clause", "uritemplate": "BSD-3-Clause OR Apache-2.0"}
_REMEDY = "Choose another package in pyproject.toml and run `make lock`. Or"


def main() -> int:
    """Write the file. Returns 0 if each component has an allowed licence."""
    file = ROOT / "dist" / f"convengine-{__version__}.cdx.json"
    file.parent.mkdir(exist_ok=True)
    document = describe_environment(file)
    by_licence = defaultdict[str, list[str]](list)
    for component in document["components"]:
        by_licence[" and ".join(list_licences(component)) or "none"].append(component["name"])
    for licence, names in sorted(by_licence.items()):
        print(f"{licence}: {', '.join(names)}")
    refusals = list(find_refusals(document))
    print(f"\n{len(document['components'])} components in {file.relative_to(ROOT)}, {len(refusals)} refused.")
    print("".join(f"{refusal}\n" for refusal in refusals), end="", file=sys.stderr)
    return 1 if refusals else 0


def describe_environment(file: Path) -> dict[str, Any]:
    """Install the lock into an environment, write its components to `file`, and return them."""
    with tempfile.TemporaryDirectory() as folder:
        _run_uv("venv", "--python", sys.executable, folder)
        _run_uv("pip", "install", "--python", folder, "--require-hashes", "--requirement", str(LOCK))
        options = ("--pyproject", str(ROOT / "pyproject.toml"), "--output-reproducible", "--output-file", str(file))
        _run_uv("tool", "run", "--from", TOOL, "cyclonedx-py", "environment", *options, folder)
    document: dict[str, Any] = json.loads(file.read_text("utf-8"))
    # Our own version is not in pyproject.toml.
    document["metadata"]["component"]["version"] = __version__
    file.write_text(json.dumps(document, indent=2) + "\n", "utf-8")
    return document


def _run_uv(*arguments: str) -> None:
    subprocess.run([str(Path(sys.executable).parent / "uv"), "--quiet", *arguments], check=True)


def list_licences(component: Mapping[str, Any]) -> list[str]:
    """The licences of a component, each a SPDX expression or a name."""
    if component["name"] in READ:
        return [READ[component["name"]]]
    declared = component.get("licenses", ())
    return [each.get("expression") or each["license"].get("id") or each["license"]["name"] for each in declared]


def find_refusals(document: Mapping[str, Any]) -> Iterator[str]:
    """The components without an allowed licence, each with what to do."""
    for component in document["components"]:
        name, licences = f"{component['name']} {component['version']}", list_licences(component)
        if not licences:
            yield f"{name} names no licence. {_REMEDY} read its files, and add what they say to READ in {_FILE}."
        for licence in licences:
            if licence not in ALLOWED and not is_allowed(licence):
                shown = licence if len(licence) <= 60 else f"{licence[:60]}…"
                yield f"{name} has the licence {shown}, which is not allowed. {_REMEDY} add it to ALLOWED in {_FILE}."


def is_allowed(expression: str) -> bool:
    """Whether one of the alternatives of an SPDX expression has allowed licences only."""
    while inner := re.search(r"\(([^()]*)\)", expression):
        allowed = "MIT" if is_allowed(inner[1]) else "refused"
        expression = expression[: inner.start()] + allowed + expression[inner.end() :]
    return any(all(name.strip() in ALLOWED for name in part.split(" AND ")) for part in expression.split(" OR "))


if __name__ == "__main__":
    sys.exit(main())
