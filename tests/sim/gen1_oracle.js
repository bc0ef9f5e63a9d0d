'use strict';
/*
 * Plays Gen 1 battles in Showdown and writes down all there is to compare.
 *
 * usage: node gen1_oracle.js <pokemon-showdown directory> <patch.js or "stock">
 * stdin: one JSON job per line {format, seed, teams, pick, switches, steps, choices?};
 * stdout: one JSON line per job {steps: [{choices, log, seed, requests}], error?}.
 * Without `choices` both seats choose at random from their requests; `switches` is the share of
 * switches where both are possible.
 */

const readline = require('readline');
const [showdownPath, patch] = process.argv.slice(2);
const {Battle, Teams} = require(showdownPath);
if (patch !== 'stock') require(patch).apply(showdownPath);

function generator(seed) {
  let x = seed >>> 0 || 1;
  return n => {
    x ^= x << 13; x >>>= 0;
    x ^= x >>> 17;
    x ^= x << 5; x >>>= 0;
    return x % n;
  };
}

function options(request) {
  const moves = [];
  const switches = [];
  const team = request.side.pokemon;
  if (!request.forceSwitch) {
    request.active[0].moves.forEach((move, i) => {
      if (!move.disabled) moves.push(`move ${i + 1}`);
    });
  }
  if (request.forceSwitch || !request.active[0].trapped) {
    team.forEach((mon, i) => {
      if (i > 0 && !mon.condition.endsWith(' fnt')) switches.push(`switch ${i + 1}`);
    });
  }
  return [moves, switches];
}

function pick(request, random, share) {
  const [moves, switches] = options(request);
  const some = switches.length && (!moves.length || random(1000) < share * 1000) ? switches : moves;
  return some[random(some.length)];
}

function snapshot(battle, from) {
  const requests = battle.sides.map(side => {
    const request = side.activeRequest;
    return !request || request.wait ? null : JSON.parse(JSON.stringify(request));
  });
  return {log: battle.log.slice(from), seed: battle.prng.getSeed(), requests};
}

function play(job) {
  const battle = new Battle({formatid: job.format, seed: job.seed});
  const teams = job.teams.map((team, i) =>
    team === null ? Teams.pack(Teams.generate('gen1randombattle', {seed: job.seed.map(w => w ^ (i + 1))})) : team);
  teams.forEach((team, i) => battle.setPlayer(`p${i + 1}`, {name: `p${i + 1}`, team}));
  const random = generator(job.pick);
  const steps = [snapshot(battle, 0)];
  const result = {teams, steps};
  try {
    while (!battle.ended && steps.length <= job.steps) {
      const from = battle.log.length;
      const before = steps[steps.length - 1];
      const given = job.choices && job.choices[steps.length - 1];
      if (job.choices && !given) break;
      before.choices = before.requests.map((request, i) =>
        request && (given ? given[i] : pick(request, random, job.switches)));
      for (const [i, choice] of before.choices.entries()) {
        if (choice && !battle.choose(`p${i + 1}`, choice)) throw new Error(`refused ${choice}: ${battle.sides[i].choice.error}`);
      }
      steps.push(snapshot(battle, from));
    }
  } catch (error) {
    result.error = String(error.stack);
  }
  result.ended = battle.ended;
  return result;
}

readline.createInterface({input: process.stdin}).on('line', line => {
  process.stdout.write(JSON.stringify(play(JSON.parse(line))) + '\n');
});
