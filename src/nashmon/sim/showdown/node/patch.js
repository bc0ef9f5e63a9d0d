'use strict';
/*
 * Makes the simulator faster at run time without changing what it does.
 *
 * Showdown asks every effect in play for handlers of every event under five names ("onX", "onAllyX",
 * "onAnyX", "onFoeX", "onSourceX") and copies the whole move object for each use.  Here
 *   1. an event first learns, from one table look-up per effect, which of its names can have a
 *      handler at all; the simulator's own search then runs only for those;
 *   2. an event without handlers is answered without running, for one effect as for all;
 *   3. a move is copied by a constructor generated once for it, and not at all where the end of a
 *      turn only looks at it;
 *   4. what a request says of a Pokémon is the same object as in the request before until it changes.
 * The tables only ever rule handlers out, so a battle's log and requests stay the same byte for byte;
 * tests compare them with the unpatched simulator.
 */

const path = require('path');
const {Memory, MAX_TABLES, NOT_KNOWN} = require('./memory');
const {patchRequests} = require('./patch_requests');

const ON = 1;
const ALLY = 2;
const ANY = 4;
const FOE = 8;
const SOURCE = 16;

// Where Showdown stops an endless loop of events; it then reports before it searches.
const MAX_DEPTH = 8;
const MAX_UNSENT_LINES = 1000;

// Events that Showdown looks up under the plain name only.
const PLAIN = new Set(['BeforeTurn', 'Update', 'Weather', 'WeatherChange', 'TerrainChange']);

// Methods that a mod or format may replace; where it does, the simulator's own search is used.
const SEARCHED = ['getStatus', 'getAbility', 'getItem', 'allies', 'alliesAndSelf', 'foes', 'activeTeam',
  'getWeather', 'getTerrain'];

// True from the event "DisableMove" to the next event of the same end of turn.  Meanwhile Showdown
// asks each move whether it disables itself, and copies it only for that.
let onlyLooking = false;

/** Under which names effects can answer one event, for one set of game data. */
class EventTable {
  constructor(dex, name, index) {
    this.dex = dex;
    this.index = index;
    this.prefixed = !PLAIN.has(name);
    this.isSwitchIn = name === 'SwitchIn';
    this.on = `on${name}`;
    this.ally = `onAlly${name}`;
    this.any = `onAny${name}`;
    this.foe = `onFoe${name}`;
    this.source = `onSource${name}`;
    this.conditions = new Map();
    this.abilities = new Map();
    this.items = new Map();
    this.others = new WeakMap(); // species and formats, which are objects in the battle already
  }

  bits(effect) {
    let bits = 0;
    if (effect[this.on] !== undefined) bits |= ON;
    // An ability or item without onSwitchIn answers this event with onStart.
    if (this.isSwitchIn && effect.onStart !== undefined) bits |= ON;
    if (effect[this.ally] !== undefined) bits |= ALLY;
    if (effect[this.any] !== undefined) bits |= ANY;
    if (effect[this.foe] !== undefined) bits |= FOE;
    if (effect[this.source] !== undefined) bits |= SOURCE;
    return bits;
  }

  condition(id) {
    let bits = this.conditions.get(id);
    if (bits === undefined) this.conditions.set(id, bits = this.bits(this.dex.conditions.getByID(id)));
    return bits;
  }

  ability(id) {
    let bits = this.abilities.get(id);
    if (bits === undefined) this.abilities.set(id, bits = this.bits(this.dex.abilities.getByID(id)));
    return bits;
  }

  item(id) {
    let bits = this.items.get(id);
    if (bits === undefined) this.items.set(id, bits = this.bits(this.dex.items.getByID(id)));
    return bits;
  }

  other(effect) {
    let bits = this.others.get(effect);
    if (bits === undefined) this.others.set(effect, bits = this.bits(effect));
    return bits;
  }

  all(states) {
    let bits = 0;
    for (const id in states) bits |= this.condition(id);
    return bits;
  }

  /** Bits of what seldom changes: ability, species, status and item. */
  lasting(pokemon) {
    let bits = this.ability(pokemon.ability) | this.other(pokemon.baseSpecies);
    if (pokemon.status) bits |= this.condition(pokemon.status);
    if (pokemon.item) bits |= this.item(pokemon.item);
    return bits;
  }

  pokemon(pokemon) {
    const memory = Memory.of(pokemon);
    if (!memory.isFresh(pokemon)) memory.refresh(pokemon);
    let bits = this.index < MAX_TABLES ? memory.bits[this.index] : this.lasting(pokemon);
    if (bits === NOT_KNOWN) bits = memory.bits[this.index] = this.lasting(pokemon);
    for (const id in pokemon.volatiles) bits |= this.condition(id);
    for (const id in pokemon.side.slotConditions[pokemon.position]) bits |= this.condition(id);
    return bits;
  }

  field(field) {
    let bits = this.all(field.pseudoWeather);
    if (field.weather) bits |= this.condition(field.weather);
    if (field.terrain) bits |= this.condition(field.terrain);
    return bits;
  }
}

function patchEvents({Battle}, {Pokemon}, {Side}) {
  const stockFind = Battle.prototype.findEventHandlers;
  const stockRun = Battle.prototype.runEvent;
  const stockSingle = Battle.prototype.singleEvent;
  const callbackNames = new Map();
  const tablesByDex = new WeakMap();
  const ordinary = Symbol('ordinary rules');
  const tables = Symbol('event tables');
  const stockEndTurn = Battle.prototype.endTurn;
  let endingTurn = false;
  let found = null; // handlers that runEvent has found for the search it is about to repeat

  /** Two players, and nothing the tables rely on replaced by a mod or format. */
  function isOrdinary(battle) {
    const {Scripts} = battle.dex.data;
    const replaced = [Scripts.pokemon, Scripts.side, Scripts.field,
      battle.format.pokemon, battle.format.side, battle.format.field];
    return battle.findEventHandlers === Battle.prototype.findEventHandlers && battle.sides.length === 2 && ['singles', 'doubles'].includes(battle.gameType) &&
      replaced.every(part => !part || SEARCHED.every(name => !(name in part)));
  }

  function tableFor(battle, name) {
    let byName = battle[tables];
    if (byName === undefined) {
      byName = tablesByDex.get(battle.dex);
      if (byName === undefined) tablesByDex.set(battle.dex, byName = new Map());
      battle[tables] = byName;
    }
    let table = byName.get(name);
    if (table === undefined) byName.set(name, table = new EventTable(battle.dex, name, byName.size));
    return table;
  }

  function add(handlers, more) {
    for (let i = 0; i < more.length; i++) handlers.push(more[i]);
  }

  function fromActives(battle, table, target, source, handlers) {
    let sourceBits = -1;
    const own = table.pokemon(target);
    if (own & ON) add(handlers, battle.findPokemonEventHandlers(target, table.on));
    if (!table.prefixed) return sourceBits;
    for (const pokemon of target.side.active) {
      if (!pokemon || !pokemon.hp) continue;
      const bits = pokemon === target ? own : table.pokemon(pokemon);
      if (pokemon === source) sourceBits = bits;
      if (bits & ALLY) add(handlers, battle.findPokemonEventHandlers(pokemon, table.ally));
      if (bits & ANY) add(handlers, battle.findPokemonEventHandlers(pokemon, table.any));
    }
    for (const pokemon of target.side.foe.active) {
      if (!pokemon || !pokemon.hp) continue;
      const bits = table.pokemon(pokemon);
      if (pokemon === source) sourceBits = bits;
      if (bits & FOE) add(handlers, battle.findPokemonEventHandlers(pokemon, table.foe));
      if (bits & ANY) add(handlers, battle.findPokemonEventHandlers(pokemon, table.any));
    }
    return sourceBits;
  }

  function fromSides(battle, table, own, handlers) {
    for (const side of battle.sides) {
      const bits = table.all(side.sideConditions);
      if (bits === 0) continue;
      if (side === own) {
        if (bits & ON) add(handlers, battle.findSideEventHandlers(side, table.on));
      } else if (table.prefixed && bits & FOE) {
        add(handlers, battle.findSideEventHandlers(side, table.foe));
      }
      if (table.prefixed && bits & ANY) add(handlers, battle.findSideEventHandlers(side, table.any));
    }
  }

  function find(battle, target, name, source) {
    if (battle[ordinary] === undefined) battle[ordinary] = isOrdinary(battle);
    if (!battle[ordinary] || Array.isArray(target) || target instanceof Side) {
      return stockFind.call(battle, target, name, source);
    }
    const table = tableFor(battle, name);
    const handlers = [];
    let sourceBits = -1;
    const inPlay = target instanceof Pokemon && (target.isActive || source?.isActive);
    if (inPlay) sourceBits = fromActives(battle, table, target, source, handlers);
    if (source && table.prefixed) {
      if (sourceBits < 0) sourceBits = table.pokemon(source);
      if (sourceBits & SOURCE) add(handlers, battle.findPokemonEventHandlers(source, table.source));
    }
    if (inPlay) fromSides(battle, table, target.side, handlers);
    if (table.field(battle.field) & ON) add(handlers, battle.findFieldEventHandlers(battle.field, table.on));
    if (battle.events || table.other(battle.format) & ON) add(handlers, battle.findBattleEventHandlers(table.on));
    return handlers;
  }

  Battle.prototype.findEventHandlers = function (target, name, source) {
    if (found !== null) {
      const handlers = found;
      found = null;
      return handlers;
    }
    return find(this, target, name, source);
  };

  function run(name, target, source, sourceEffect, relayVar, onEffect, fastExit) {
    if (this[ordinary] === undefined) this[ordinary] = isOrdinary(this);
    if (this[ordinary] && this.eventDepth < MAX_DEPTH) {
      found = find(this, target || this, name, source instanceof Pokemon ? source : null);
      if (found.length === 0 && !onEffect && !Array.isArray(target)) {
        found = null;
        if (relayVar === undefined || relayVar === null) return true;
        if (typeof relayVar === 'number' && relayVar === Math.abs(Math.floor(relayVar))) {
          return this.modify(relayVar, 1);
        }
        return relayVar;
      }
    }
    return stockRun.call(this, name, target, source, sourceEffect, relayVar, onEffect, fastExit);
  }

  Battle.prototype.runEvent = function (name, target, source, sourceEffect, relayVar, onEffect, fastExit) {
    onlyLooking = false;
    const result = run.call(this, name, target, source, sourceEffect, relayVar, onEffect, fastExit);
    onlyLooking = endingTurn && name === 'DisableMove';
    return result;
  };

  Battle.prototype.endTurn = function () {
    endingTurn = true;
    try {
      return stockEndTurn.call(this);
    } finally {
      endingTurn = onlyLooking = false;
    }
  };

  Battle.prototype.singleEvent = function (name, effect, state, target, source, sourceEffect, relayVar, callback) {
    let callbackName = callbackNames.get(name);
    if (callbackName === undefined) callbackNames.set(name, callbackName = `on${name}`);
    // Debug formats log why a handler would be suppressed; the limits end an endless loop.
    if (!callback && effect[callbackName] === undefined && !this.debugMode && this.eventDepth < MAX_DEPTH &&
        this.log.length - this.sentLogPos <= MAX_UNSENT_LINES) {
      return relayVar === undefined ? true : relayVar;
    }
    return stockSingle.call(this, name, effect, state, target, source, sourceEffect, relayVar, callback);
  };
}

/** Whether `value` is made of arrays, plain objects and values that copies may share. */
function isPlain(value) {
  if (value === null || typeof value !== 'object') return true;
  if (Array.isArray(value)) return value.every(isPlain);
  return Object.getPrototypeOf(value) === Object.prototype && !Object.hasOwn(value, '__proto__') &&
    Object.values(value).every(isPlain);
}

/** Source text of an expression that builds a deep copy; `constants` collects what copies share. */
function copySource(value, constants) {
  if (value === null || typeof value === 'boolean') return String(value);
  if (typeof value === 'string') return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(item => copySource(item, constants)).join()}]`;
  if (typeof value === 'object') {
    const fields = Object.keys(value).map(key => `${JSON.stringify(key)}:${copySource(value[key], constants)}`);
    return `{${fields.join()}}`;
  }
  constants.push(value);
  return `constants[${constants.length - 1}]`;
}

/** A constructor of copies of `move`, or null when the move holds something unusual. */
function copyConstructor(move) {
  if (!Object.values(move).every(isPlain)) return null;
  const constants = [];
  const body = Object.keys(move).map(key => `this[${JSON.stringify(key)}]=${copySource(move[key], constants)};`);
  const make = new Function('constants', `return function ActiveMove() {${body.join('\n')}\nthis.hit=0;};`);
  const constructor = make(constants);
  constructor.prototype = Object.getPrototypeOf(move);
  return constructor;
}

function patchMoves({ModdedDex}) {
  const stock = ModdedDex.prototype.getActiveMove;
  const constructors = new WeakMap();
  ModdedDex.prototype.getActiveMove = function (move) {
    if (move && typeof move.hit === 'number') return move;
    const original = this.moves.get(move);
    // Only the shared, frozen moves of the dex can never change after their first copy.
    if (!Object.isFrozen(original)) return stock.call(this, original);
    if (onlyLooking && original.onDisableMove === undefined) return original;
    let constructor = constructors.get(original);
    if (constructor === undefined) constructors.set(original, constructor = copyConstructor(original));
    return constructor === null ? stock.call(this, original) : new constructor();
  };
}

/** Patch the simulator found in this package directory; call once, before the first battle. */
function apply(packagePath) {
  const part = name => require(path.join(packagePath, 'dist', 'sim', name));
  patchEvents(part('battle'), part('pokemon'), part('side'));
  patchMoves(part('dex'));
  patchRequests(part('pokemon'));
}

module.exports = {apply};
