import { createHash } from 'node:crypto';
import { openSync, writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Lock, type LockOptions, LockService } from 'nest-holdfast';
import { RENEW } from '../../../../lib/stores/redis/lua/lease-scripts.js';
import type { OwnClient } from '../../../stores/redis/locks.js';
import { openChannel } from '../../processes/worker-channel.js';
import { type Entry, READERS } from '../history.js';
import { seeded } from '../history-random.js';
import { RecordingStore, now } from './history-store.js';
import { type OpenStore, type StoreAddress, openStore } from './open-store.js';

const TTL = 2_000;
/** Milliseconds between two looks of a holder at a lock that it has for long. */
const LOOKS = 20;

interface Choice {
  readonly key: string;
  readonly options: LockOptions;
  readonly permits?: number;
}

const [storeKind, address, file, callers, seed] = process.argv.slice(2) as [
  StoreAddress['kind'],
  ...[string, string, string, string],
];
const channel = openChannel<'ready' | 'stopped', 'stop'>();
const random = seeded(Number(seed));
const log = openSync(file, 'a');
const stop = new AbortController();
let asks = 0;
channel.onMessage(() => stop.abort());

async function main(): Promise<void> {
  const opened = await openStore({ kind: storeKind, address }, TTL);
  opened.clients?.forEach(watch);
  const worker = new Worker(opened);
  channel.send('ready');
  await Promise.all(Array.from({ length: Number(callers) }, () => worker.caller()));
  await worker.close();
  channel.send('stopped');
}

function watch(client: OwnClient): void {
  client.redis.on('message', (_, text) => heard(text));
  watchRenewals(client, 'eval', RENEW.source);
  const hash = createHash('sha1').update(RENEW.source).digest('hex');
  watchRenewals(client, 'evalsha', hash);
}

/** At once, so that a process that is killed has told everything. */
function record(entry: Entry): void {
  writeSync(log, `${JSON.stringify(entry)}\n`);
}

function heard(text: string): void {
  if (text.startsWith('! ')) record({ is: 'contended', key: keyOf(text.slice(2)) });
}

/** Records what the server is asked for more fencing tokens, in the order in which the store sends it and hears of it. */
function watchRenewals({ redis }: OwnClient, method: 'eval' | 'evalsha', script: string): void {
  const original = redis[method].bind(redis) as (...args: unknown[]) => Promise<unknown>;
  const watched = async (...args: unknown[]): Promise<unknown> => {
    if (args[0] !== script) return original(...args);
    const key = keyOf(String(args[2]));
    record({ is: 'renewing', key });
    const reply = (await original(...args)) as [token: unknown, others: unknown] | null;
    if (reply) record({ is: 'renewed', key, isContended: Number(reply[1]) === 1 });
    return reply;
  };
  Object.assign(redis, { [method]: watched });
}

function keyOf(lock: string): string {
  return lock.replace('lock:', '');
}

class Worker {
  readonly #store: RecordingStore;
  readonly #locks: LockService;
  readonly #closeClients: () => Promise<unknown>;

  constructor({ store, close }: OpenStore) {
    this.#store = new RecordingStore(store, record);
    this.#locks = new LockService(this.#store, { ttl: TTL, waitTimeout: 60_000 });
    this.#closeClients = close;
  }

  async caller(): Promise<void> {
    while (!stop.signal.aborted) {
      const ask = asks++;
      const lock = await this.#granted(ask, this.#choice());
      if (lock) await this.#hold(ask, lock);
      await sleep(random() * 20);
    }
  }

  async close(): Promise<void> {
    await this.#locks.close();
    await this.#closeClients();
  }

  /** One key is had alone, one has readers and writers, one has permits, as far as the store can count. */
  #choice(): Choice {
    const { readLocks, semaphores } = this.#store.supports;
    const kind = Math.floor(random() * 3);
    if (kind === 1 && readLocks && random() < 0.75)
      return { key: 'b', options: { mode: 'read' }, permits: READERS };
    if (kind === 2 && semaphores) return { key: 'c', options: { permits: 3 }, permits: 3 };
    return { key: 'abc'[kind]!, options: {} };
  }

  /** Asks for the key: once, or for as long as it takes, or until it is cancelled. */
  async #granted(ask: number, { key, options, permits }: Choice): Promise<Lock | undefined> {
    const canceller = new AbortController();
    const { signal } = canceller;
    const kind = random();
    const cancel = (): void => {
      record({ is: 'cancelled', ask, at: now() });
      canceller.abort();
    };
    record({ is: 'asked', ask, key, permits, at: now() });
    const timer = kind < 0.15 ? setTimeout(cancel, random() * 200) : undefined;
    try {
      const lock = await (kind > 0.9
        ? this.#locks.tryAcquire(key, options)
        : this.#locks.acquire(key, { ...options, signal }));
      if (!lock) record({ is: 'refused', ask, at: now(), why: 'held' });
      return lock;
    } catch (error) {
      record({ is: 'refused', ask, at: now(), why: String(error) });
      return undefined;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Mostly short, and now and then for so long that the lock has to be extended. */
  async #hold(ask: number, lock: Lock): Promise<void> {
    this.#recordGrant(ask, lock);
    const lost = (): void => record({ is: 'lost', ask, at: now() });
    if (lock.signal.aborted) lost();
    else lock.signal.addEventListener('abort', lost, { once: true });
    const kind = random();
    if (kind < 0.003) await this.#holdFor(700 + random() * 800, ask, lock);
    else if (kind < 0.9) await this.#holdFor(random() * 12, ask, lock);
    if (random() < 0.02) await lock.extend(TTL).catch(() => undefined);
    if (lock.key === 'b' && !lock.permits && random() < 0.3) await this.#readOn(ask, lock);
    look(ask, lock);
    record({ is: 'released', ask, at: now() });
    await lock.release();
  }

  #recordGrant(ask: number, lock: Lock): void {
    const { key } = lock;
    const at = now(); // first, so that a process that is stopped here finds the lock used up
    if (lock.permits !== undefined) {
      const permits = Math.min(lock.permits, READERS);
      record({ is: 'granted', ask, key, permits, at, from: 'attempt' });
      return look(ask, lock);
    }
    const until = this.#store.supports.ttl ? at + lock.remaining * 1e6 : undefined;
    const from = this.#store.takeOrigin(key, lock.fencingToken);
    record({ is: 'granted', ask, key, token: Number(lock.fencingToken), at, until, from });
  }

  /** Lets readers in, where the store can. */
  async #readOn(ask: number, lock: Lock): Promise<void> {
    const at = now();
    if (!lock.isHeld) return;
    record({ is: 'downgraded', ask, at });
    await lock.downgrade().catch(() => undefined);
    await this.#holdFor(random() * 12, ask, lock);
  }

  async #holdFor(milliseconds: number, ask: number, lock: Lock): Promise<void> {
    const end = performance.now() + milliseconds;
    for (let left = milliseconds; left > 0; left = end - performance.now()) {
      look(ask, lock);
      await sleep(Math.min(left, LOOKS));
    }
  }
}

/** The validity of a writer says until when it holds the lock. A session has none, and sharers cannot be told apart by a token. */
function look(ask: number, lock: Lock): void {
  const at = now();
  const isUnknown = lock.permits !== undefined || lock.remaining === Infinity;
  if (isUnknown && lock.isHeld) record({ is: 'seen', ask, at });
}

void main();
