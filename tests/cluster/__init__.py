"""A whole cluster on one machine, whose processes are killed under load: `make test-cluster`.

Three PostgreSQL nodes under Patroni with etcd, HAProxy, PgBouncer, Redis and three servers. They use the files in
`deploy/`, each on ports of its own.
"""
