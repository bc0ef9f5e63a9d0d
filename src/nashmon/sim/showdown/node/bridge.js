'use strict';
/*
 * Plays many Showdown battles in one process for a Python parent.
 *
 * Both directions carry frames: a 4-byte little-endian length and UTF-8 JSON.  The parent sends one
 * command, the bridge answers with one frame, and so on; when stdin closes the bridge exits.
 * Reads and writes block: the simulator is synchronous, so an event loop would only add cost.
 *
 * usage: node bridge.js <directory of the pokemon-showdown package> patched|stock
 */

const fs = require('fs');

// stdout carries frames only; whatever Showdown prints must not end up between them.  Node's own
// stream for it must not even be made: it would stop the descriptor from blocking, and a frame that
// does not fit into the pipe at once would be an error.
Object.defineProperty(process, 'stdout', {get: () => process.stderr});
globalThis.console = new console.Console(process.stderr, process.stderr);

const MAX_FRAME = 1 << 28;
const [showdownPath, mode] = process.argv.slice(2);
const showdown = require(showdownPath);
if (mode === 'patched') require('./patch').apply(showdownPath);
else if (mode !== 'stock') throw new Error(`unknown mode ${mode}: expected "patched" or "stock"`);

const commands = {
  ...require('./battles')(showdown),
  ...require('./tools')(showdown),
};

function readBytes(buffer) {
  let filled = 0;
  while (filled < buffer.length) {
    const count = fs.readSync(0, buffer, filled, buffer.length - filled, null);
    if (count === 0) {
      if (filled > 0) throw new Error(`input ended inside a frame (${filled} of ${buffer.length} bytes)`);
      return false;
    }
    filled += count;
  }
  return true;
}

const header = Buffer.alloc(4);
let inBuffer = Buffer.allocUnsafe(1 << 16);

/** The next command as text, or null when the parent has closed the pipe. */
function readFrame() {
  if (!readBytes(header)) return null;
  const length = header.readUInt32LE(0);
  if (length > MAX_FRAME) throw new Error(`frame of ${length} bytes; at most ${MAX_FRAME} are allowed`);
  if (length > inBuffer.length) inBuffer = Buffer.allocUnsafe(2 * length);
  const body = inBuffer.subarray(0, length);
  if (length && !readBytes(body)) throw new Error('input ended between a frame header and its body');
  return body.toString('utf8');
}

let outBuffer = Buffer.allocUnsafe(1 << 16);

function writeFrame(text) {
  // A UTF-16 unit takes at most three bytes of UTF-8.
  const room = 4 + 3 * text.length;
  if (room > outBuffer.length) outBuffer = Buffer.allocUnsafe(2 * room);
  const length = outBuffer.utf8Write(text, 4);
  outBuffer.writeUInt32LE(length, 0);
  for (let sent = 0; sent < length + 4;) {
    sent += fs.writeSync(1, outBuffer, sent, length + 4 - sent);
  }
}

/**
 * Answer one command.  A result is JSON text, so that requests are serialised only once; a list of
 * such texts is sent as lines, which the parent can read one by one.
 */
function answer(text) {
  try {
    const message = JSON.parse(text);
    const command = Object.hasOwn(commands, message.command) ? commands[message.command] : null;
    if (!command) {
      const known = Object.keys(commands).sort().join(', ');
      throw new Error(`unknown command ${JSON.stringify(message.command)}: expected one of ${known}`);
    }
    const result = command(message);
    return Array.isArray(result) ? result.join('\n') : `{"ok":${result}}`;
  } catch (error) {
    const kind = error.kind || 'command';
    return JSON.stringify({error: {kind, message: error.message, stack: error.stack}});
  }
}

for (let text = readFrame(); text !== null; text = readFrame()) writeFrame(answer(text));
process.exit(0);
