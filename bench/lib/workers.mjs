import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { BENCH } from './options.mjs';
import { within } from './time.mjs';

const running = new Set();
process.once('exit', () => running.forEach((child) => child.kill('SIGKILL')));

/** A process of its own, which does the tasks of `file`. */
export class Worker {
  #child;
  #pending = new Map();
  #count = 0;

  constructor(file = 'worker.mjs') {
    const settings = { execArgv: ['--expose-gc'], serialization: 'advanced' };
    this.#child = fork(join(BENCH, 'lib', file), settings);
    running.add(this.#child);
    this.#child.on('error', () => {}); // a message to a process that was killed
    this.#child.on('message', ({ id, ...reply }) => this.#pending.get(id)?.(reply));
    this.#child.once('exit', () => running.delete(this.#child));
  }

  get pid() {
    return this.#child.pid;
  }

  /** Rejects when there is no answer within `ms`. */
  async call(task, args, ms = 20_000) {
    const id = this.#count++;
    const reply = new Promise((resolve) => this.#pending.set(id, resolve));
    this.#child.send({ id, task, args });
    try {
      const { value, error } = await within(reply, ms, `${task}: no answer`);
      if (error) throw new Error(error);
      return value;
    } finally {
      this.#pending.delete(id);
    }
  }

  kill(signal = 'SIGKILL') {
    this.#child.kill(signal);
  }

  async stop() {
    if (!running.has(this.#child)) return;
    const exited = once(this.#child, 'exit');
    this.kill();
    await exited;
  }
}

/** `count` workers; resolves with them and the names of the candidates that all of them could set up. */
export async function startWorkers(count, ports, selection) {
  const workers = Array.from({ length: count }, () => new Worker());
  const setting = { addresses: [ports].flat(), selection };
  const ready = await Promise.all(workers.map((worker) => worker.call('setUp', setting, 60_000)));
  return { workers, names: ready[0].filter((name) => ready.every((list) => list.includes(name))) };
}
