"""Recorded battles as data: the trajectory store."""
