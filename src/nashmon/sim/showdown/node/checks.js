'use strict';
/* Errors that the caller can mend; `kind` tells Python which exception to raise. */

function inputError(kind, message) {
  return Object.assign(new Error(message), {kind});
}

/** The format with this id, or an error of kind "format". */
function findFormat(showdown, id) {
  const format = showdown.Dex.formats.get(id, true);
  if (!format.exists || format.effectType !== 'Format') {
    throw inputError('format', `unknown format ${JSON.stringify(id)}`);
  }
  return format;
}

module.exports = {inputError, findFormat};
