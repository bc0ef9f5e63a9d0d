"""Leagues: opponent pools, exploiters, populations and equilibria over them."""
