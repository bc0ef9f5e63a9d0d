'use strict';
/* What the patch remembers on a Pokémon. */

// What is remembered on a Pokémon.  One property only: with two more than its own, V8 gives up on a
// fixed layout of the object and everything slows down.
const MEMORY = Symbol('memory');
const MAX_TABLES = 512;
const NOT_KNOWN = -1;

/** What a Pokémon's lasting effects answer, and what the last request said of it. */
class Memory {
  constructor() {
    this.ability = this.item = this.status = this.species = null;
    this.bits = null; // per table; NOT_KNOWN until asked
    this.said = null;
  }

  static of(pokemon) {
    return pokemon[MEMORY] ?? (pokemon[MEMORY] = new Memory());
  }

  isFresh(pokemon) {
    return this.ability === pokemon.ability && this.item === pokemon.item &&
      this.status === pokemon.status && this.species === pokemon.baseSpecies;
  }

  refresh({ability, item, status, baseSpecies, battle}) {
    this.ability = ability;
    this.item = item;
    this.status = status;
    this.species = baseSpecies;
    this.bits = sharedBits(battle.dex, baseSpecies, `${ability},${item},${status}`);
  }
}

const bitsByDex = new WeakMap();

/** The bits of all Pokémon with these lasting effects, in whatever battle. */
function sharedBits(dex, species, effects) {
  let bySpecies = bitsByDex.get(dex);
  if (bySpecies === undefined) bitsByDex.set(dex, bySpecies = new WeakMap());
  let byEffects = bySpecies.get(species);
  if (byEffects === undefined) bySpecies.set(species, byEffects = new Map());
  let bits = byEffects.get(effects);
  if (bits === undefined) byEffects.set(effects, bits = new Int8Array(MAX_TABLES).fill(NOT_KNOWN));
  return bits;
}

module.exports = {Memory, MAX_TABLES, NOT_KNOWN};
