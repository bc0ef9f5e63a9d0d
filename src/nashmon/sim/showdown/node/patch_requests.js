'use strict';
/* Part of the patch: what a request says of a Pokémon is the same object as before until it changes. */

const {Memory} = require('./memory');

const VARYING = new Set(['hiddenpower', 'frustration', 'return']); // requests add a power or type to these

function sameMoves(slots, ids) {
  if (slots.length !== ids.length) return false;
  for (let i = 0; i < ids.length; i++) if (slots[i].id !== ids[i]) return false;
  return true;
}

function sameStats(stats, said) {
  return stats.atk === said.atk && stats.def === said.def && stats.spa === said.spa &&
    stats.spd === said.spd && stats.spe === said.spe;
}

function patchRequests({Pokemon}) {
  const stock = Pokemon.prototype.getSwitchRequestData;

  /** Whether the stock method would now make an entry that differs in condition and place at most. */
  function stillTrue(pokemon, said) {
    const {battle, side} = pokemon;
    return said.details === pokemon.details && said.ident === pokemon.fullname &&
      said.item === pokemon.item && said.baseAbility === pokemon.baseAbility && said.pokeball === pokemon.pokeball &&
      (battle.gen <= 6 || said.ability === pokemon.ability) &&
      (battle.gen < 9 || (
        said.commanding === (!!pokemon.volatiles['commanding'] && !pokemon.fainted) &&
        said.reviving === (pokemon.isActive && !!side.slotConditions[pokemon.position]['revivalblessing']))) &&
      (said.teraType === undefined || (
        said.teraType === pokemon.teraType && said.terastallized === (pokemon.terastallized || ''))) &&
      sameStats(pokemon.baseStoredStats, said.stats) && sameMoves(pokemon.moveSlots, said.moves);
  }

  Pokemon.prototype.getSwitchRequestData = function (forAlly) {
    if (forAlly) return stock.call(this, forAlly);
    const memory = Memory.of(this);
    if (memory.said !== null && stillTrue(this, memory.said)) {
      const condition = this.getHealth().secret;
      const active = this.position < this.side.active.length;
      if (memory.said.condition !== condition || memory.said.active !== active) {
        memory.said = {...memory.said, condition, active};
      }
      return memory.said;
    }
    const entry = stock.call(this);
    memory.said = this.moveSlots.some(slot => VARYING.has(slot.id)) ? null : entry;
    return entry;
  };
}

module.exports = {patchRequests};
