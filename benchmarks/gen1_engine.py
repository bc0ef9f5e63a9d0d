"""How fast the Gen 1 engine is, beside Showdown's simulator in Node, on the same core.

(a) random legal play inside compiled code against random legal play inside Node;
(b) the batched Python API with both seats' observations and masks;
(c) two threads against one; memory per battle; cost from 1 to 65,536 battles; start-up times.
Times are CPU seconds where one process is measured, so that other work on the machine counts less.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nashmon.sim.base import Step
from nashmon.sim.gen1 import layout as at
from nashmon.sim.gen1.battles import Gen1Battles, Gen1Config
from nashmon.sim.gen1.playout import play_rows
from nashmon.sim.gen1.setup import read_team, write_start
from nashmon.sim.make import default_teams
from nashmon.sim.seeds import PoolTeams
from nashmon.sim.showdown.install import find_showdown
from nashmon.sim.showdown.node import find_node

FORMAT = "gen1ou"
TEAMS = default_teams(FORMAT)

_NODE = """
const {Battle} = require(process.argv[2]);
const teams = JSON.parse(process.argv[3]);
const seconds = Number(process.argv[4]);
let x = 12345;
const random = n => { x ^= x << 13; x >>>= 0; x ^= x >>> 17; x ^= x << 5; x >>>= 0; return x % n; };
function pick(request) {
  const options = [];
  if (!request.forceSwitch) request.active[0].moves.forEach((move, i) => {
    if (!move.disabled) options.push(`move ${i + 1}`);
  });
  if (request.forceSwitch || !request.active[0].trapped) request.side.pokemon.forEach((mon, i) => {
    if (i && !mon.condition.endsWith(' fnt')) options.push(`switch ${i + 1}`);
  });
  return options[random(options.length)];
}
function play(seed) {
  let decisions = 0, steps = 0;
  const battle = new Battle({formatid: 'gen1ou', seed: [seed, 2, 3, 4]});
  for (const p of ['p1', 'p2']) battle.setPlayer(p, {name: p, team: teams[random(teams.length)]});
  while (!battle.ended) {
    const requests = battle.sides.map(side => side.activeRequest);
    for (const [i, request] of requests.entries()) {
      if (!request || request.wait) continue;
      battle.choose(`p${i + 1}`, pick(request));
      decisions++;
    }
    steps++;
  }
  return [decisions, steps];
}
for (let i = 0; i < 5; i++) play(i);
const total = {decisions: 0, steps: 0, battles: 0};
let best = 0;
const begun = process.hrtime.bigint();
let number = 0;
while (Number(process.hrtime.bigint() - begun) / 1e9 < seconds) {
  let played = 0;
  const start = process.cpuUsage();
  for (let i = 0; i < 10; i++) {
    const [decisions, steps] = play(number++ & 0xFFFF);
    played += decisions; total.steps += steps; total.battles++;
  }
  const used = process.cpuUsage(start);
  total.decisions += played;
  best = Math.max(best, played / ((used.user + used.system) / 1e6));
}
console.log(JSON.stringify({best, total}));
"""


def showdown_rates(seconds: float) -> dict[str, float]:
    """Random play inside Node, stock package, per CPU second; the best of several rounds."""
    with tempfile.TemporaryDirectory() as directory:
        script = Path(directory) / "play.js"
        script.write_text(_NODE)
        command = [str(find_node().path), str(script), str(find_showdown())]
        command += [json.dumps(TEAMS), str(seconds)]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
    played = json.loads(done.stdout)
    return _rates(played["best"], played["total"])


def _rates(decisions_per_s: float, total: dict[str, float]) -> dict[str, float]:
    """Rates of decisions, steps and battles; battles differ in length, so by their mean."""
    return {name: decisions_per_s * count / total["decisions"] for name, count in total.items()}


def new_battles(count: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Rows of battles that have not begun, and their dice."""
    teams = [read_team(team) for team in TEAMS]
    state = np.zeros((count, at.ROW), np.int16)
    for row in state:
        first, second = rng.integers(len(teams), size=2)
        write_start(row, teams[first], teams[second])
    return state, rng.integers(0, 1 << 63, count).astype(np.uint64)


def engine_rates(seconds: float) -> dict[str, float]:
    """Random play inside compiled code, per CPU second; the best of several rounds."""
    rng = np.random.default_rng(0)
    count = 512
    best, total = 0.0, {"decisions": 0.0, "steps": 0.0, "battles": 0.0}
    begun = time.perf_counter()
    while time.perf_counter() - begun < seconds:
        state, seeds = new_battles(count, rng)
        start = time.process_time()
        steps, decisions = play_rows(state, seeds, 1000, np.zeros(count))
        best = max(best, decisions / (time.process_time() - start))
        for name, value in (("decisions", decisions), ("steps", steps), ("battles", count)):
            total[name] += value
    return _rates(best, total)


def choose(masks: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Uniform legal actions, −1 where there is none."""
    counts = masks.sum(axis=-1)
    picks = (rng.random(counts.shape) * counts).astype(np.int64)
    actions = (masks.cumsum(axis=-1) > picks[..., None]).argmax(axis=-1)
    return np.where(counts > 0, actions, -1)


Playing = tuple[Gen1Battles, Step]


def api_battles(num_battles: int, threads: int, observation: str | None) -> Playing:
    """A block that has played its first steps."""
    config = Gen1Config(FORMAT, PoolTeams(TEAMS, TEAMS), observation=observation, threads=threads)
    battles = Gen1Battles(config, num_battles)
    playing = battles, battles.reset(0)
    play_on(playing, np.random.default_rng(0), 0.0)
    return playing


def play_on(playing: Playing, rng: np.random.Generator, seconds: float) -> NDArray[np.float64]:
    """Play on at random for a while: decisions, steps, seconds of sampling and of stepping."""
    done = np.zeros(4)
    battles, step = playing  # whose arrays follow the battles
    begun = time.perf_counter()
    while done[1] < 3 or time.perf_counter() - begun < seconds:
        before = time.perf_counter()
        actions = choose(step.masks, rng)
        between = time.perf_counter()
        battles.step(actions)
        after = time.perf_counter()
        done += ((actions >= 0).sum(), 1, between - before, after - between)
    return done


def api_rates(
    num_battles: int, seconds: float, threads: int = 1, observation: str | None = "entity"
) -> dict[str, Any]:
    """The batched API: what part of the time goes where, decisions per CPU and wall second."""
    playing = api_battles(num_battles, threads, observation)
    with playing[0] as battles:
        begun = time.process_time()
        decisions, steps, *parts = play_on(playing, np.random.default_rng(1), seconds).tolist()
        spent = time.process_time() - begun
    return {
        "decisions_per_cpu_s": decisions / spent,
        "decisions_per_s": decisions / sum(parts),
        "decisions_per_s_in_step": decisions / parts[1],
        "share_sampling": parts[0] / sum(parts),
        "us_per_battle_step": sum(parts) / steps / num_battles * 1e6,
        "bytes_per_battle": battles.bytes_per_battle,
    }


def two_threads(seconds: float) -> dict[str, float]:
    """Two threads over one, in turn, medians: the batched API, and what the machine can give.

    The machine's own figure is the bare engine in two threads that share nothing.
    """
    api: list[float] = []
    bare: list[float] = []
    rng = np.random.default_rng(0)
    blocks = [api_battles(4096, threads, "entity") for threads in (1, 2)]
    with ThreadPoolExecutor(2) as pool:
        begun = time.perf_counter()
        while len(api) < 3 or time.perf_counter() - begun < seconds:
            rates = [played[0] / played[3] for played in (play_on(b, rng, 0.4) for b in blocks)]
            api.append(rates[1] / rates[0])
            alone, *pair = (new_battles(2048, rng) for _ in range(3))
            spent = []
            for parts in ([alone], pair):
                start = time.perf_counter()
                jobs = [pool.submit(play_rows, *part, 1000, np.zeros(2048)) for part in parts]
                decisions = sum(job.result()[1] for job in jobs)
                spent.append((time.perf_counter() - start) / decisions)
            bare.append(spent[0] / spent[1])
    for battles, _ in blocks:
        battles.close()
    return {
        "api": float(np.median(api)),
        "machine": float(np.median(bare)),
        "best": float(max(api)),
    }


def start_up() -> dict[str, float]:
    """Seconds of a fresh process until the first step, with compiled code on disk and without."""
    code = (
        "import time; t = time.perf_counter()\n"
        "from nashmon.sim.gen1.battles import Gen1Battles, Gen1Config\n"
        "from nashmon.sim.make import default_teams\n"
        "from nashmon.sim.seeds import PoolTeams\n"
        "import numpy as np\n"
        f"p = default_teams('{FORMAT}')\n"
        f"b = Gen1Battles(Gen1Config('{FORMAT}', PoolTeams(p, p)), 16)\n"
        "s = b.reset(0)\n"
        "b.step(np.where(s.acting, s.masks.argmax(-1), -1))\n"
        "print(time.perf_counter() - t)\n"
    )

    def run(cache: str) -> float:
        env = os.environ | {"NUMBA_CACHE_DIR": cache}
        command = [sys.executable, "-c", code]
        done = subprocess.run(command, check=True, capture_output=True, text=True, env=env)
        return float(done.stdout)

    with tempfile.TemporaryDirectory() as directory:
        cold, warm = run(directory), run(directory)
    return {"cold_s": cold, "warm_s": warm}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    seconds = 2.0 if quick else 8.0
    sizes = (1, 64, 1024) if quick else (1, 16, 256, 4096, 65536)
    api_rates(4, 0.1)  # compile
    play_rows(np.zeros((0, at.ROW), np.int16), np.zeros(0, np.uint64), 1, np.zeros(0))
    result: dict[str, Any] = {"showdown": showdown_rates(seconds), "engine": engine_rates(seconds)}
    result["ratio"] = {
        name: result["engine"][name] / rate for name, rate in result["showdown"].items()
    }
    result["api"] = api_rates(1024, seconds)
    result["api_without_observation"] = api_rates(1024, seconds, observation=None)
    result["two_threads"] = two_threads(2 * seconds)
    result["us_per_battle_step"] = {
        str(size): api_rates(size, seconds / 3)["us_per_battle_step"] for size in sizes
    }
    if not quick:
        result["start_up"] = start_up()
    for name, value in result.items():
        print(name, value)
    print("RESULT", json.dumps(result))


if __name__ == "__main__":
    main()
