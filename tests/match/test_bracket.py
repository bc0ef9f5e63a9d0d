import pytest

from nashmon.match.bracket import Bracket, BracketError, play_bracket


def stronger_wins(first: str, second: str, series: int) -> tuple[int, int]:
    return (2, 0) if first < second else (0, 2)


@pytest.mark.parametrize("count", range(2, 18))
def test_the_strongest_wins_and_everybody_has_a_place(count: int) -> None:
    seeds = [chr(ord("a") + i) for i in range(count)]
    single = play_bracket(seeds, stronger_wins)
    double = play_bracket(seeds, stronger_wins, "double")
    assert single.places[0] == double.places[0] == "a"
    assert sorted(single.places) == sorted(double.places) == seeds
    assert len(single.series) == count - 1
    assert len(double.series) == 2 * (count - 1)  # everybody but the champion loses twice
    assert double.places[:2] == ("a", "b")


def losses(bracket: Bracket) -> dict[str, int]:
    count = dict.fromkeys(bracket.places, 0)
    for series in bracket.series:
        count[series.loser] += 1
    return count


@pytest.mark.parametrize("count", [2, 3, 5, 8, 13])
def test_nobody_leaves_a_double_elimination_before_a_second_defeat(count: int) -> None:
    seeds = [str(i) for i in range(count)]
    for seed in range(20):
        result = play_bracket(
            seeds, lambda a, b, n, s=seed: (1, 0) if hash((a, b, n, s)) % 2 else (0, 1), "double"
        )
        found = losses(result)
        assert found.pop(result.places[0]) <= 1
        assert set(found.values()) == {2}


def test_the_best_two_meet_in_the_final() -> None:
    result = play_bracket(list("abcdefgh"), stronger_wins)
    assert set(result.series[-1].agents) == {"a", "b"}


def test_impossible_brackets_are_refused() -> None:
    with pytest.raises(BracketError, match="two or more"):
        play_bracket(["a"], stronger_wins)
    with pytest.raises(BracketError, match="unknown bracket"):
        play_bracket(["a", "b"], stronger_wins, "triple")  # type: ignore[arg-type]
    with pytest.raises(BracketError, match="no winner"):
        play_bracket(["a", "b"], lambda a, b, n: (1, 1))
