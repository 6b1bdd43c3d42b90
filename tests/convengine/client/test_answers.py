import subprocess
import sys


def test_the_client_needs_no_django() -> None:
    code = "import sys, convengine.client; assert not {'django', 'rest_framework'} & set(sys.modules)"

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
