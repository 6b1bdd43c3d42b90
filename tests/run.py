"""All tests, on SQLite and on a real PostgreSQL that the run starts itself."""

import os
import subprocess
import sys


def main() -> int:
    """0 only when both runs passed."""
    results = {}
    for database in ("sqlite", "postgres"):
        print(f"\n== tests on {database} ==", flush=True)
        environment = {**os.environ, "CE_TEST_DATABASE": database, "CE_DEBUG": "true"}
        if database == "postgres":
            # Pure tests and browser tests say the same on every database; once is enough.
            environment["CE_TEST_DATABASE_ONLY"] = "true"
        command = [sys.executable, "-m", "pytest", "-n", "2", *sys.argv[1:]]
        results[database] = subprocess.run(command, env=environment, check=False).returncode
    print("\n" + ", ".join(f"{name}: {'passed' if code == 0 else 'FAILED'}" for name, code in results.items()))
    return max(results.values())


if __name__ == "__main__":
    sys.exit(main())
