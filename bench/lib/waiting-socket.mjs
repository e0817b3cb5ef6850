import net from 'node:net';
import { readReply, writeCommand } from './resp.mjs';
import { random } from './random.mjs';

/** Milliseconds without a message after which a store asks whether messages still arrive, as wake-up-channel.ts does. */
const LONGEST_TRUST = 2_000;
const CLAIM = 1_000;

/**
 * One process that waits for a key, reduced to a connection and to what a store sends on it: its channel, its signs of life
 * when they are due, and every two seconds at most the question whether messages still arrive.
 */
export class WaitingSocket {
  #socket;
  #buffer = Buffer.alloc(0);
  #id;
  #plan;
  /** Its own phase: processes do not start together. */
  #phase = random();
  #heardAt = 0;
  #timer;
  #stands;
  #hasLeft = false;

  /** `plan`: the key, the script, and the pace of the build that is measured. */
  constructor(port, index, plan) {
    this.#plan = plan;
    this.#id = `waiter-${index}`;
    this.#socket = net.connect({ port, host: '127.0.0.1', noDelay: true });
    this.#socket.on('data', (data) => this.#read(data));
    this.#socket.on('error', () => {});
  }

  get value() {
    return `${this.#id}.3f2b7c1e-aaaa-bbbb-cccc-000000000000:some-pod-of-a-deployment:1:1763795105000`;
  }

  /** Resolves when it stands in line. */
  stand() {
    this.#write('HELLO', 3);
    this.#subscribe();
    this.#beat();
    return new Promise((resolve) => (this.#stands = resolve));
  }

  leave() {
    this.#hasLeft = true;
    clearTimeout(this.#timer);
    const { leave, keys } = this.#plan;
    this.#write('EVALSHA', leave, keys.length, ...keys, this.value, CLAIM);
  }

  close() {
    clearTimeout(this.#timer);
    this.#socket.destroy();
  }

  #beat() {
    if (performance.now() - this.#heardAt > LONGEST_TRUST) this.#subscribe();
    const { wait, keys, heartbeat } = this.#plan;
    this.#write('EVALSHA', wait, keys.length, ...keys, heartbeat, this.value, CLAIM);
  }

  #subscribe() {
    this.#heardAt = performance.now();
    this.#write('SUBSCRIBE', `holdfast:${this.#id}`);
  }

  #write(...words) {
    this.#socket.write(writeCommand(words));
  }

  #read(data) {
    this.#buffer = this.#buffer.length ? Buffer.concat([this.#buffer, data]) : data;
    let end = 0;
    for (let reply; (reply = readReply(this.#buffer, end)); end = reply.end) this.#got(reply.value);
    this.#buffer = this.#buffer.subarray(end);
  }

  #got(reply) {
    if (reply instanceof Error) throw reply;
    if (this.#hasLeft) return;
    const [kind, , text] = Array.isArray(reply) ? reply : [];
    if (kind === 'message' && text.startsWith('? ')) return this.#beat();
    if (!Array.isArray(kind)) return; // HELLO, SUBSCRIBE
    const [state, , inFront] = kind;
    if (state !== 0) throw new Error(`not in line: ${reply}`);
    this.#stands?.();
    const { nextBeat, now, beat } = this.#plan;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#beat(), nextBeat(inFront) - now() + this.#phase * beat);
  }
}
