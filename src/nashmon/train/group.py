"""Means over the ranks of a run, through memory that they share.

Each rank writes its numbers into a row of its own; then each works out one part of the means, and
then all read the whole.  In between they wait for each other by single bytes over sockets: a
process that dies closes its socket, so nobody waits for it.  (Sent through a library's TCP
connections on the loopback interface, the gradient of a small network took 3 ms, not 0.3.)
"""

from __future__ import annotations

import socket
from dataclasses import dataclass

import torch
from torch import Tensor

from nashmon.core.errors import NashmonError
from nashmon.train.collectors import Place

ROOM = 1 << 20  # bytes of a row; longer numbers are averaged piece by piece
STALL = 600.0  # seconds in which the slowest rank must have come to the same mean


class RankError(NashmonError):
    """A rank that died or failed, or that differs from the others."""


class LostRankError(RankError):
    """A mean that could not be taken, since another rank is gone or stuck."""


@dataclass(frozen=True)
class Seat:
    """What a rank needs to take part; may be handed to a process that is started."""

    place: Place
    memory: Tensor  # (ranks + 1, ROOM) bytes: a row for each rank, one for the means
    links: tuple[socket.socket, ...]  # of rank 0 to all others, of the others to rank 0

    def leave(self) -> None:
        """Close the links of this seat in this process."""
        for link in self.links:
            link.close()


def seats(count: int) -> list[Seat]:
    """Places for so many ranks to take their means together."""
    memory = torch.empty(count + 1, ROOM, dtype=torch.uint8)
    memory.share_memory_()  # type: ignore[no-untyped-call]
    pairs = [socket.socketpair() for _ in range(1, count)]
    others = [Seat(Place(k + 1, count), memory, (pair[1],)) for k, pair in enumerate(pairs)]
    return [Seat(Place(0, count), memory, tuple(pair[0] for pair in pairs)), *others]


class Group:
    """Means over the ranks; all ranks must ask for the same ones in the same order."""

    def __init__(self, seat: Seat) -> None:
        self._seat = seat
        for link in seat.links:
            link.settimeout(STALL)

    @torch.no_grad()
    def mean(self, numbers: Tensor) -> None:
        """Replace numbers by their means over the ranks: the same bits on each."""
        for piece in torch.split(numbers.view(-1), ROOM // numbers.element_size()):
            self._mean(piece)

    def _mean(self, piece: Tensor) -> None:
        rank, count = self._seat.place.rank, self._seat.place.count
        size = len(piece)
        table = self._seat.memory[:, : size * piece.element_size()].view(piece.dtype)
        table[rank] = piece
        self._meet()
        start, stop = size * rank // count, size * (rank + 1) // count
        table[count, start:stop] = table[:count, start:stop].sum(dim=0) / count
        # Nobody writes the next numbers before all have read these: that takes a further meeting.
        self._meet()
        piece.copy_(table[count])

    def _meet(self) -> None:
        """Wait until all ranks have come here."""
        links, leads = self._seat.links, self._seat.place.rank == 0
        try:
            if not leads:
                links[0].sendall(b".")
            if not all(link.recv(1) for link in links):
                raise LostRankError("another rank is gone")
            for link in links if leads else ():
                link.sendall(b".")
        except OSError as error:
            raise LostRankError(f"the connection to the other ranks is lost: {error}") from error
