import net from 'node:net';
import { median } from './stats.mjs';
import { readReply, writeCommand } from './resp.mjs';

/** Marks the sockets whose commands are the harness's own and do not count. */
export const ADMIN = Symbol('admin-socket');

/** A minimal connection for what the harness itself asks, independent of the clients under test. */
export class Admin {
  #socket;
  #buffer = Buffer.alloc(0);
  #waiting = [];
  #error;

  constructor(port) {
    this.#socket = net.connect({ port, host: '127.0.0.1', noDelay: true });
    this.#socket[ADMIN] = true;
    this.#socket.on('data', (data) => this.#read(data));
    this.#socket.on('error', (error) => this.#fail(error));
    this.#socket.on('close', () => this.#fail(new Error('closed')));
  }

  async command(...args) {
    const [reply] = await this.pipeline([args]);
    if (reply instanceof Error) throw reply;
    return reply;
  }

  async pipeline(commands) {
    if (this.#error) throw this.#error;
    const replies = commands.map(
      () => new Promise((resolve, reject) => this.#waiting.push({ resolve, reject })),
    );
    this.#socket.write(commands.map(writeCommand).join(''));
    return Promise.all(replies);
  }

  /** The server's CPU time so far, in microseconds. */
  async cpuMicros() {
    const info = await this.command('INFO', 'cpu');
    const seconds = [...info.matchAll(/^used_cpu_(?:sys|user):([\d.]+)/gm)].map(
      (match) => +match[1],
    );
    return seconds.reduce((sum, each) => sum + each, 0) * 1e6;
  }

  /** Median round trip in ms. */
  async roundTrip(count = 200) {
    const times = [];
    for (let i = 0; i < count; i++) {
      const start = performance.now();
      await this.command('PING');
      times.push(performance.now() - start);
    }
    return median(times);
  }

  close() {
    this.#socket.destroy();
  }

  #read(data) {
    this.#buffer = this.#buffer.length ? Buffer.concat([this.#buffer, data]) : data;
    let end = 0;
    for (let reply; (reply = readReply(this.#buffer, end)); end = reply.end) {
      this.#waiting.shift()?.resolve(reply.value);
    }
    this.#buffer = this.#buffer.subarray(end);
  }

  #fail(error) {
    this.#error ??= error;
    for (const { reject } of this.#waiting.splice(0)) reject(this.#error);
  }
}
