"""Webhooks: events of turns and releases for other systems, written in the commit and sent afterwards."""
