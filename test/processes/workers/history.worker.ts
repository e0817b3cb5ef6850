import { createHash } from 'node:crypto';
import { openSync, writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Lock, LockService, type LockStore, RedisLockStore } from 'nest-holdfast';
import { RedlockStore } from 'nest-holdfast/redlock';
import { RENEW } from '../../../lib/stores/redis/redis-scripts.js';
import { OwnClient } from '../../stores/redis-locks.js';
import { openChannel } from '../../support/worker-channel.js';
import type { Entry } from '../history.js';
import { seeded } from '../history-random.js';
import { RecordingStore, now } from './history-store.js';

const KEYS = ['a', 'b', 'c'];
const TTL = 2_000;
/** Milliseconds for one of several nodes. */
const NODE_TIMEOUT = 250;
const [urls, file, callers, seed] = process.argv.slice(2) as [string, string, string, string];
const channel = openChannel<'ready' | 'stopped', 'stop'>();
const random = seeded(Number(seed));
const log = openSync(file, 'a');
const clients = urls.split(',').map((url) => new OwnClient(url));
const store = new RecordingStore(storeOn(clients), record);
const locks = new LockService(store, { ttl: TTL, waitTimeout: 60_000 });
const stop = new AbortController();
let asks = 0;
channel.onMessage(() => stop.abort());
if (clients.length === 1) watch(clients[0]!); // what one of several nodes says is not the whole story

/** With several nodes, one that comes back without its data has no vote before all locks it may have had are over. */
function storeOn(all: readonly OwnClient[]): LockStore {
  const stores = all.map(({ redis }) => new RedisLockStore(redis));
  if (stores.length === 1) return stores[0]!;
  return new RedlockStore(stores, { nodeTimeout: NODE_TIMEOUT, quarantine: true, largestTtl: TTL });
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

async function caller(): Promise<void> {
  while (!stop.signal.aborted) {
    const ask = asks++;
    const key = KEYS[Math.floor(random() * KEYS.length)]!;
    const lock = await granted(ask, key);
    if (lock) await hold(ask, lock);
    await sleep(random() * 20);
  }
}

/** Asks for the key: once, or for as long as it takes, or until it is cancelled. */
async function granted(ask: number, key: string): Promise<Lock | undefined> {
  const canceller = new AbortController();
  const { signal } = canceller;
  const kind = random();
  const cancel = (): void => {
    record({ is: 'cancelled', ask, at: now() });
    canceller.abort();
  };
  record({ is: 'asked', ask, key, at: now() });
  const timer = kind < 0.15 ? setTimeout(cancel, random() * 200) : undefined;
  try {
    const lock = await (kind > 0.9 ? locks.tryAcquire(key) : locks.acquire(key, { signal }));
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
async function hold(ask: number, lock: Lock): Promise<void> {
  const { key } = lock;
  const at = now(); // first, so that a process that is stopped here finds the lock used up
  const until = at + lock.remaining * 1e6;
  const token = Number(lock.fencingToken);
  const from = store.takeOrigin(key, lock.fencingToken);
  record({ is: 'granted', ask, key, token, at, until, from });
  const lost = (): void => record({ is: 'lost', ask, at: now() });
  if (lock.signal.aborted) record({ is: 'lost', ask, at });
  else lock.signal.addEventListener('abort', lost, { once: true });
  const kind = random();
  if (kind < 0.003) await sleep(700 + random() * 800);
  else if (kind < 0.9) await sleep(random() * 12);
  if (random() < 0.02) await lock.extend(TTL).catch(() => undefined);
  record({ is: 'released', ask, at: now() });
  await lock.release();
}

channel.send('ready');
void Promise.all(Array.from({ length: Number(callers) }, caller)).then(async () => {
  await locks.close();
  for (const client of clients) await client[Symbol.asyncDispose]();
  channel.send('stopped');
});
