"""Where the probes are, perhaps below a prefix. Read before Django is ready."""

ADDRESSES = ("/livez", "/readyz", "/metrics")
