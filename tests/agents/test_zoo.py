"""The pretrained agents that come with the package play, and are as strong as their cards say."""

from __future__ import annotations

import pytest

from nashmon.agents.specs import get_agent, zoo
from nashmon.match.play import play
from nashmon.sim.make import make_battles


def test_every_pretrained_agent_has_a_card_and_is_small() -> None:
    assert set(zoo()) == {"gen1ou-hour", "gen1ou-magnet"}
    for path in zoo().values():
        assert (path / "CARD.md").is_file()
        assert sum(file.stat().st_size for file in path.iterdir()) < 20_000_000


@pytest.mark.parametrize(("name", "least"), [("gen1ou-magnet", 0.6), ("gen1ou-hour", 0.75)])
def test_pretrained_agents_beat_maxpower(name: str, least: float) -> None:
    battles = make_battles("gen1ou", 50)
    agents = get_agent(f"zoo:{name}", "gen1ou"), get_agent("maxpower", "gen1ou")
    record = play(agents, battles, 100, 1)
    battles.close()
    assert record.interval[0] > least
