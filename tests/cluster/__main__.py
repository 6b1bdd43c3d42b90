"""`python -m tests.cluster`: start the cluster, run its tests with pytest, and end it."""

import os
import sys
from collections.abc import Sequence

from tests.cluster.machine import Cluster
from tests.cluster.requirements import install_requirements

#: The cluster that runs in this process.
running: list[Cluster] = []


def main(arguments: Sequence[str]) -> int:
    """0 only when all tests pass."""
    if not install_requirements():
        return 2
    # pytest imports this module by its name.
    sys.modules["tests.cluster.__main__"] = sys.modules[__name__]
    cluster = Cluster()
    running.append(cluster)
    effects = cluster.folder / "effects"
    effects.touch()
    status = 1
    try:
        print(f"Starting the cluster in {cluster.folder} …", flush=True)
        cluster.start()
        extension = {"CE_EXTENSIONS": "tests.cluster.effects", "CE_TEST_EFFECTS": str(effects)}
        cluster.start_web(**extension)
        cluster.start_jobs()
        # The tests look at the leader directly.
        told = {**cluster.web_environment(), **extension, "DATABASE_URL": cluster.url("leader")}
        os.environ |= {**told, "CE_DATABASE_POOLER": "none", "CE_TEST_CLUSTER": "true", "CE_BROKER_URL": ""}
        import pytest

        status = pytest.main(["-n0", "-s", "--durations=8", "-m", "cluster", *(arguments or ["tests/cluster"])])
    finally:
        if status:
            print(cluster.describe())
        cluster.end(keep=bool(status))
    return int(status)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
