// Prints the dex and format tables of a pokemon-showdown installation as one JSON object.
// Usage: node build_tables.js <package directory>
'use strict';
const path = require('path');
const root = path.resolve(process.argv[2]);
const {Dex, toID} = require(path.join(root, 'dist/sim'));
const {Battle} = require(path.join(root, 'dist/sim/battle'));

const ids = (names) => (names || []).map(toID);
const list = (value) => (value === undefined || value === null ? [] : Array.isArray(value) ? value : [value]);
const stats = (s) => ['hp', 'atk', 'def', 'spa', 'spd', 'spe'].map((key) => s[key]);

// Keeps a row small: absent, false, empty and zero values are the reader's defaults.
function compact(row) {
	const out = {};
	for (const [key, value] of Object.entries(row)) {
		if (value === undefined || value === null || value === false || value === '' || value === 0) continue;
		if (typeof value === 'object' && !Object.keys(value).length) continue;
		out[key] = value;
	}
	return out;
}

// The package keeps today's abilities and formes in old generations; a row has those that exist.
function speciesRow(s, dex) {
	const abilities = {};
	for (const [slot, name] of Object.entries(s.abilities)) {
		const hidden = slot === 'H' || slot === 'S';
		if (name && dex.gen >= (hidden ? 5 : 3) && dex.abilities.get(name).gen <= dex.gen) abilities[slot] = toID(name);
	}
	const existing = (names) => ids((names || []).filter((name) => dex.species.get(name).gen <= dex.gen));
	return compact({
		name: s.name, num: s.num, gen: s.gen, types: ids(s.types), base_stats: stats(s.baseStats),
		abilities, weight_kg: s.weightkg, gender: s.gender, male_ratio: s.genderRatio.M,
		base_species: toID(s.baseSpecies), forme: s.forme, other_formes: existing(s.otherFormes),
		cosmetic_formes: existing(s.cosmeticFormes), battle_only: ids(list(s.battleOnly)),
		changes_from: s.changesFrom && toID(s.changesFrom), required_items: ids(s.requiredItems),
		required_ability: s.requiredAbility && toID(s.requiredAbility),
		required_move: s.requiredMove && toID(s.requiredMove),
		required_tera_type: s.requiredTeraType && toID(s.requiredTeraType),
		is_mega: s.isMega, is_primal: s.isPrimal,
		can_gigantamax: s.canGigantamax && toID(s.canGigantamax), cannot_dynamax: s.cannotDynamax,
		prevo: existing(s.prevo ? [s.prevo] : [])[0], evos: existing(s.evos), nfe: s.nfe, max_hp: s.maxHP, tier: s.tier,
		doubles_tier: s.doublesTier, natdex_tier: s.natDexTier, tags: ids(s.tags),
		nonstandard: s.isNonstandard,
	});
}

// What a hit, a secondary effect or the user's own part of a move does, as ids.
function effects(e) {
	if (!e) return {};
	return compact({
		chance: e.chance, boosts: e.boosts, status: e.status, volatile_status: e.volatileStatus,
		side_condition: e.sideCondition && toID(e.sideCondition),
		slot_condition: e.slotCondition && toID(e.slotCondition),
		pseudo_weather: e.pseudoWeather && toID(e.pseudoWeather),
		terrain: e.terrain && toID(e.terrain), weather: e.weather && toID(e.weather),
		own: effects(e.self),
	});
}

function moveRow(m, battle) {
	const {chance, own, ...effect} = effects(m);
	const selfEffect = {...own, ...(m.selfBoost ? {boosts: m.selfBoost.boosts} : {})};
	return compact({
		name: m.name, num: m.num, gen: m.gen, type: toID(m.type), category: m.category.toLowerCase(),
		power: m.basePower, accuracy: m.accuracy === true ? null : m.accuracy, pp: m.pp,
		max_pp: battle.calculatePP(m, 3), priority: m.priority, target: m.target,
		non_ghost_target: m.nonGhostTarget, flags: Object.keys(m.flags).sort(),
		min_hits: list(m.multihit)[0], max_hits: list(m.multihit).at(-1), crit_ratio: m.critRatio === 1 ? 0 : m.critRatio,
		will_crit: m.willCrit, never_crits: m.willCrit === false, drain: m.drain, recoil: m.recoil, heal: m.heal,
		crash_damage: m.hasCrashDamage,
		half_hp_recoil: m.mindBlownRecoil || m.chloroblastRecoil, struggle_recoil: m.struggleRecoil,
		damage: m.damage, ohko: m.ohko && (m.ohko === true ? 'any' : toID(m.ohko)),
		self_destruct: m.selfdestruct, self_switch: m.selfSwitch && (m.selfSwitch === true ? 'any' : m.selfSwitch),
		force_switch: m.forceSwitch, stalling: m.stallingMove, breaks_protect: m.breaksProtect,
		ignore_defensive: m.ignoreDefensive, ignore_evasion: m.ignoreEvasion,
		ignore_ability: m.ignoreAbility, steals_boosts: m.stealsBoosts,
		ignore_immunity: m.ignoreImmunity && (m.ignoreImmunity === true ? ['all'] : ids(Object.keys(m.ignoreImmunity))),
		thaws_target: m.thawsTarget, sleep_usable: m.sleepUsable, multi_accuracy: m.multiaccuracy,
		offensive_stat: m.overrideOffensiveStat, offensive_pokemon: m.overrideOffensivePokemon,
		defensive_stat: m.overrideDefensiveStat, variable_power: !!m.basePowerCallback,
		variable_damage: !!m.damageCallback, calls_move: m.callsMove, smart_target: m.smartTarget,
		sheer_force: m.hasSheerForceBoost, effect, self_effect: selfEffect,
		secondaries: (m.secondaries || []).map(effects), is_z: toID(m.isZ === true ? 'any' : m.isZ || ''),
		is_max: toID(m.isMax === true ? 'any' : m.isMax || ''),
		z_power: m.zMove && m.zMove.basePower, z_boosts: m.zMove && m.zMove.boost,
		z_effect: m.zMove && m.zMove.effect, max_power: m.maxMove && m.maxMove.basePower,
		real_move: m.placeholderFor && toID(m.placeholderFor), nonstandard: m.isNonstandard,
	});
}

function itemRow(i) {
	return compact({
		name: i.name, num: i.num, gen: i.gen, fling_power: i.fling && i.fling.basePower,
		fling_status: i.fling && (i.fling.status || i.fling.volatileStatus),
		is_berry: i.isBerry, is_choice: i.isChoice, is_gem: i.isGem, is_pokeball: i.isPokeball,
		is_primal_orb: i.isPrimalOrb, ignore_klutz: i.ignoreKlutz, users: ids(i.itemUser),
		mega: i.megaStone && Object.fromEntries(Object.entries(i.megaStone).map(([from, to]) => [toID(from), toID(to)])),
		z_move: i.zMove && (i.zMove === true ? 'any' : toID(i.zMove)), z_type: i.zMoveType && toID(i.zMoveType),
		z_from: i.zMoveFrom && toID(i.zMoveFrom), plate_type: i.onPlate && toID(i.onPlate),
		memory_type: i.onMemory && toID(i.onMemory), drive_type: i.onDrive && toID(i.onDrive),
		forced_forme: i.forcedForme && toID(i.forcedForme), boosts: i.boosts,
		natural_gift_power: i.naturalGift && i.naturalGift.basePower,
		natural_gift_type: i.naturalGift && toID(i.naturalGift.type), nonstandard: i.isNonstandard,
	});
}

function abilityRow(a) {
	return compact({
		name: a.name, num: a.num, gen: a.gen, rating: a.rating, flags: Object.keys(a.flags).sort(),
		nonstandard: a.isNonstandard,
	});
}

// damageTaken: 0 neutral, 1 weak, 2 resists, 3 immune; lower-case keys are statuses and the like.
function typeRow(t) {
	const damage = {};
	const immune = [];
	for (const [key, code] of Object.entries(t.damageTaken)) {
		if (key !== toID(key)) {
			if (code) damage[toID(key)] = [1, 2, 0.5, 0][code];
		} else if (code === 3) immune.push(key);
	}
	return {name: t.name, damage_taken: damage, immune: immune.sort()};
}

// "Future" marks what a later generation brings, but also what this one will get (Mega Evolutions
// that some formats already allow); only the former is left out.
function rows(all, row, gen) {
	const out = {};
	for (const entry of all) {
		if (!entry.exists || (entry.isNonstandard === 'Future' && !(entry.gen && entry.gen <= gen))) continue;
		// A placeholder (Hidden Power Fire) has the id of what it stands for; its name is its own.
		out[toID(entry.name)] = row(entry);
	}
	return out;
}

function allSpecies(dex) {
	const out = new Map();
	for (const species of dex.species.all()) {
		out.set(species.id, species);
		for (const name of species.cosmeticFormes || []) {
			const forme = dex.species.get(name);
			// The table lists formes of the current games; an old generation has only its own.
			if (forme.exists && forme.gen <= dex.gen) out.set(forme.id, forme);
		}
	}
	return out.values();
}

function tables(mod) {
	const dex = Dex.mod(mod).includeData();
	const formatid = [...Dex.formats.all()].find((f) => f.mod === mod && f.gameType === 'singles')?.id;
	const battle = new Battle({formatid: formatid || `${mod}customgame`});
	const natures = {};
	for (const n of dex.natures.all()) {
		if (n.gen <= dex.gen) natures[n.id] = compact({name: n.name, plus: n.plus, minus: n.minus});
	}
	return {
		gen: dex.gen,
		species: rows(allSpecies(dex), (species) => speciesRow(species, dex), dex.gen),
		moves: rows(dex.moves.all(), (move) => moveRow(move, battle), dex.gen),
		items: rows(dex.items.all(), itemRow, dex.gen),
		abilities: rows(dex.abilities.all(), abilityRow, dex.gen),
		types: rows(dex.types.all(), typeRow, dex.gen),
		natures,
	};
}

function gimmicks(format, ruleTable, dex) {
	const out = [];
	const natdex = ruleTable.has('+tag:past') || ruleTable.has('natdexmod');
	const champions = format.mod.startsWith('champions');
	if (dex.gen === 9 && !champions && !ruleTable.has('terastalclause')) out.push('tera');
	if (dex.gen === 8 && !['gen8bdsp', 'gen8legends'].includes(format.mod) && !ruleTable.has('dynamaxclause')) out.push('dynamax');
	if ([6, 7].includes(dex.gen) || champions || (dex.gen >= 8 && natdex)) out.push('mega');
	const zmoves = (dex.gen === 7 && format.mod !== 'gen7letsgo') || (dex.gen >= 8 && natdex);
	if (zmoves && !ruleTable.has('zmoveclause')) out.push('zmove', 'ultra');
	return out;
}

// How a player sees the foe's hit points: whole percent, 48 pixels of a bar, or exactly.
function foeHp(ruleTable, dex) {
	if (ruleTable.has('exacthpmod')) return 'exact';
	return ruleTable.has('hppercentagemod') || dex.gen >= 7 ? 'percent' : 'pixels';
}

function formatRow(f) {
	const ruleTable = Dex.formats.getRuleTable(f);
	const dex = Dex.mod(f.mod);
	const picked = ruleTable.pickedTeamSize;
	return compact({
		name: f.name, section: f.section, gen: dex.gen, mod: f.mod, game_type: f.gameType,
		player_count: f.playerCount,
		has_preview: ruleTable.has('teampreview') || !!picked || !!f.onTeamPreview,
		picked, min_team_size: ruleTable.minTeamSize, max_team_size: ruleTable.maxTeamSize,
		default_level: ruleTable.defaultLevel, max_level: ruleTable.maxLevel,
		adjust_level: ruleTable.adjustLevel, adjust_level_down: ruleTable.adjustLevelDown,
		max_total_level: ruleTable.maxTotalLevel, restricts_pick: !!ruleTable.onChooseTeam,
		max_moves: ruleTable.maxMoveCount, gimmicks: gimmicks(f, ruleTable, dex),
		random_teams: !!f.team, rated: !!f.rated, ladder: f.searchShow && !!f.rated,
		open_sheets: ruleTable.has('openteamsheets') || ruleTable.has('forceopenteamsheets'),
		best_of: f.bestOfDefault, foe_hp: foeHp(ruleTable, dex),
		inverse: ruleTable.has('inversemod'),
	});
}

const formats = {};
const mods = new Set();
for (let gen = 1; gen <= 9; gen++) mods.add(`gen${gen}`);
for (const f of Dex.formats.all()) {
	formats[f.id] = formatRow(f);
	mods.add(f.mod);
}
const dexes = {};
for (const mod of mods) dexes[mod] = tables(mod);
const version = require(path.join(root, 'package.json')).version;
process.stdout.write(JSON.stringify({version, dexes, formats}));
