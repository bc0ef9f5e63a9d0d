'use strict';
/*
 * The battles of one process: start, choose, audit, log, end.
 *
 * Battles are advanced through the simulator's own `choose` and `sendUpdates`; each seat gets exactly
 * the lines and requests a server would send to that player, except time stamps.
 */

const v8 = require('v8');
const vm = require('vm');
const {inputError, findFormat} = require('./checks');

const SEATS = ['p1', 'p2'];
const SPLIT = '|split|p';
const TIME = '|t:|';

/** Whether two values of a request's entry (text, truth value, list of ids, stats) are the same. */
function same(a, b) {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every(key => a[key] === b[key]);
}

/** JSON text of one Pokémon's entry, given those of the request before. */
function entryText(entry, before, place) {
  // The patched simulator repeats the object itself while it stays true.
  if (entry === before[place]) return String(place);
  const old = before.findIndex(other => other === entry || other.ident === entry.ident);
  if (old < 0) return JSON.stringify(entry);
  const known = before[old];
  if (known === entry) return String(old);
  const keys = Object.keys(entry);
  if (keys.length !== Object.keys(known).length) return JSON.stringify(entry);
  let changes = '';
  for (const key of keys) {
    if (!(key in known)) return JSON.stringify(entry);
    if (same(entry[key], known[key])) continue;
    changes += `${changes && ','}"${key}":${JSON.stringify(entry[key])}`;
  }
  return changes ? `[${old},{${changes}}]` : String(old);
}

/** One running battle and what its seats have not been told yet. */
class Match {
  constructor(id) {
    this.id = id;
    this.battle = null;
    this.lines = []; // a line both seats see, or [p1's, p2's] with null for nothing
    this.requests = ['null', 'null']; // JSON text
    this.errors = [null, null];
    this.muted = false; // while choices are only tried
    this.entries = [[], []]; // each seat's Pokémon as last sent
    this.receive = this.receive.bind(this);
  }

  /**
   * Send a seat's requests as objects: a Pokémon that did not change since the last request is only
   * the number of its place there, one that did is that number and what changed.
   */
  shorten(seat) {
    const match = this;
    const side = this.battle.sides[seat];
    side.emitRequest = function (update = this.activeRequest, updatedRequest = false) {
      if (updatedRequest) this.activeRequest.update = true;
      if (!match.muted) match.requests[seat] = match.requestText(seat, update);
      this.activeRequest = update;
    };
  }

  requestText(seat, request) {
    const before = this.entries[seat];
    const entries = request.side.pokemon;
    let pokemon = '';
    for (let i = 0; i < entries.length; i++) {
      if (i) pokemon += ',';
      pokemon += entryText(entries[i], before, i);
    }
    this.entries[seat] = entries;
    const rest = JSON.stringify({...request, side: {name: request.side.name, id: request.side.id}});
    return `[${rest},[${pokemon}]]`;
  }

  receive(type, data) {
    if (type === 'update') {
      this.splitLines(data);
    } else if (type === 'sideupdate') {
      // "p1\n|error|…" or a line that only this player sees
      const seat = data.charCodeAt(1) - 49;
      const text = data.slice(3);
      if (text.startsWith('|error|')) this.errors[seat] = text.slice(7);
      else this.addLine(seat, text);
    }
  }

  addLine(seat, line) {
    this.lines.push(seat === 0 ? [line, null] : [null, line]);
  }

  /** Take log lines; a split gives its owner the secret line, others the shared one. */
  splitLines(log) {
    const {lines} = this;
    for (let i = 0; i < log.length; i++) {
      const line = log[i];
      if (line.startsWith(SPLIT)) {
        const secret = log[i + 1] || null;
        const shared = log[i + 2] || null;
        i += 2;
        lines.push(line === '|split|p1' ? [secret, shared] : [shared, secret]);
      } else if (line && !line.startsWith(TIME)) {
        if (line.includes('\n')) lines.push(...line.split('\n')); // raw HTML may have several lines
        else lines.push(line);
      }
    }
  }

  /** What is new, as JSON text: [id, turn, ended, winner, lines, requests ×2, errors ×2]. */
  take() {
    const {battle, lines, requests, errors} = this;
    const text = `[${this.id},${battle.turn},${battle.ended},${this.winner()},` +
      `${JSON.stringify(lines)},${requests[0]},${requests[1]},` +
      `${JSON.stringify(errors[0])},${JSON.stringify(errors[1])}]`;
    this.lines = [];
    this.requests = ['null', 'null'];
    this.errors = [null, null];
    return text;
  }

  winner() {
    const {battle} = this;
    if (!battle.ended || !battle.winner) return null;
    return battle.sides.findIndex(side => side.name === battle.winner);
  }

  /** Omniscient log lines without time stamps. */
  fullLog() {
    const kept = [];
    const {log} = this.battle;
    for (let i = 0; i < log.length; i++) {
      if (log[i].startsWith(SPLIT)) {
        kept.push(log[i + 1]);
        i += 2;
      } else if (log[i] && !log[i].startsWith(TIME)) {
        kept.push(log[i]);
      }
    }
    return kept;
  }
}

module.exports = showdown => {
  const {Battle, Teams} = showdown;
  const matches = new Map();

  function find(id) {
    const match = matches.get(id);
    if (!match) throw inputError('battle', `no battle ${id}: it was never started or has been ended`);
    return match;
  }

  function drop(id) {
    const match = matches.get(id);
    matches.delete(id);
    if (match?.battle?.field) match.battle.destroy();
  }

  /** Run `action` for one battle; a crash of the simulator ends this battle only. */
  function guarded(match, action) {
    try {
      action();
      match.battle.sendUpdates();
      return match.take();
    } catch (error) {
      const inputLog = match.battle ? match.battle.inputLog : [];
      matches.delete(match.id);
      return `[${match.id},${JSON.stringify({message: error.stack, inputLog})}]`;
    }
  }

  function checkStart({id, format, teams, names, seed}) {
    if (!Number.isSafeInteger(id)) throw inputError('battle', `battle id ${id} is not an integer`);
    const running = matches.get(id);
    if (running && !running.battle.ended) {
      throw inputError('battle', `battle ${id} is still running: end it before starting it anew`);
    }
    const found = findFormat(showdown, format);
    if (found.playerCount !== 2) {
      throw inputError('format', `${found.id} needs ${found.playerCount} players; two seats are supported`);
    }
    if (names[0] === names[1] || names.some(name => !name || /[|\n,]/.test(name))) {
      throw inputError('battle', `battle ${id}: player names ${JSON.stringify(names)} must be two ` +
        'different non-empty names without "|", "," and line breaks');
    }
    if (!/^\d+,\d+,\d+,\d+$/.test(seed)) throw inputError('battle', `battle ${id}: bad seed ${seed}`);
    for (const team of teams) {
      if (team === null ? !found.team : !Teams.unpack(team)) {
        throw inputError('team', team === null ?
          `${found.id} has no random teams: battle ${id} needs two packed teams` :
          `battle ${id}: ${JSON.stringify(team.slice(0, 80))} is not a packed team`);
      }
    }
  }

  function startOne({id, format, teams, names, seed, team_seeds: teamSeeds, open_sheets: openSheets}) {
    drop(id);
    const match = new Match(id);
    matches.set(id, match);
    return guarded(match, () => {
      match.battle = new Battle({formatid: format, seed, send: match.receive});
      // Skips only the summary for a stream's "end" message, which nobody reads.
      match.battle.sentEnd = true;
      SEATS.forEach((slot, seat) => {
        const options = {name: names[seat]};
        if (teams[seat] === null) options.seed = teamSeeds[seat];
        else options.team = teams[seat];
        match.battle.setPlayer(slot, options);
      });
      SEATS.forEach((slot, seat) => match.shorten(seat));
      if (openSheets) match.battle.showOpenTeamSheets();
    });
  }

  function chooseOne(id, first, second) {
    const match = find(id);
    return guarded(match, () => {
      if (first !== null) match.battle.choose('p1', first);
      if (second !== null) match.battle.choose('p2', second);
    });
  }

  /** Which of the choices the simulator would accept now; the battle is as before afterwards. */
  function audit({id, seat, choices}) {
    const match = find(id);
    const {battle} = match;
    const side = battle.sides[seat];
    const {choice, activeRequest} = side;
    const {send} = battle;
    const before = [battle.log.length, battle.prng.getSeed(), battle.inputLog.length].join();
    // Validating a choice may reveal a trap or a lock, which marks the Pokémon and the request.
    const marks = side.active.filter(Boolean).map(({trapped, maybeTrapped, maybeDisabled, maybeLocked, switchFlag}) =>
      ({trapped, maybeTrapped, maybeDisabled, maybeLocked, switchFlag}));
    let request = null;
    const restore = () => {
      side.active.filter(Boolean).forEach((pokemon, i) => Object.assign(pokemon, marks[i]));
      if (!request || request.update) {
        // The simulator sets `update` when it changes a request; only then a new copy is needed.
        request = structuredClone(activeRequest);
        delete request.update;
      }
      side.activeRequest = request;
      side.choice = choice;
    };
    const accepted = [];
    battle.send = () => {};
    match.muted = true;
    try {
      for (const text of choices) {
        restore();
        side.clearChoice();
        accepted.push(side.choose(text) && side.isChoiceDone());
      }
    } finally {
      restore();
      side.activeRequest = activeRequest;
      battle.send = send;
      match.muted = false;
    }
    if (before !== [battle.log.length, battle.prng.getSeed(), battle.inputLog.length].join()) {
      throw new Error(`auditing battle ${id} changed it`);
    }
    return JSON.stringify(accepted);
  }

  return {
    start({battles}) {
      battles.forEach(checkStart);
      const ids = new Set(battles.map(battle => battle.id));
      if (ids.size !== battles.length) throw inputError('battle', 'two battles have the same id');
      return battles.map(startOne);
    },
    choose({choices}) {
      choices.forEach(([id]) => find(id));
      return choices.map(([id, first, second]) => chooseOne(id, first, second));
    },
    audit,
    battles: () => JSON.stringify([...matches.keys()]),
    log({id}) {
      const match = find(id);
      return JSON.stringify({lines: match.fullLog(), input_log: match.battle.inputLog});
    },
    /** Bytes of live objects after a full collection: what grows when something is never freed. */
    memory() {
      v8.setFlagsFromString('--expose-gc');
      vm.runInNewContext('gc')();
      return JSON.stringify(process.memoryUsage().heapUsed);
    },
    end({ids}) {
      ids.forEach(find);
      ids.forEach(drop);
      return 'null';
    },
  };
};
