import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ChildProcess } from '../processes/child-process.js';
import type { Entry, ProcessHistory } from './history.js';
import { now } from './workers/history-store.js';
import type { StoreAddress } from './workers/open-store.js';

const WORKER = 'test/support/histories/workers/history.worker.ts';
/** Milliseconds. Half of the pauses outlive a lock. */
const TTL = 2_000;
const LONGEST_PAUSE = 3_000;

interface Worker {
  readonly name: string;
  readonly child: ChildProcess<'stop', 'ready' | 'stopped'>;
  killedAt?: number;
}

/** Workers on some keys, of which one after the other is killed and replaced, or paused for a while. */
export class HistoryRun implements AsyncDisposable {
  kills = 0;
  pauses = 0;
  readonly #all: Worker[] = [];
  #living: Worker[] = [];
  readonly #store: StoreAddress;
  readonly #directory: string;
  readonly #callers: number;
  readonly #random: () => number;

  constructor(store: StoreAddress, directory: string, callers: number, random: () => number) {
    this.#store = store;
    this.#directory = directory;
    this.#callers = callers;
    this.#random = random;
  }

  async start(processes: number): Promise<void> {
    this.#living = await Promise.all(Array.from({ length: processes }, () => this.#worker()));
  }

  /** Kills and pauses for so many milliseconds. */
  async disturb(milliseconds: number): Promise<void> {
    const end = performance.now() + milliseconds;
    const pauses: Promise<void>[] = [];
    while (performance.now() < end) {
      await sleep(300 + this.#random() * 1_200);
      const worker = this.#living.shift()!;
      const isOverdue = this.kills === 0 && this.pauses === 2; // also a short run has one
      const isKill = this.#random() < 0.3 || isOverdue;
      this.#living.push(isKill ? await this.#replaced(worker) : worker);
      if (!isKill) pauses.push(this.#pause(worker));
    }
    await Promise.all(pauses);
  }

  /** Lets all workers come to their end. */
  async finish(): Promise<void> {
    for (const { child } of this.#living) child.send('stop');
    await Promise.all(
      this.#living.map(({ child }) =>
        child.received((message) => message === 'stopped', { within: 40_000 }),
      ),
    );
  }

  get killed(): ReadonlySet<number> {
    return new Set(
      this.#all.filter(({ killedAt }) => killedAt !== undefined).map(({ child }) => child.pid),
    );
  }

  histories(): Promise<ProcessHistory[]> {
    return Promise.all(
      this.#all.map(async ({ name, killedAt }) => {
        const lines = (await readFile(join(this.#directory, name), 'utf8')).split('\n');
        const entries = lines.slice(0, -1).map((line) => JSON.parse(line) as Entry);
        return { process: name, entries, killedAt };
      }),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#all.map(({ child }) => child.kill()));
  }

  async #worker(): Promise<Worker> {
    const name = `worker-${this.#all.length}`;
    const file = join(this.#directory, name);
    const seed = Math.floor(this.#random() * 2 ** 32);
    const { kind, address } = this.#store;
    const args = [kind, address, file, String(this.#callers), String(seed)];
    const worker: Worker = { name, child: new ChildProcess(WORKER, { args }) };
    this.#all.push(worker);
    await writeFile(file, '', { flag: 'a' });
    await worker.child.next({ within: 40_000 }); // several start at once
    return worker;
  }

  async #replaced(worker: Worker): Promise<Worker> {
    await worker.child.kill();
    worker.killedAt = now();
    this.kills += 1;
    return this.#worker();
  }

  async #pause({ child }: Worker): Promise<void> {
    child.pause();
    this.pauses += 1;
    const [from, to] = this.#random() < 0.5 ? [0, TTL] : [TTL, LONGEST_PAUSE];
    await sleep(from + this.#random() * (to - from));
    child.resume();
  }
}
