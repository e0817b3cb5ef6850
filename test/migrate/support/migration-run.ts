import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Entry, ProcessHistory } from '../../support/histories/history.js';
import { now } from '../../support/histories/workers/history-store.js';
import type { StoreAddress } from '../../support/histories/workers/open-store.js';
import { ChildProcess } from '../../support/processes/child-process.js';
import { until } from '../../support/until.js';

const WORKER = 'test/support/histories/workers/history.worker.ts';
/** Grants to a process until it counts as one that works. */
const SOME_GRANTS = 10;

/** A process of one configuration. */
export interface Mover {
  readonly name: string;
  readonly child: ChildProcess<'stop', 'ready' | 'stopped'>;
  killedAt?: number;
}

/** Processes of several configurations on the same keys, which are started and killed one by one. */
export class MigrationRun implements AsyncDisposable {
  readonly #all: Mover[] = [];
  readonly #directory: string;
  readonly #callers: number;

  constructor(directory: string, callers: number) {
    this.#directory = directory;
    this.#callers = callers;
  }

  async start({ kind, address }: StoreAddress, name: string): Promise<Mover> {
    const file = join(this.#directory, `${this.#all.length}-${name}`);
    await writeFile(file, '', { flag: 'a' });
    const args = [kind, address, file, String(this.#callers), String(this.#all.length)];
    const mover: Mover = { name: file, child: new ChildProcess(WORKER, { args }) };
    this.#all.push(mover);
    await mover.child.next({ within: 180_000 });
    return mover;
  }

  /** By SIGKILL, at whatever step it is. */
  async kill(...movers: readonly Mover[]): Promise<void> {
    for (const mover of movers) {
      await mover.child.kill();
      mover.killedAt = now();
    }
  }

  /** Resolves once each of them has killed itself. */
  async die(movers: readonly Mover[]): Promise<void> {
    const left = new Set(movers);
    for (const mover of movers)
      void mover.child.exited.then(() => {
        mover.killedAt = now();
        left.delete(mover);
      });
    const names = () => [...left].map(({ name }) => name).join(', ');
    await until(() => left.size === 0, { within: 180_000, every: 50, what: 'all deaths' }).catch(
      (cause: unknown) => {
        throw new Error(`These live on: ${names()}`, { cause });
      },
    );
    for (const { child } of movers) expect(await child.exited).toMatchObject({ signal: 'SIGKILL' });
  }

  /** Resolves once each of them has got some locks from now on. */
  async allWork(...movers: readonly Mover[]): Promise<void> {
    const before = await Promise.all(movers.map((mover) => this.grants(mover)));
    for (const [index, mover] of movers.entries()) {
      const isWorking = async () => (await this.grants(mover)) >= before[index]! + SOME_GRANTS;
      await until(isWorking, { within: 90_000, every: 100, what: `locks for ${mover.name}` });
    }
  }

  async grants(mover: Mover): Promise<number> {
    return (await entriesOf(mover)).filter(({ is }) => is === 'granted').length;
  }

  async firstGrant(mover: Mover): Promise<number> {
    const granted = (await entriesOf(mover)).find((entry) => entry.is === 'granted');
    return granted?.is === 'granted' ? granted.at : Infinity;
  }

  histories(): Promise<ProcessHistory[]> {
    return Promise.all(
      this.#all.map(async (mover) => {
        const { name, killedAt } = mover;
        return { process: name, entries: await entriesOf(mover), killedAt };
      }),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#all.map(({ child }) => child.kill()));
  }
}

async function entriesOf({ name }: Mover): Promise<Entry[]> {
  const lines = (await readFile(name, 'utf8')).split('\n');
  return lines.slice(0, -1).map((line) => JSON.parse(line) as Entry);
}
