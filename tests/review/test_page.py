from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nashmon.review.charts import Series, heat_map, interval_chart, line_chart, ticks
from nashmon.review.page import facts, page, paragraph, section, table, write_page


def svg_of(html: str) -> ElementTree.Element:
    return ElementTree.fromstring(html)


def test_text_is_escaped_wherever_it_enters() -> None:
    evil = "<script>&"
    pieces = [
        paragraph(evil),
        table((evil,), [[evil]]),
        facts({evil: evil}),
        heat_map([[0.5]], [evil], [evil], [[evil]]),
        line_chart([Series(evil, [0], [1])], evil, evil),
        interval_chart([evil], [(0, -1, 1)], evil),
    ]
    html = page(evil, section(evil, *pieces))
    assert "<script>" not in html and html.count("&lt;script&gt;&amp;") >= 10


def test_every_chart_is_well_formed_and_refers_to_nothing_outside() -> None:
    band = Series("win rate", np.arange(5), np.ones(5), np.zeros(5), np.full(5, np.nan))
    for html in (
        heat_map(np.eye(3), "abc", "abc"),
        line_chart([band, Series("flat", [0.0, 1.0], [2.0, 2.0])], "x", "y"),
        line_chart([]),
        interval_chart(["a", "b"], [(1, 0, 2), (3, 3, 3)], "rating"),
    ):
        svg_of(html)
        assert "http" not in html


def test_an_interval_is_drawn_from_its_low_to_its_high_end() -> None:
    svg = svg_of(interval_chart(["a"], [(1.0, 0.0, 4.0)]))
    bar = next(line for line in svg.iter("line") if line.get("stroke-width") == "3")
    dot = next(svg.iter("circle"))
    low, high, value = (float(x or 0) for x in (bar.get("x1"), bar.get("x2"), dot.get("cx")))
    assert (value - low) / (high - low) == pytest.approx(0.25, abs=0.01)


def test_pieces_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="2 columns"):
        table(("a", "b"), [["x"]])
    with pytest.raises(ValueError, match="do not fit"):
        heat_map(np.eye(2), ["a"], ["a"])
    with pytest.raises(ValueError, match="both low and high"):
        Series("s", [1], [1], low=[0])
    with pytest.raises(ValueError, match="length"):
        Series("s", [1], [1, 2])


@given(st.floats(-1e6, 1e6), st.floats(1e-6, 1e6))
def test_ticks_lie_inside_and_are_few(low: float, width: float) -> None:
    found = ticks(low, low + width)
    assert len(found) <= 13
    slack = 1e-9 * max(1.0, abs(low) + width)
    assert all(low - slack <= tick <= low + width + slack for tick in found)


def test_a_page_is_written_whole(tmp_path: Path) -> None:
    write_page(tmp_path / "new" / "a.html", page("A"))
    assert (tmp_path / "new" / "a.html").read_text(encoding="utf-8").endswith("</html>\n")
    assert len(list((tmp_path / "new").iterdir())) == 1
