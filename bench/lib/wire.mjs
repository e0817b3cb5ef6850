// Counts what a process sends to its Redis servers, whichever client it uses, by reading along at the sockets. INFO
// commandstats cannot tell: it also counts the commands that scripts call inside the server.
import net from 'node:net';
import { ADMIN } from './admin.mjs';

export const wire = { commands: 0, writes: 0, bytes: 0 };

const ports = new Set();
const COUNTER = Symbol('command-counter');

export function watchPorts(...list) {
  for (const port of list) ports.add(port);
}

/** Takes the bytes as they come: `*n` announces a command of n strings, `$length` a string. */
class CommandCounter {
  #toSkip = 0;
  #line = '';

  read(bytes) {
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
      if (newline < 0) return;
      this.#readLine(this.#line);
      this.#line = '';
      at = newline + 1;
    }
  }

  #readLine(line) {
    if (line[0] === '*') wire.commands++;
    else if (line[0] === '$') this.#toSkip = Number.parseInt(line.slice(1), 10) + 2;
  }
}

function count(socket, chunks) {
  const isWatched = ports.has(socket.remotePort) && !socket[ADMIN];
  if (!isWatched) return;
  const counter = (socket[COUNTER] ??= new CommandCounter());
  wire.writes++;
  for (const { chunk, encoding } of chunks) {
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk, encoding) : chunk;
    wire.bytes += bytes.length;
    counter.read(bytes);
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
