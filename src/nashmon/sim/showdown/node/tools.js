'use strict';
/* Questions about formats and teams that need no battle. */

const {inputError, findFormat} = require('./checks');

module.exports = showdown => {
  const {Dex, Teams, TeamValidator} = showdown;

  function unpack(team) {
    const sets = Teams.unpack(team);
    if (!sets) throw inputError('team', `${JSON.stringify(team.slice(0, 80))} is not a packed team`);
    return sets;
  }

  function describe(format) {
    const rules = Dex.formats.getRuleTable(format);
    const dex = Dex.forFormat(format);
    return {
      id: format.id,
      name: format.name,
      section: format.section,
      gen: dex.gen,
      mod: format.mod,
      game_type: format.gameType,
      players: format.playerCount,
      random_teams: Boolean(format.team),
      has_preview: rules.has('teampreview') || rules.pickedTeamSize !== null,
      picked: rules.pickedTeamSize,
      min_team_size: rules.minTeamSize,
      max_team_size: rules.maxTeamSize,
      max_moves: rules.maxMoveCount,
      default_level: rules.defaultLevel,
      adjust_level: rules.adjustLevel,
      adjust_level_down: rules.adjustLevelDown,
      best_of: Number(rules.valueRules.get('bestof')) || 1,
      searchable: Boolean(format.searchShow),
      challengeable: Boolean(format.challengeShow),
      rules: [...rules.keys()].filter(rule => !'+-*!'.includes(rule[0])),
    };
  }

  return {
    formats: () => JSON.stringify(Dex.formats.all().map(describe)),

    /** Reasons why the team is not legal; an empty list when it is. */
    validate({teams}) {
      return JSON.stringify(teams.map(([format, team]) =>
        TeamValidator.get(findFormat(showdown, format)).validateTeam(unpack(team)) || []));
    },

    pack({sets}) {
      if (!Array.isArray(sets) || !sets.every(set => (set.species || set.name) && Array.isArray(set.moves))) {
        throw inputError('team', 'a team is a list of sets, each with "species" and a list of "moves"');
      }
      return JSON.stringify(Teams.pack(sets));
    },

    unpack: ({team}) => JSON.stringify(unpack(team)),

    export: ({team}) => JSON.stringify(Teams.export(unpack(team))),

    import({text}) {
      const sets = Teams.import(text);
      if (!sets?.length) throw inputError('team', `no Pokémon found in ${JSON.stringify(text.slice(0, 80))}`);
      return JSON.stringify(Teams.pack(sets));
    },

    random_team({format, seed}) {
      const found = findFormat(showdown, format);
      if (!found.team) throw inputError('format', `${found.id} has no random teams`);
      return JSON.stringify(Teams.pack(Teams.getGenerator(found, seed).getTeam()));
    },

    version: () => JSON.stringify({node: process.version}),
  };
};
