"""Teach a phrase: what users wrote becomes phrases of an intent, tried on stored messages before it is saved."""
