// Write the tables the `variety` generator draws from: for each generation the simulator's own
// random-battle sets, for each format what it bans, and for generation 1 what every species learns.
// Usage: node tools/build_sets.js DIRECTORY_OF_THE_PACKAGE OUTPUT_DIRECTORY
'use strict';
const fs = require('fs');
const path = require('path');
const zlib = require('zlib');

const [root, output] = process.argv.slice(2);
if (!root || !output) {
	console.error('usage: node tools/build_sets.js PACKAGE_DIRECTORY OUTPUT_DIRECTORY');
	process.exit(2);
}
const { Dex, TeamValidator, toID } = require(path.join(root, 'dist/sim'));

const GENS = [2, 3, 4, 5, 6, 7, 8, 9];
const MODS = new Set(['champions', 'championsregma', ...[1, ...GENS].map(gen => `gen${gen}`)]);

function write(name, table) {
	// The gzip header of zlib carries no time stamp, so equal input gives equal bytes.
	fs.writeFileSync(path.join(output, `${name}.json.gz`), zlib.gzipSync(JSON.stringify(table), { level: 9 }));
}

function read(name) {
	return JSON.parse(fs.readFileSync(path.join(root, 'dist/data/random-battles', name), 'utf8'));
}

function rows(data, mod) {
	const dex = Dex.mod(mod);
	const table = {};
	for (const id of Object.keys(data).sort()) {
		table[id] = data[id].sets.map(set => ({
			role: set.role,
			moves: set.movepool.map(move => toID(move)),
			abilities: (set.abilities || []).map(toID),
			tera: (set.teraTypes || []).map(toID),
		}));
		if (!dex.species.get(id).exists) throw new Error(`${mod}: no species ${id}`);
	}
	return table;
}

function gen1Rows() {
	const data = read('gen1/data.json');
	const table = {};
	for (const id of Object.keys(data).sort()) {
		const { moves = [], essentialMoves = [], exclusiveMoves = [], comboMoves = [] } = data[id];
		const all = [...new Set([...essentialMoves, ...exclusiveMoves, ...comboMoves, ...moves])];
		table[id] = [{ role: 'Generalist', moves: all, abilities: [], tera: [] }];
	}
	return table;
}

// Moves of every species that the validator accepts alone, and the pairs it refuses together.
function gen1Learnsets() {
	const validator = TeamValidator.get('gen1ubers');
	const accepts = (species, moves) =>
		!validator.validateSet({ name: species.name, species: species.name, moves, level: 100 }, {});
	const table = {};
	for (const species of Dex.mod('gen1').species.all()) {
		if (species.num < 1 || species.num > 151 || species.isNonstandard) continue;
		const moves = Dex.mod('gen1').moves.all()
			.filter(move => !move.isNonstandard && move.id !== 'struggle' && accepts(species, [move.id]))
			.map(move => move.id).sort();
		const apart = [];
		for (let i = 0; i < moves.length; i++) {
			for (let j = i + 1; j < moves.length; j++) {
				if (!accepts(species, [moves[i], moves[j]])) apart.push([moves[i], moves[j]]);
			}
		}
		table[species.id] = { moves, apart };
	}
	return table;
}

function bansOf(format, keys) {
	const validator = TeamValidator.get(format.id);
	const dex = Dex.forFormat(format);
	const blank = () => ({ species: '', name: '', moves: [], item: '', ability: '' });
	const known = entry => entry.exists && !entry.isNonstandard && entry.gen <= dex.gen;
	const species = keys.filter(id => {
		const entry = dex.species.get(id);
		return validator.checkSpecies({ ...blank(), species: entry.name }, entry, entry, {});
	});
	const banned = (table, check) => dex[table].all()
		.filter(entry => known(entry) && validator[check](blank(), entry, {})).map(entry => entry.id).sort();
	return {
		species,
		moves: banned('moves', 'checkMove'),
		items: banned('items', 'checkItem'),
		abilities: dex.gen < 3 ? [] : banned('abilities', 'checkAbility'),
		itemClause: validator.ruleTable.has('itemclause'),
	};
}

const tables = { gen1: gen1Rows() };
for (const gen of GENS) tables[`gen${gen}`] = rows(read(`gen${gen}/sets.json`), `gen${gen}`);
tables.gen9doubles = rows(read('gen9/doubles-sets.json'), 'gen9');
tables.champions = rows(read('champions/sets.json'), 'champions');

function tableOf(format) {
	if (format.mod.startsWith('champions')) return 'champions';
	return format.mod === 'gen9' && format.gameType === 'doubles' ? 'gen9doubles' : format.mod;
}

fs.mkdirSync(output, { recursive: true });
for (const [name, table] of Object.entries(tables)) write(name, table);
const learnsets = gen1Learnsets();
write('gen1_learnsets', learnsets);
const bans = {};
for (const format of Dex.formats.all()) {
	if (format.effectType !== 'Format' || format.team || !MODS.has(format.mod)) continue;
	if (!['singles', 'doubles'].includes(format.gameType)) continue;
	const table = tableOf(format);
	const keys = table === 'gen1' ? Object.keys(learnsets) : Object.keys(tables[table]);
	bans[format.id] = { table, ...bansOf(format, keys) };
}
write('bans', bans);
