import 'reflect-metadata';
import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import {
  CurrentLock,
  DistributedLock,
  DistributedLockModule,
  Lock,
  LockService,
} from 'nest-holdfast';
import type { LockStore } from 'nest-holdfast';
import { seeded } from '../../support/histories/history-random.js';
import { type Footprint, countTimers, footprint } from '../../support/leaks/footprint.js';
import { openChannel } from '../../support/processes/worker-channel.js';
import { type SoakKind, openSoakStore } from './open-soak-store.js';
import { type Decorated, SoakCaller, TTL } from './soak-caller.js';
import { SoakLog } from './soak-log.js';

/** The report of a process at the end of a round, when it holds and waits for nothing. */
export interface Rested extends Footprint {
  readonly grants: number;
  readonly losses: number;
  readonly refusals: Readonly<Record<string, number>>;
}

const CALLERS = 3;
const [kind, address, file, rate, seed] = process.argv.slice(2) as [SoakKind, string, string, string, string]; // prettier-ignore
const KEYS = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
/** Milliseconds in which nothing of a dead process is left. */
const FREE_WITHIN = 20_000;
/** Milliseconds in which the store works again after the last fault. */
const WELL_WITHIN = 40_000;
const SERVICE = { ttl: TTL, waitTimeout: 60_000 };
const random = seeded(Number(seed));
const channel = openChannel<'ready' | Rested, 'work' | 'rest'>();

type Work = (lock: Lock) => Promise<void>;

@Injectable()
class Jobs {
  @DistributedLock('f')
  async run(work: Work, @CurrentLock() lock?: Lock): Promise<void> {
    await work(lock!);
  }
}

/** Two services in one process: one by itself, one of a Nest application. */
async function main(): Promise<void> {
  countTimers();
  const { store } = await openSoakStore(kind, address, TTL);
  const one = new LockService(store, SERVICE);
  // Of memory, the two services of a process share the store: it is of this process.
  const other = kind === 'memory' ? store : (await openSoakStore(kind, address, TTL)).store;
  const { locks, decorated } = await nestLocks(other);
  const logs = [new SoakLog(`${file}.0`), new SoakLog(`${file}.1`)] as const;
  const three = Array.from({ length: CALLERS });
  const callers = [
    ...three.map(() => new SoakCaller(one, store, logs[0], random, undefined)),
    ...three.map(() => new SoakCaller(locks, other, logs[1], random, decorated)),
  ];
  const rounds = new Rounds(one, callers, logs);
  channel.onMessage((message) => (message === 'work' ? rounds.begin() : void rounds.end()));
  channel.send('ready');
}

async function nestLocks(store: LockStore) {
  @Module({ imports: [DistributedLockModule.forRoot({ ...SERVICE, store })], providers: [Jobs] })
  class AppModule {}
  const app = await NestFactory.createApplicationContext(AppModule, { logger: ['error', 'fatal'] });
  const jobs = app.get(Jobs);
  const decorated: Decorated = (work) => jobs.run(work);
  return { locks: app.get(LockService), decorated };
}

class Rounds {
  #stop = new AbortController();
  #running: Promise<unknown> = Promise.resolve();

  constructor(
    readonly locks: LockService,
    readonly callers: readonly SoakCaller[],
    readonly logs: readonly SoakLog[],
  ) {}

  begin(): void {
    this.#stop = new AbortController();
    this.#running = Promise.all([
      ...this.callers.map((caller) => this.#loop(caller)),
      openAndClose(),
    ]);
  }

  /** All callers come to their end, then the process is measured. */
  async end(): Promise<void> {
    this.#stop.abort();
    await this.#running;
    await takeEach(this.locks);
    const sum = (pick: (log: SoakLog) => number) => this.logs.map(pick).reduce((a, b) => a + b, 0);
    const refusals: Record<string, number> = {};
    for (const log of this.logs) {
      for (const [why, count] of Object.entries(log.refusals))
        refusals[why] = (refusals[why] ?? 0) + count;
      log.refusals = {};
    }
    const counts = { grants: sum(({ grants }) => grants), losses: sum(({ losses }) => losses) };
    for (const log of this.logs) log.grants = log.losses = 0;
    channel.send({ ...(await footprint()), ...counts, refusals });
  }

  async #loop(caller: SoakCaller): Promise<void> {
    const pause = (2_000 * this.callers.length) / Number(rate);
    while (!this.#stop.signal.aborted) {
      await sleep(random() * pause, undefined, { signal: this.#stop.signal }).catch(() => {});
      if (!this.#stop.signal.aborted) await caller.once();
    }
  }
}

/** Every key is free, now or once the ttl of a process that was killed is over. Rejects when one is not. */
async function takeEach(locks: LockService): Promise<void> {
  const end = performance.now() + WELL_WITHIN;
  for (const key of KEYS) await taken(locks, key, end);
}

/** Once more where the store fails, whose servers may be back for a moment only. */
async function taken(locks: LockService, key: string, end: number): Promise<void> {
  try {
    await locks.withLock(key, { waitTimeout: FREE_WITHIN }, async () => {});
  } catch (error) {
    const { code } = error as { code?: string };
    if (code === 'LOCK_TIMEOUT' || performance.now() > end) throw error;
    await sleep(200);
    await taken(locks, key, end);
  }
}

/** A store and a service that come and go in a process that stays. */
async function openAndClose(): Promise<void> {
  const { store, close } = await openSoakStore(kind, address, TTL);
  const locks = new LockService(store, SERVICE);
  for (const key of KEYS.slice(-2)) await locks.withLock(key, async () => {}).catch(() => {});
  await locks.close();
  await close().catch(() => {}); // a server that is down cannot be told
}

void main();
