"""Serves the WSGI application: the event loop reads requests and sends answers, threads run them."""
