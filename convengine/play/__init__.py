"""Turns that leave no trace: on any configuration, from any session, with any outside world; and scenario files."""
