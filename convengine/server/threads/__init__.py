"""Threads and their sessions: which session a message belongs to, how sessions end, and the calls of integrators."""
