// Write the table of display names that pastes and packed teams share: for each kind, id → name,
// over all generations, the aliases that Showdown accepts, and each Hidden Power type's IVs and DVs.
// Usage: node tools/build_names.js DIRECTORY_OF_THE_PACKAGE OUTPUT.json.gz
'use strict';
const fs = require('fs');
const path = require('path');
const zlib = require('zlib');

const [root, output] = process.argv.slice(2);
if (!root || !output) {
	console.error('usage: node tools/build_names.js PACKAGE_DIRECTORY OUTPUT.json.gz');
	process.exit(2);
}
const { Dex, toID } = require(path.join(root, 'dist/sim'));
const MODS = ['gen9', 'champions', 'gen8', 'gen7', 'gen6', 'gen5', 'gen4', 'gen3', 'gen2', 'gen1'];

function sorted(table) {
	return Object.fromEntries(Object.entries(table).sort(([a], [b]) => (a < b ? -1 : 1)));
}

const names = { species: {}, items: {}, abilities: {}, moves: {}, natures: {}, types: {} };
for (const mod of MODS) {
	const dex = Dex.mod(mod);
	for (const kind of Object.keys(names)) {
		for (const entry of dex[kind].all()) {
			names[kind][toID(entry.name)] ??= entry.name;
			for (const forme of entry.cosmeticFormes || []) names[kind][toID(forme)] ??= forme;
		}
	}
}
const aliases = { species: {}, items: {}, abilities: {}, moves: {} };
const { Aliases } = require(path.join(root, 'dist/data/aliases'));
for (const [alias, name] of Object.entries(Aliases)) {
	for (const kind of Object.keys(aliases)) {
		const id = toID(name);
		if (id in names[kind] && !(alias in names[kind])) aliases[kind][alias] = id;
	}
}
const STATS = ['hp', 'atk', 'def', 'spa', 'spd', 'spe'];
const hiddenPowers = {};
for (const type of Dex.mod('gen6').types.all()) {
	if (!type.HPivs || ['Normal', 'Fairy', 'Stellar'].includes(type.name)) continue;
	const dvs = { hp: 15, atk: 15, def: 15, spa: 15, spd: 15, spe: 15, ...type.HPdvs };
	hiddenPowers[type.name] = {
		ivs: STATS.map(stat => type.HPivs[stat] ?? 31),
		// The HP DV follows from the lowest bits of the others; both Special stats share one DV.
		dvs: [(dvs.atk % 2) * 8 + (dvs.def % 2) * 4 + (dvs.spe % 2) * 2 + (dvs.spa % 2),
			dvs.atk, dvs.def, dvs.spa, dvs.spa, dvs.spe],
	};
}
for (const kind of Object.keys(names)) names[kind] = sorted(names[kind]);
for (const kind of Object.keys(aliases)) aliases[kind] = sorted(aliases[kind]);

// The gzip header of zlib carries no time stamp, so equal input gives equal bytes.
const text = JSON.stringify({ names, aliases, hiddenPowers });
fs.writeFileSync(output, zlib.gzipSync(text, { level: 9 }));
