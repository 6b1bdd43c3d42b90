import re
from pathlib import Path

from config_admin.validation.codes import HEALTH_CODES

ROOT = Path(__file__).resolve().parents[3]


def test_every_code_that_the_check_gives_is_explained_and_no_other() -> None:
    folder = ROOT / "config_admin/health"
    source = "".join(file.read_text() for file in (*folder.glob("checks/*.py"), folder / "check.py"))
    given = set(re.findall(r'(?:diagnosis|report)\(\s*"([A-Z_]+)"', source)) | {"REFERENCE_GONE"}

    assert set(HEALTH_CODES) == given
