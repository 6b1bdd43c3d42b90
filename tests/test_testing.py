"""The example of docs/scenarios.md: its files are written, its tests and scenarios run, as a reader would run them."""

import os
import re
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parent.parent
MANUAL = (ROOT / "docs/scenarios.md").read_text()
#: The blocks of code, each below a line that names its file in backticks.
FILES = dict(re.findall(r"`([\w./]+\.(?:py|yaml|toml))`[^\n]*:\n\n```\w+\n([\s\S]*?)```", MANUAL))


@pytest.fixture(scope="module")
def pharmacy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pharmacy")
    for name, text in FILES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    (folder / "pharmacy/__init__.py").touch()
    return folder


def run_in(folder: Path, *command: str) -> "subprocess.CompletedProcess[str]":
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith(("CE_", "DATABASE_", "PYTEST_"))},
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(folder)]),
        "CE_SECRET_KEY": "only-for-tests",
        "CE_EXTENSIONS": "pharmacy.extensions",
        "DATABASE_URL": f"sqlite:///{folder / 'installation.sqlite3'}",
    }
    return subprocess.run(
        [sys.executable, *command],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def run_pytest(folder: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    """With the plugin by name where the package is not installed: pytest refuses a plugin that is there already."""
    is_installed = any(point.name == "convengine" for point in entry_points(group="pytest11"))
    plugin = () if is_installed else ("-p", "convengine.testing.plugin")
    return run_in(folder, "-m", "pytest", *plugin, "-p", "no:cacheprovider", *arguments)


def test_the_manual_has_all_files_of_the_example() -> None:
    assert list(FILES) == [
        "pharmacy/extensions.py", "pharmacy.yaml", "scenarios/refill.yaml", "pyproject.toml",
        "tests/test_conversations.py", "tests/test_prescriptions.py",
    ]  # fmt: skip


@pytest.fixture(scope="module")
def run_with_failures(pharmacy: Path) -> "subprocess.CompletedProcess[str]":
    """The tests and scenarios of the example, and tests that fail, in one run."""
    wrong = pharmacy / "tests/test_wrong.py"
    wrong.write_text(
        'def test_expect(bot):\n    bot.say("refill").expect("Hello.", tools=["other"])\n\n\n'
        'def test_assert(bot):\n    assert bot.say("refill").state == "DONE"\n\n\n'
        'def shut(call):\n    raise ValueError("The till is shut.")\n\n\n'
        'def test_raise(bot):\n    bot.stub_task("prescriptions:refill", does=shut)\n    bot.say("refill")\n'
        '    bot.say("4711").expect(error=None, state="GONE")\n'
    )
    ended = run_pytest(pharmacy)
    wrong.unlink()
    return ended


@pytest.mark.long
def test_the_tests_and_scenarios_of_the_example_pass(
    run_with_failures: "subprocess.CompletedProcess[str]",
) -> None:
    assert run_with_failures.returncode == 1, run_with_failures.stdout + run_with_failures.stderr
    assert "3 failed, 6 passed" in run_with_failures.stdout


@pytest.mark.long
def test_they_pass_without_the_plugin_of_django_as_with_it(pharmacy: Path) -> None:
    ended = run_pytest(pharmacy, "-p", "no:django")

    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "6 passed" in ended.stdout


@pytest.mark.long
def test_a_failure_shows_why(run_with_failures: "subprocess.CompletedProcess[str]") -> None:
    printed = run_with_failures.stdout

    assert "Task prescriptions:refill raised:" in printed
    assert "ValueError: The till is shut." in printed
    assert 'expect.response.equals: expected "Hello.", got "Which prescription number?"' in printed
    assert "tools: expected ['other'], got []" in printed
    for test in printed.split("____ test_")[1:4]:
        assert "Recognised the intent REFILL, because the message contains “refill”" in test


@pytest.mark.nightly
def test_a_fixture_bot_of_another_kind_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "test_chat.py").write_text(
        "from unittest.mock import Mock\nimport pytest\n\n\n@pytest.fixture\ndef bot():\n    return Mock()\n\n\n"
        "def test_chat(bot):\n    assert bot.name == 'Ada'\n"
    )
    ended = run_pytest(tmp_path)

    assert (ended.returncode, "INTERNALERROR" in ended.stdout + ended.stderr) == (1, False)


@pytest.mark.nightly
def test_a_run_that_another_plugin_refuses_ends_with_its_reason(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(
        "import pytest\n\n\ndef pytest_configure(config):\n    raise pytest.UsageError('Name a server.')\n"
    )
    ended = run_pytest(tmp_path)

    assert "Name a server." in ended.stderr
    assert "KeyError" not in ended.stderr


@pytest.mark.nightly
def test_scenarios_in_a_folder_that_is_a_link_are_run(pharmacy: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(pharmacy)
    ended = run_pytest(tmp_path / "link", "--rootdir", str(tmp_path / "link"), f"{tmp_path / 'link'}/scenarios")

    assert ended.returncode == 0, ended.stdout + ended.stderr


@pytest.mark.long
def test_the_command_of_the_example_reports_coverage(pharmacy: Path) -> None:
    ended = run_in(
        pharmacy, str(ROOT / "manage.py"), "scenarios", "scenarios", "--coverage", "--junit", "report.xml",
        "--coverage-html", "coverage", "--fail-under", "99",
    )  # fmt: skip

    # The answer to what nobody understands, which an installation ships, is not reached.
    assert ended.returncode == 1, ended.stdout + ended.stderr
    assert "1 passed, 0 failed, 0 skipped" in ended.stdout
    assert re.search(r"Rules +2 of 2 +100.0 %", ended.stdout)
    assert re.search(r"Moves +1 of 1 +100.0 %", ended.stdout)
    assert "under 99 %" in ended.stderr
    assert 'failures="0"' in (pharmacy / "report.xml").read_text()
    assert "REFILL from COLLECT to DONE" in (pharmacy / "coverage/index.html").read_text()
    assert not (pharmacy / "installation.sqlite3").exists()
