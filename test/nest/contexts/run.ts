import { AsyncLocalStorage } from 'node:async_hooks';
import { EventEmitter } from 'node:events';
import DataLoader from 'dataloader';
import { promise as fastq } from 'fastq';
import { LockError, LockService, MemoryLockStore } from 'nest-holdfast';
import type { Lock } from 'nest-holdfast';
import { FakeClock } from 'nest-holdfast/testing';
import PQueue from 'p-queue';
import { sleep } from '../../../lib/core/async/sleep.js';
import { Feeds } from './feeds.js';
import { Insider, Insiders } from './insiders.js';
import type { Key, LockStatement, Program, Statement } from './programs.js';

type Job = () => Promise<void>;

const TTL = 10_000;
const LONGEST_SELF_WAIT = 1_000;
/** Milliseconds by which the clock moves, and may be moved by programs, before a timer runs. */
const SLACK = 500;
const STEP = 200;
/** Longer than anything that a program waits for. */
const LONGEST = 120_000;

/** Where a statement stands. */
interface Around {
  /** The innermost lock around it. */
  readonly own?: Insider | undefined;
  /** A job that waited for another one of its queue would wait for ever. */
  readonly isInJob?: boolean | undefined;
}

/** Runs programs of several requests at the same time, on what a process shares. */
export class Run {
  readonly insiders = new Insiders();
  readonly wrong: string[] = [];
  /** How often each code was thrown. */
  readonly refused: Record<string, number> = {};
  readonly #clock = new FakeClock(50_000);
  readonly #store = new MemoryLockStore(this.#clock);
  readonly #locks = new LockService(this.#store, { clock: this.#clock, ttl: TTL });
  readonly #request = new AsyncLocalStorage<string>();
  readonly #emitter = new EventEmitter();
  readonly #queues: readonly ((job: Job) => Promise<unknown>)[];
  readonly #feeds = new Feeds(this.#locks, this.insiders, () => sleep(this.#clock, 15));
  /** Everything that was started, also by listeners and timers. */
  readonly #open = new Set<Promise<void>>();

  constructor() {
    const queue = new PQueue({ concurrency: 1 });
    const jobs = fastq((job: Job) => job(), 1);
    const loader = new DataLoader((all: readonly Job[]) => Promise.all(all.map((job) => job())), {
      cache: false,
    });
    this.#queues = [(job) => queue.add(job), (job) => jobs.push(job), (job) => loader.load(job)];
  }

  /** Resolves when all of it is over. */
  async all(programs: readonly Program[]): Promise<void> {
    programs.forEach((program, index) => {
      const name = `request ${index}`;
      void this.#start(() =>
        this.#request.run(name, async () => {
          await sleep(this.#clock, index * 5);
          await this.#run(program);
        }),
      );
    });
    for (let passed = 0; this.#open.size > 0 && passed < LONGEST; passed += STEP) {
      await this.#clock.advance(STEP);
      this.insiders.check();
    }
    if (this.#open.size > 0) this.wrong.push(`${this.#open.size} calls never ended`);
    await this.#clock.advance(2 * TTL); // locks that were lost or never released expire
    if (this.#store.held().length > 0) this.wrong.push(`${this.#store.held().join()} stays taken`);
    if (this.#clock.pendingTimers > 0) this.wrong.push('a timer is left');
    this.wrong.push(...this.insiders.wrong);
  }

  /** No caller waits for `work`. */
  #start(work: () => Promise<void>): Promise<void> {
    const started = work().finally(() => this.#open.delete(started));
    this.#open.add(started);
    started.catch((error: unknown) => this.wrong.push(String(error)));
    return started;
  }

  async #run(program: Program, around: Around = {}): Promise<void> {
    for (const statement of program) await this.#step(statement, around);
  }

  async #step(statement: Statement, around: Around): Promise<void> {
    const { own, isInJob } = around;
    const later = (body: Program) => () => void this.#start(() => this.#run(body));
    switch (statement.do) {
      case 'lock':
      case 'acquire':
        return this.#tolerate(() => this.#lock(statement, around));
      case 'sleep':
        return sleep(this.#clock, statement.ms);
      case 'block':
        this.#clock.jump(statement.ms);
        return this.insiders.check();
      case 'release':
      case 'downgrade':
      case 'extend':
        return own && this.#tolerate(() => this.#change(own, statement.do));
      case 'job': {
        const job = () => this.#start(() => this.#run(statement.body, { isInJob: true }));
        const done = this.#queues[statement.queue]!(job).then(() => undefined);
        return statement.isAwaited && !isInJob ? done : undefined;
      }
      case 'emit':
        return void this.#emitter.emit('event');
      case 'listen':
        return void this.#emitter.once('event', later(statement.body));
      case 'event':
        return void this.#locks.events.once(statement.name, this.#inRoot(statement.do, later(statement.body))); // prettier-ignore
      case 'signal':
        return own?.lock.signal.addEventListener('abort', this.#inRoot(statement.do, later(statement.body))); // prettier-ignore
      case 'timer':
        return void this.#clock.schedule(statement.ms, later(statement.body));
      case 'spawn':
        return later(statement.body)();
      case 'outside':
        return this.#locks.outside(() => this.#run(statement.body, { isInJob }));
      case 'parallel':
        await Promise.all(statement.bodies.map((body) => this.#run(body, { isInJob })));
        return;
      case 'subscribe':
        return this.#subscribe(statement.key, statement.body);
    }
  }

  async #lock(statement: LockStatement, around: Around): Promise<void> {
    const { do: kind, keys, body, isLost, reentrant, mode, waitTimeout } = statement;
    const shortened = isLost && { ttl: 40, autoExtend: false };
    const options = { reentrant, mode, waitTimeout, ...shortened };
    const waited = this.#waitFor(keys);
    const inside = async (lock: Lock) => {
      waited();
      const insider = new Insider(lock, { keys, isReader: mode === 'read', reentrant });
      this.insiders.enter(insider);
      try {
        await this.#run(body, { ...around, own: insider });
      } finally {
        this.insiders.leave(insider);
      }
    };
    try {
      if (kind === 'lock') return await this.#locks.withLock([...keys], options, inside);
      await using lock = await this.#locks.acquire([...keys], options);
      await inside(lock);
    } finally {
      waited();
    }
  }

  /** Call the result when the wait is over: one for what the own context holds all the time ends after a second. */
  #waitFor(keys: readonly string[]): () => void {
    const own = () => keys.map((key) => this.#locks.current(key)).find(Boolean);
    const [before, since] = [own(), this.#clock.now()];
    let isOver = false;
    return () => {
      const waited = isOver ? 0 : this.#clock.now() - since;
      isOver = true;
      if (before && before === own() && waited > LONGEST_SELF_WAIT + SLACK)
        this.wrong.push(`a call for ${keys.join()} waited for itself, ${waited} ms`);
    };
  }

  /** The subscriber is told in its own context, which does not own the lock of the stream. */
  #subscribe(key: Key, body: Program): void {
    this.#feeds.of(key).subscribe({
      next: () => {
        const owned = this.#locks.current(key);
        if (owned && this.#feeds.has(owned)) this.wrong.push(`a subscriber owns ${key}`);
        void this.#start(() => this.#run(body));
      },
      error: (error: unknown) => this.#count(error),
    });
  }

  /** Callbacks of the service see no request, and hold no lock. */
  #inRoot(what: string, work: () => void): () => void {
    return () => {
      const request = this.#request.getStore();
      const lock = this.#locks.current();
      if (request ?? lock) this.wrong.push(`${what} told in ${request}, which holds ${lock?.key}`);
      work();
    };
  }

  async #change(own: Insider, what: 'release' | 'downgrade' | 'extend'): Promise<void> {
    const { lock } = own;
    if (what === 'extend') return lock.extend(TTL);
    if (what === 'downgrade') return this.#downgrade(own);
    own.hasReleased = true;
    const released = lock.release();
    if (this.#locks.current() === lock) this.wrong.push(`a released lock is current: ${lock.key}`);
    await released;
  }

  /** Readers may come in from the call on. */
  async #downgrade(own: Insider): Promise<void> {
    own.hasDowngraded = true;
    try {
      await own.lock.downgrade();
      this.insiders.downgraded(own);
    } finally {
      own.hasDowngraded = own.lock.mode === 'read';
    }
  }

  /** A program goes on where its lock was refused or lost. */
  async #tolerate(call: () => Promise<unknown>): Promise<void> {
    try {
      await call();
    } catch (error) {
      this.#count(error);
    }
  }

  #count(error: unknown): void {
    if (!(error instanceof LockError)) throw error;
    this.refused[error.code] = (this.refused[error.code] ?? 0) + 1;
  }
}
