"""The tests of the cluster run only there: `make test-cluster`, which starts it and names its database."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cluster.machine import Cluster

#: Other runs of the tests leave these alone.
collect_ignore_glob = [] if "CE_TEST_CLUSTER" in os.environ else ["test_*.py"]


@pytest.fixture(scope="session")
def django_db_setup() -> None:
    """The database of the cluster, as it is."""


@pytest.fixture(scope="session")
def cluster() -> Cluster:
    """The cluster that runs."""
    from tests.cluster.__main__ import running

    return running[0]


@pytest.fixture(autouse=True)
def _database(django_db_blocker: Any) -> Iterator[None]:
    """The test sees the database as any other client: committed, by the address of the leader."""
    from django.db import connection

    with django_db_blocker.unblock():
        yield
        connection.close()


@pytest.fixture(scope="session")
def secret(django_db_blocker: Any) -> str:
    """The key of the customers, and the configuration that answers them."""
    from django.db import connection

    from tests.api import make_key
    from tests.cluster.__main__ import receivers
    from tests.cluster.world import configure_payments, subscribe
    from tests.live.configuration import configure

    with django_db_blocker.unblock():
        configure_payments()
        subscribe([receiver.address for receiver in receivers])
        configure("Session/LEASE_SECONDS", 5)
        key = make_key()
        # The leader that this one leads to will die.
        connection.close()
        return key


@pytest.fixture(scope="session")
def effects() -> Path:
    """Where the task leaves a line each time it runs."""
    return Path(os.environ["CE_TEST_EFFECTS"])
