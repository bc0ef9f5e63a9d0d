"""Self-contained HTML pages from small pieces.

    html = page("Run 7", section("Progress", line_chart([Series("win rate", x, y, low, high)])))
    write_page(path, html)

Every piece is a function that returns HTML; text is escaped where it enters.  Pieces: `section`,
`paragraph`, `table`, `facts` here, charts in `review.charts`.  A page refers to nothing outside
itself.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path

from nashmon import __version__

# A cell of a table: text is escaped, numbers are shown as given, (value, low, high) as an interval.
Cell = str | int | float | tuple[float, float, float] | None

_STYLE = """
:root { color-scheme: light dark; --ink: #1c2330; --soft: #667085; --line: #d0d5dd; --paper: #fff; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e9ef; --soft: #98a2b3; --line: #3b4252; --paper: #14181f; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper);
  max-width: 1080px; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.15rem; margin-top: 2rem; }
p { max-width: 70ch; } .soft { color: var(--soft); }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .3rem .7rem; border-bottom: 1px solid var(--line); text-align: right; }
th:first-child, td:first-child { text-align: left; }
th { font-weight: 600; color: var(--soft); }
svg { max-width: 100%; height: auto; } svg text { font: 12px system-ui, sans-serif;
  fill: var(--ink); } svg .soft { fill: var(--soft); } svg .axis { stroke: var(--line); }
"""


def page(title: str, *parts: str) -> str:
    """A whole document."""
    body = "\n".join(parts)
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width">'
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head>\n"
        f"<body><h1>{escape(title)}</h1>\n{body}\n"
        f'<p class="soft">nashmon {escape(__version__)}</p></body></html>\n'
    )


def section(title: str, *parts: str) -> str:
    """A heading and what belongs under it."""
    return f"<section><h2>{escape(title)}</h2>\n" + "\n".join(parts) + "\n</section>"


def paragraph(text: str) -> str:
    """A paragraph of plain text."""
    return f"<p>{escape(text)}</p>"


def table(headers: Sequence[str], rows: Sequence[Sequence[Cell]], digits: int = 3) -> str:
    """A table; the first column names the row.  Floats are rounded to `digits`."""
    for row in rows:
        if len(row) != len(headers):
            raise ValueError(f"a row has {len(row)} cells, the table {len(headers)} columns")
    head = "".join(f"<th>{escape(text)}</th>" for text in headers)
    body = "\n".join(
        "<tr>" + "".join(f"<td>{show(cell, digits)}</td>" for cell in row) + "</tr>" for row in rows
    )
    inside = f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody>"
    return f'<div class="wide"><table>{inside}</table></div>'


def facts(values: Mapping[str, Cell]) -> str:
    """Names and values, such as the settings of a run."""
    return table(("", ""), list(values.items()))


def show(cell: Cell, digits: int = 3) -> str:
    """One cell as escaped HTML."""
    if cell is None:
        return "–"
    if isinstance(cell, tuple):
        value, low, high = (f"{number:.{digits}f}" for number in cell)
        return f'{value} <span class="soft">[{low}, {high}]</span>'
    if isinstance(cell, float):
        return f"{cell:,.{digits}f}"
    return escape(f"{cell:,}" if isinstance(cell, int) else cell)


def write_page(path: Path, html: str) -> None:
    """Write or replace a page; a crash leaves the old one or the new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f".{path.name}.{os.getpid()}.new")
    fresh.write_text(html, encoding="utf-8")
    fresh.replace(path)
