"""`python -m tests.cluster`: start the cluster, run its tests with pytest, and end it."""

import json
import os
import sys
from collections.abc import Sequence

from tests.cluster.machine import Cluster
from tests.cluster.requirements import install_requirements
from tests.fakes.http_server import Reply, Server, serving
from tests.fakes.strangers import Stranger, meet

#: The cluster that runs in this process; and who gets its events: one that takes them, and one that never answers.
running: list[Cluster] = []
receivers: list[Server | Stranger] = []


def main(arguments: Sequence[str]) -> int:
    """0 only when all tests pass."""
    if not install_requirements():
        return 2
    # pytest imports this module by its name.
    sys.modules["tests.cluster.__main__"] = sys.modules[__name__]
    with meet("drips a header", "trickles 102 Processing", pause=2) as (model, slow), serving(Reply()) as good:
        receivers[:] = [good, slow]
        outside = {
            "CE_WEBHOOK_PRIVATE_HOSTS": "127.0.0.1",
            "CE_LLM_CONNECTIONS": json.dumps({"slow": {"base_url": model.address, "models": ["m"]}}),
            "CE_CFG__LLM__TIMEOUT_SECONDS": "3",
        }
        return _run(arguments, outside)


def _run(arguments: Sequence[str], outside: dict[str, str]) -> int:
    cluster = Cluster()
    running.append(cluster)
    effects = cluster.folder / "effects"
    effects.touch()
    status = 1
    try:
        print(f"Starting the cluster in {cluster.folder} …", flush=True)
        cluster.start()
        extension = {"CE_EXTENSIONS": "tests.cluster.effects", "CE_TEST_EFFECTS": str(effects), **outside}
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
