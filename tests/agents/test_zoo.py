"""The pretrained agents that come with the package play, and are as strong as their cards say."""

from __future__ import annotations

from nashmon.agents.specs import get_agent, zoo
from nashmon.match.play import play
from nashmon.sim.make import make_battles


def test_every_pretrained_agent_has_a_card_and_is_small() -> None:
    assert "gen1ou-magnet" in zoo()
    for path in zoo().values():
        assert (path / "CARD.md").is_file()
        assert sum(file.stat().st_size for file in path.iterdir()) < 20_000_000


def test_gen1ou_magnet_beats_maxpower() -> None:
    battles = make_battles("gen1ou", 50)
    agents = get_agent("zoo:gen1ou-magnet", "gen1ou"), get_agent("maxpower", "gen1ou")
    record = play(agents, battles, 100, 1)
    battles.close()
    assert record.interval[0] > 0.6
