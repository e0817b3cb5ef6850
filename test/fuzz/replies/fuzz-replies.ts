import { type Lock, LockError, LockService, type LockStore } from 'nest-holdfast';
import type { Backend } from '../../stores/support/backends.js';
import { reasonOf } from '../../../lib/core/contract/safe-error.js';
import { seeded } from '../../support/histories/history-random.js';
import { until } from '../../support/until.js';
import { CorruptingProxy } from './corrupting-proxy.js';

/** Milliseconds. Calls end by the first, and a call that has not ended by the last hangs. */
const STORE_TIMEOUT = 1_000;
const HANG = 60_000;

interface Sides {
  readonly proxy: CorruptingProxy;
  /** Without the proxy. */
  readonly honest: LockService;
  /** Behind it. */
  readonly remote: LockService;
}

/**
 * The answers of a server are corrupted, at a place of each round, while one process holds a key and another one, behind the
 * proxy, asks for it and for others. A text for each rule that was broken, with the seed of its round.
 */
export async function fuzzReplies(
  store: string,
  start: () => Promise<Backend>,
  rounds: number,
  seed: number,
): Promise<string[]> {
  const backend = await start();
  const proxy = await CorruptingProxy.start(backend.port);
  const opened = [backend.open(backend.port), backend.open(proxy.port)];
  const [honest, remote] = [
    serviceOf(opened[0]!.store, HANG),
    serviceOf(opened[1]!.store, STORE_TIMEOUT),
  ];
  await outcomeOf(remote.withLock('warm-up', { storeTimeout: HANG }, async () => true));
  const found: string[] = [];
  for (let each = seed; each < seed + rounds; each++) {
    console.error(`seed ${each} on ${store}`); // the last one is of a round that hangs
    const problems = await round({ proxy, honest, remote }, each).catch((error: unknown) => [reasonOf(error)]); // prettier-ignore
    found.push(...problems.map((problem) => `seed ${each} on ${store}: ${problem}`));
  }
  for (const service of [honest, remote]) {
    const { error } = await outcomeOf(service.close());
    if (error) found.push(`${store}: close() of the service: ${reasonOf(error)}`);
  }
  // A driver may wait for ever for the end of a connection whose answers were damaged.
  await Promise.all(opened.map(async ({ close }) => outcomeOf(Promise.resolve(close?.()))));
  proxy.stop();
  await backend.stop?.();
  return found;
}

function serviceOf(store: LockStore, storeTimeout: number): LockService {
  return new LockService(store, { ttl: 30_000, storeTimeout, retryDelay: 20 });
}

async function round({ proxy, honest, remote }: Sides, seed: number): Promise<string[]> {
  const problems: string[] = [];
  const [held, free] = [`held:${seed}`, `free:${seed}`];
  const { made: lock, error: refusal } = await outcomeOf(honest.acquire(held));
  if (!lock) return [`the honest process has no lock: ${reasonOf(refusal)}`];
  proxy.random = seeded(seed);
  const asked = [
    outcomeOf(remote.acquire(held, { waitTimeout: 300 })),
    outcomeOf(remote.acquire(free, { waitTimeout: 300 })),
    outcomeOf(remote.inspect(held)),
  ] as const;
  const [stolen, taken, seen] = await Promise.all(asked);
  problems.push(...[stolen, taken, seen].flatMap(({ error }) => errorProblem(error)));
  if (isHeld(stolen.made) && lock.isHeld) problems.push('a lock was handed out that another holds');
  if (isHeld(taken.made)) {
    const other = await outcomeOf(honest.tryAcquire(free));
    if (other.made && isHeld(taken.made)) problems.push('a lock was handed out that is not held');
    await other.made?.release();
  }
  for (const { made } of [stolen, taken]) if (made) await outcomeOf(made.release());
  proxy.heal();
  const { made: wasHeld } = await outcomeOf(lock.release());
  if (!wasHeld)
    problems.push(`the lock of the honest process was lost: ${reasonOf(lock.signal.reason)}`);
  const works = async () => (await outcomeOf(remote.withLock(`after:${seed}`, async () => true))).made; // prettier-ignore
  await until(works, { within: HANG, every: 20, what: 'the store to work again' });
  return problems;
}

function isLock(made: unknown): made is Lock {
  return typeof made === 'object' && made !== null && 'release' in made;
}

function isHeld(made: unknown): boolean {
  return isLock(made) && made.isHeld;
}

function errorProblem(error: unknown): string[] {
  if (error === undefined || error instanceof LockError) return [];
  return [`not an error of a lock: ${error instanceof Error ? error.stack : typeof error}`];
}

/** Of a call that may fail, and must not hang. */
async function outcomeOf<T>(call: Promise<T>): Promise<{ made?: T; error?: unknown }> {
  let timer: NodeJS.Timeout | undefined;
  const hang = new Promise<{ error: Error }>((resolve) => {
    timer = setTimeout(
      () => resolve({ error: new Error(`a call that has not ended within ${HANG} ms`) }),
      HANG,
    );
  });
  const outcome = call.then(
    (made) => ({ made }),
    (error: unknown) => ({ error }),
  );
  const first = await Promise.race([outcome, hang]);
  clearTimeout(timer);
  return first;
}
