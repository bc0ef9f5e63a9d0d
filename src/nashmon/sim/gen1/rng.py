"""Showdown's 64-bit linear congruential generator; `r` is one battle's cell of the seed array."""

from __future__ import annotations

import numpy as np

from nashmon.sim.gen1.jit import helper

_A = np.uint64(0x5D588B656C078965)
_C = np.uint64(0x269EC3)
_HALF = np.uint64(32)


@helper
def roll(r, n):
    """An integer in [0, n)."""
    r[0] = r[0] * _A + _C
    return np.int64(((r[0] >> _HALF) * np.uint64(n)) >> _HALF)


@helper
def roll_range(r, low, high):
    """An integer in [low, high)."""
    return low + roll(r, high - low)


@helper
def chance(r, numerator, denominator):
    """True with probability numerator / denominator."""
    return roll(r, denominator) < numerator


def seed_value(words: tuple[int, int, int, int]) -> int:
    """The generator's state for a Showdown seed of four 16-bit words."""
    a, b, c, d = words
    return a << 48 | b << 32 | c << 16 | d


def seed_words(value: int) -> tuple[int, int, int, int]:
    """The four words Showdown shows for a state."""
    return value >> 48 & 0xFFFF, value >> 32 & 0xFFFF, value >> 16 & 0xFFFF, value & 0xFFFF
