"""Matches between agents, with statistics that can be trusted."""
