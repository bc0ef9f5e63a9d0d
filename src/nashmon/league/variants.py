"""The variants of PSRO: what one round does.

    psro       σ is the solver's answer for the table; one response per round
    anytime    within a round σ is re-solved against every response found, and the mixture that
               loses least is kept: with exact responses its exploitability never rises
    selfplay   as anytime, and the population also gets the average of responses to the responses
    pipeline   several responses are trained at once, each against σ over the population and the
               unfinished ones below it; the lowest is finished and joins each round
    nfsp       σ is one agent, the average of all responses so far; the average is what is deployed
    descent    σ is one agent; an exploiter is trained against it, then it against all exploiters

A variant takes the workshop, the number of the round, the population and the rounds before, and
returns the round with those who join.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from nashmon.league.nash import Mixture, minimax, prioritised
from nashmon.league.payoff import Rates
from nashmon.league.population import Member
from nashmon.league.rounds import PSROError, Round, Workshop

Members = list[Member]
Result = tuple[Round, Members]
Respond = Callable[[Workshop, int, Members, Sequence[Round]], Result]

_CONVERGED = 1e-9  # a response that gains less than this over the known ones is none
_PART = 1e-6  # weight from which responses to responses are part of a mixture


def plain(shop: Workshop, number: int, population: Members, before: Sequence[Round]) -> Result:
    """One response to the solver's mixture."""
    rates = shop.oracles.play(population)
    mixture = shop.mixture(rates)
    response = shop.train(shop.task(f"r{number:03d}", population, mixture, rates))
    rates = shop.oracles.play([*population, response])
    return shop.describe(number, population, mixture, rates, len(population)), [response]


def anytime(shop: Workshop, number: int, population: Members, before: Sequence[Round]) -> Result:
    """Alternate between a response and the mixture that does best against all of them.

    Each mixture tried was met by a response of its own, so what it loses is known; the best of
    them and of the last round's is kept.
    """
    play, rates = shop.oracles.play, shop.oracles.play(population)
    responses: Members = []
    answers: Members = []  # selfplay: responses to the responses, open to the mixture
    tried = [np.array(last.mixture) for last in before[-1:]]
    columns, everyone = population, population
    for stage in range(1, shop.config.stages + 1):
        name = f"r{number:03d}s{stage:02d}"
        solution = minimax(rates.win_rates[:, : len(columns)])
        tried.append(solution.columns)
        task = shop.task(name, everyone, _padded(solution.columns, len(everyone)), rates)
        responses.append(shop.train(task))
        everyone = [*columns, *responses]
        rates = play(everyone)
        if _worst(rates, solution.columns) - solution.value <= _CONVERGED:
            break  # the mixture is the best there is, and this response has verified it
        if shop.config.variant == "selfplay":
            answers.append(shop.train(shop.task(f"{name}n", responses[-1:], np.ones(1))))
            columns = [*population, *answers]
            everyone = [*columns, *responses]
            rates = play(everyone)
    mixture = _padded(min(tried, key=lambda mixture: _worst(rates, mixture)), len(columns))
    merged: Members = []
    if answers:
        merged, mixture = _merged(shop, number, answers, mixture)
        rates = play([*population, *merged, *responses])
    open_to = [*population, *merged]
    best = int(np.argmax(rates.win_rates[:, : len(open_to)] @ mixture))
    return shop.describe(number, open_to, mixture, rates, best), [*merged, *responses]


def _merged(
    shop: Workshop, number: int, answers: Members, mixture: Mixture
) -> tuple[Members, Mixture]:
    """The answers as one member, their average with the weights they have in the mixture."""
    kept, weights = mixture[: -len(answers)], mixture[-len(answers) :]
    share = float(weights.sum())
    if share <= _PART:
        return [], kept / kept.sum()
    parts = [(m, float(w) / share) for m, w in zip(answers, weights, strict=True) if w > 0]
    return [shop.average(f"r{number:03d}a", parts)], np.append(kept, share)


def pipeline(shop: Workshop, number: int, population: Members, before: Sequence[Round]) -> Result:
    """Train `stages` responses at once, one slice each; the lowest is finished by it.

    Response n is trained in the rounds n − stages + 1 … n, going on from its own last slice.
    """
    learners = range(number, number + shop.config.stages)
    slices = {k: _slice_name(k, number - 1) for k in learners[:-1] if number > 1}
    last = {k: _finished(shop, name) for k, name in slices.items()}
    unfinished = list(last.values())
    rates = shop.oracles.play([*population, *unfinished])
    tasks = []
    for level, learner in enumerate(learners):
        below = [*population, *unfinished[:level]]
        seen = _restricted(rates, len(below))
        mixture = shop.mixture(seen)
        name = _slice_name(learner, number)
        tasks.append(shop.task(name, below, mixture, seen, last.get(learner)))
    response = shop.train_all(tasks)[0]
    mixture = shop.mixture(_restricted(rates, len(population)))
    rates = shop.oracles.play([*population, response])
    return shop.describe(number, population, mixture, rates, len(population)), [response]


def _slice_name(learner: int, number: int) -> str:
    return f"r{learner:03d}v{number:03d}"


def _finished(shop: Workshop, name: str) -> Member:
    def never() -> Member:
        raise PSROError(f"response {name} of the round before is not in the journal")

    return shop.once(name, never)


def nfsp(shop: Workshop, number: int, population: Members, before: Sequence[Round]) -> Result:
    """A response to the average of all responses, and the new average."""
    rates = shop.oracles.play(population)
    # The newest member is the average, from the second round on.
    mixture = np.eye(len(population))[-1] if before else shop.mixture(rates)
    names = [last.added[0] for last in before]
    older = [member for member in population if member.id in names]
    start = older[-1] if older else None
    response = shop.train(shop.task(f"r{number:03d}", population, mixture, rates, start))
    responses = [*older, response]
    average = shop.average(f"a{number:03d}", [(m, 1.0 / len(responses)) for m in responses])
    rates = shop.oracles.play([*population, response])
    return shop.describe(number, population, mixture, rates, len(population)), [response, average]


def descent(shop: Workshop, number: int, population: Members, before: Sequence[Round]) -> Result:
    """Exploit the newest main agent; if that wins measurably, defend it against all exploiters."""
    config, play = shop.config, shop.oracles.play
    main = defended(population, before)
    place = population.index(main)
    mixture = np.eye(len(population))[place]
    exploiter = shop.train(shop.task(f"x{number:03d}", population, mixture, play(population), main))
    rates = play([*population, exploiter])
    result = shop.describe(number, population, mixture, rates, len(population))
    if result.gain.low <= config.min_gain:
        return result, [exploiter]
    older = [last.added[0] for last in before]
    foes = [*(member for member in population if member.id in older), exploiter]
    beaten = [rates.win_rates[place, rates.agents.index(foe.id)] for foe in foes]
    defend = shop.oracles.defend
    if defend is None:
        raise PSROError("descent needs a callable that defends an agent")
    task = shop.task(f"d{number:03d}", foes, prioritised(beaten, config.power), start=main)
    return result, [exploiter, shop.once(task.name, lambda: defend(task))]


def defended(population: Sequence[Member], before: Sequence[Round]) -> Member:
    """The agent that descent improves: at first the last of the start."""
    names = [last.added[1] for last in before if len(last.added) > 1]
    if names:
        return next(member for member in population if member.id == names[-1])
    return population[len(before[0].population) - 1 if before else -1]


def _padded(mixture: Mixture, size: int) -> Mixture:
    return np.append(mixture, np.zeros(size - len(mixture)))


def _worst(rates: Rates, mixture: Mixture) -> float:
    """The most anyone in the table wins against a mixture over the first agents."""
    return float((rates.win_rates[:, : len(mixture)] @ mixture).max())


def _restricted(rates: Rates, size: int) -> Rates:
    table = None if rates.table is None else rates.table.restricted(rates.agents[:size])
    return Rates(rates.agents[:size], rates.win_rates[:size, :size], table)


# A new variant is one line here and one in `rounds.Variant`.
VARIANTS: dict[str, Respond] = {
    "psro": plain,
    "anytime": anytime,
    "selfplay": anytime,
    "pipeline": pipeline,
    "nfsp": nfsp,
    "descent": descent,
}
