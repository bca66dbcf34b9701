"""Answerers: served passages to an answer."""
