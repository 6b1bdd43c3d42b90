"""Where the probes are, perhaps below a prefix, and what the server tells them. Read before Django is ready."""

ADDRESSES = ("/livez", "/readyz", "/metrics")
#: The key of an environment that says whether all threads of this process stand, so that no turn can be taken.
ALL_THREADS_STAND = "convengine.all_threads_stand"
