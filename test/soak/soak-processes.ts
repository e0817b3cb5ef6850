import { readFile, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ChildProcess } from '../support/processes/child-process.js';
import type { Entry, ProcessHistory } from '../support/histories/history.js';
import { now } from '../support/histories/workers/history-store.js';
import type { Rested } from './workers/soak.worker.js';
import type { SoakKind } from './workers/open-soak-store.js';

const WORKER = 'test/soak/workers/soak.worker.ts';
/** Milliseconds. Several start at once, on a machine that is busy. */
const START_WITHIN = 120_000;
/** Milliseconds in which every caller comes to its end: a wait is cancelled after 20 s. */
const REST_WITHIN = 90_000;
const SERVICES = [0, 1];

export interface SoakTarget {
  readonly kind: SoakKind;
  readonly address: string;
  readonly directory: string;
  readonly rate: number;
}

interface Worker {
  readonly name: string;
  readonly child: ChildProcess<'work' | 'rest', 'ready' | Rested>;
  killedAt?: number;
}

/** The processes of one store. The first one stays for the whole run, and is the one that is measured. */
export class SoakProcesses implements AsyncDisposable {
  /** Of processes that ended by themselves. */
  readonly crashes: string[] = [];
  readonly #target: SoakTarget;
  readonly #random: () => number;
  #living: Worker[] = [];
  #killed: Worker[] = [];
  #count = 0;

  constructor(target: SoakTarget, random: () => number) {
    this.#target = target;
    this.#random = random;
  }

  async start(count: number): Promise<void> {
    for (let index = 0; index < count; index += 1) this.#living.push(await this.#worker());
  }

  work(): void {
    for (const { child } of this.#living) child.send('work');
  }

  /** The reports of the processes, that of the one that stays first. */
  async rest(): Promise<Rested[]> {
    return Promise.all(
      this.#living.map(async ({ child }) => {
        child.send('rest');
        return (await child.next({ within: REST_WITHIN, every: 100, what: 'the callers to end' })) as Rested; // prettier-ignore
      }),
    );
  }

  /** One that may be paused: any. */
  any(): { pause(): void; resume(): void } {
    return this.#living[Math.floor(this.#random() * this.#living.length)]!.child;
  }

  /** Kills one of those that do not stay, and starts another. */
  async replaceOne(): Promise<boolean> {
    if (this.#living.length < 2) return false;
    const [victim] = this.#living.splice(1, 1) as [Worker];
    victim.killedAt = 0;
    await victim.child.kill();
    victim.killedAt = now();
    this.#killed.push(victim);
    const next = await this.#worker();
    next.child.send('work');
    this.#living.push(next);
    return true;
  }

  /** The counts of all processes since the last call. */
  async takeHistories(): Promise<ProcessHistory[]> {
    const killed = this.#killed.splice(0);
    const found = await Promise.all([...killed, ...this.#living].map((each) => this.#taken(each)));
    return found.flat();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const worker of this.#living) worker.killedAt ??= 0;
    await Promise.all(this.#living.map(({ child }) => child.kill()));
  }

  #taken({ name, killedAt }: Worker): Promise<ProcessHistory[]> {
    return Promise.all(
      SERVICES.map(async (index) => {
        const file = join(this.#target.directory, `${name}.${index}`);
        const lines = (await readFile(file, 'utf8')).split('\n').slice(0, -1);
        await truncate(file);
        const entries = lines.map((line) => JSON.parse(line) as Entry);
        return { process: `${name}.${index}`, entries, killedAt };
      }),
    );
  }

  async #worker(): Promise<Worker> {
    const { kind, address, directory, rate } = this.#target;
    const name = `process-${this.#count++}`;
    const file = join(directory, name);
    for (const index of SERVICES) await writeFile(`${file}.${index}`, '', { flag: 'a' });
    const seed = Math.floor(this.#random() * 2 ** 32);
    const args = [kind, address, file, String(rate), String(seed)];
    const child: Worker['child'] = new ChildProcess(WORKER, { args, nodeArgs: ['--expose-gc'] });
    const worker: Worker = { name, child };
    void child.exited.then(({ code, signal }) => {
      if (worker.killedAt === undefined)
        this.crashes.push(`${name} ended with ${code ?? signal}: ${child.output.slice(-2_000)}`);
    });
    await child.next({ within: START_WITHIN, every: 100, what: 'a process to be ready' });
    return worker;
  }
}
