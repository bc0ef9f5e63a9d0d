"""A picture of exploitability over training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from nashmon.learn.solve import Point


def draw(runs: Mapping[str, Sequence[Sequence[Point]]], title: str, path: Path) -> None:
    """Draw each algorithm's seeds (thin) and their median (thick) to an image file."""
    import matplotlib
    import numpy as np

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 4.5), layout="constrained")
    for i, (name, seeds) in enumerate(runs.items()):
        curves = np.array([[p.exploitability for p in points] for points in seeds])
        updates = [p.update for p in seeds[0]]
        axes.plot(updates, curves.T, color=f"C{i}", alpha=0.25, linewidth=0.8)
        axes.plot(updates, np.median(curves, 0), color=f"C{i}", linewidth=2, label=name)
    axes.set(xlabel="update", ylabel="exploitability (NashConv / 2)", yscale="log", title=title)
    axes.grid(alpha=0.3, which="both")
    axes.legend()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)
    plt.close(figure)
