// Counts what a process sends to its servers, whichever client it uses, by reading along at the sockets. The servers cannot tell:
// INFO commandstats, for one, also counts the commands that scripts call inside Redis.
import net from 'node:net';
import { ADMIN } from './admin.mjs';

export const wire = { commands: 0, writes: 0, bytes: 0 };

const counterFor = new Map();
const COUNTER = Symbol('command-counter');

/** Redis servers. */
export function watchPorts(...list) {
  for (const port of list) watchPort(port, () => new CommandCounter());
}

/** A server of another protocol: `createCounter()` makes what reads along at one connection, see protocols.mjs. */
export function watchPort(port, createCounter) {
  counterFor.set(port, createCounter);
}

/** Takes the bytes as they come: `*n` announces a command of n strings, `$length` a string. */
class CommandCounter {
  #toSkip = 0;
  #line = '';

  read(bytes) {
    let requests = 0;
    let at = 0;
    while (at < bytes.length) {
      if (this.#toSkip > 0) {
        const skipped = Math.min(this.#toSkip, bytes.length - at);
        this.#toSkip -= skipped;
        at += skipped;
        continue;
      }
      const newline = bytes.indexOf(10, at);
      this.#line += bytes.latin1Slice(at, newline < 0 ? bytes.length : newline);
      if (newline < 0) break;
      if (this.#line[0] === '*') requests++;
      else if (this.#line[0] === '$') this.#toSkip = Number.parseInt(this.#line.slice(1), 10) + 2;
      this.#line = '';
      at = newline + 1;
    }
    return requests;
  }
}

function count(socket, chunks) {
  const createCounter = counterFor.get(socket.remotePort);
  if (!createCounter || socket[ADMIN]) return;
  const counter = (socket[COUNTER] ??= createCounter());
  wire.writes++;
  for (const { chunk, encoding } of chunks) {
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk, encoding) : chunk;
    wire.bytes += bytes.length;
    wire.commands += counter.read(bytes);
  }
}

// `_write` and `_writev` are what reaches the kernel: a corked stream leaves in one write.
const { _write, _writev } = net.Socket.prototype;
net.Socket.prototype._write = function (chunk, encoding, done) {
  count(this, [{ chunk, encoding }]);
  return _write.call(this, chunk, encoding, done);
};
net.Socket.prototype._writev = function (chunks, done) {
  count(this, chunks);
  return _writev.call(this, chunks, done);
};
