'use strict';
/*
 * Random battles inside Node, without pipes: the cost of the simulator itself.
 *
 * usage: node showdown_node.js <pokemon-showdown directory> <patch.js | stock>
 * Each line of stdin is {"format", "teams", "count", "seed"}; each line of stdout the measurement.
 * Battles play as the bridge plays them: requests are serialised and the log is handed over.
 */
const [showdownPath, patch] = process.argv.slice(2);
const {Battle, Teams} = require(showdownPath);
if (patch !== 'stock') require(patch).apply(showdownPath);

/** The battle's own kind of generator, so that choices are the same for every build of the simulator. */
function random(seed) {
  let state = seed >>> 0 || 1;
  return bound => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor(state / 2 ** 32 * bound);
  };
}

const NEEDS_TARGET = new Set(['normal', 'any', 'adjacentFoe', 'adjacentAlly', 'adjacentAllyOrSelf']);

function moveChoice(active, slot, doubles, roll) {
  const usable = active.moves.map((move, i) => [move, i + 1]).filter(([move]) => !move.disabled);
  const [move, index] = usable[roll(usable.length)];
  let text = `move ${index}`;
  if (doubles && NEEDS_TARGET.has(move.target)) {
    if (move.target === 'adjacentAlly') text += ` -${2 - slot}`;
    else if (move.target === 'adjacentAllyOrSelf') text += ` -${1 + roll(2)}`;
    else text += ` ${1 + roll(2)}`;
  }
  if (active.canTerastallize && roll(8) === 0) text += ' terastallize';
  return text;
}

function choose(request, roll) {
  if (request.teamPreview) return 'default';
  const pokemon = request.side.pokemon;
  const bench = pokemon.map((entry, i) => [entry, i + 1])
    .filter(([entry]) => !entry.active && !entry.condition.endsWith(' fnt')).map(([, i]) => i);
  const slots = request.forceSwitch || request.active;
  const parts = slots.map((slot, i) => {
    const reviving = pokemon[i].reviving;
    if (request.forceSwitch ? !slot : pokemon[i].condition.endsWith(' fnt') || pokemon[i].commanding) return 'pass';
    if (reviving) return `switch ${1 + pokemon.findIndex(entry => entry.condition.endsWith(' fnt'))}`;
    if (request.forceSwitch || (!slot.trapped && bench.length && roll(6) === 0)) {
      return bench.length ? `switch ${bench.splice(roll(bench.length), 1)[0]}` : 'pass';
    }
    return moveChoice(slot, i, slots.length > 1, roll);
  });
  return parts.join(', ');
}

function play(format, teams, seed) {
  const roll = random(seed);
  let bytes = 0;
  const send = (type, data) => {
    if (type === 'sideupdate') bytes += data.length;
    else for (const line of data) bytes += line.length;
  };
  const battle = new Battle({formatid: format, seed: `1,2,${seed >>> 16},${seed & 65535}`, send});
  battle.sentEnd = true;
  ['p1', 'p2'].forEach((slot, seat) => battle.setPlayer(slot, {name: slot, team: teams[(seed + seat) % teams.length]}));
  battle.sendUpdates();
  let choices = 0;
  while (!battle.ended && battle.turn < 1000) {
    const requests = battle.sides.map(side => side.activeRequest);
    requests.forEach((request, seat) => {
      if (!request || request.wait) return;
      choices++;
      // A discovered trap or a rare target rule: the simulator's own choice keeps the battle going.
      if (!battle.choose(`p${seat + 1}`, choose(request, roll))) battle.choose(`p${seat + 1}`, 'default');
    });
    battle.sendUpdates();
  }
  const {turn} = battle;
  battle.destroy();
  return {choices, turn, bytes};
}

require('readline').createInterface({input: process.stdin}).on('line', line => {
  const {format, teams, count, seed} = JSON.parse(line);
  const before = process.cpuUsage();
  const total = {battles: count, choices: 0, turns: 0, bytes: 0};
  for (let i = 0; i < count; i++) {
    const {choices, turn, bytes} = play(format, teams, seed + i);
    total.choices += choices;
    total.turns += turn;
    total.bytes += bytes;
  }
  const used = process.cpuUsage(before);
  total.cpu_seconds = (used.user + used.system) / 1e6;
  process.stdout.write(JSON.stringify(total) + '\n');
});
