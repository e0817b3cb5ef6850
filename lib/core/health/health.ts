import { randomUUID } from 'node:crypto';
import type { Clock } from '../async/clock.js';
import type { Lease, LockStore, NodeCount } from '../contract/lock-store.js';
import { aWhole, checkOptions, oneOf } from '../options/option-rules.js';
import type { OptionRules } from '../options/option-rules.js';
import { StoreTimeout } from '../store/bounded-call.js';
import { checkAttempt } from '../store/grant.js';
import { connectionFailureOf } from '../store/store-failure.js';
import type { StoreCalls } from '../store/store-call.js';

export interface LockHealthOptions {
  /**
   * `'read'`: one question, takes nothing. `'lock'`: takes and frees a lock of its own, which also finds a store that cannot be
   * written to: a read-only replica, full memory or a full disk.
   * @default 'read'
   */
  readonly probe?: 'read' | 'lock' | undefined;
  /**
   * Milliseconds for all answers together.
   * @default 1_000
   */
  readonly timeout?: number | undefined;
}

/** Whether locks can be taken. Names no host: it may be shown to the public. */
export interface LockHealth {
  /** `degraded`: locks can be taken, and a node of a store that has several is away or has no vote. */
  readonly status: 'up' | 'degraded' | 'down';
  /** `LockStore.name`. */
  readonly store: string;
  readonly probe: 'read' | 'lock';
  /** Milliseconds that the probe took. */
  readonly duration: number;
  /** Of a store that has several. `needed` is a majority. */
  readonly nodes?: NodeCount | undefined;
  /** Why it is `down`: `timeout`, `closed`, `draining`, a code (`ECONNREFUSED`, `READONLY`) or the name of an error. */
  readonly reason?: string | undefined;
}

interface HealthContext {
  readonly store: LockStore;
  readonly clock: Clock;
  readonly calls: StoreCalls;
}

export const HEALTH_RULES: OptionRules<LockHealthOptions> = {
  probe: oneOf('read', 'lock'),
  timeout: aWhole('ms', { from: 1 }),
};

/** Of this process: those of two processes must not refuse each other. */
const KEY = `holdfast:health:${randomUUID()}`;
/** Milliseconds after which the lock of a process that dies meanwhile is gone. */
const TTL = 10_000;

/** Rejects with `TypeError` or `RangeError` for unusable options, and never else. */
export async function healthOf(
  { store, clock, calls }: HealthContext,
  ended: 'closed' | 'draining' | undefined,
  options: LockHealthOptions = {},
): Promise<LockHealth> {
  checkOptions('health', options, HEALTH_RULES, "{ probe: 'lock' }");
  const { timeout = 1_000 } = options;
  const probe = store.inspect || store.countNodes ? (options.probe ?? 'read') : 'lock';
  const since = clock.now();
  const found = { store: store.name, probe };
  const left = () => Math.max(1, timeout - (clock.now() - since));
  const duration = () => Math.round(clock.now() - since);
  if (ended) return { status: 'down', ...found, duration: 0, reason: ended };
  try {
    const nodes = await countedBy(store, calls, left());
    if (probe === 'lock') await takeAndFree(store, calls, left());
    else if (!store.countNodes) await bounded(calls, left(), () => store.inspect!(KEY));
    return { status: statusOf(nodes), ...found, duration: duration(), ...(nodes && { nodes }) };
  } catch (error) {
    return {
      status: 'down',
      ...found,
      duration: duration(),
      reason: reasonWord(connectionFailureOf(store) ?? error),
    };
  }
}

async function countedBy(store: LockStore, calls: StoreCalls, within: number) {
  return store.countNodes && (await bounded(calls, within, () => store.countNodes!()));
}

function statusOf(nodes: NodeCount | undefined): LockHealth['status'] {
  if (!nodes || nodes.up >= nodes.total) return 'up';
  return nodes.up >= nodes.needed ? 'degraded' : 'down';
}

/** A refusal is an answer, too: another probe of this process has the lock. */
async function takeAndFree(store: LockStore, calls: StoreCalls, within: number): Promise<void> {
  const request = { key: KEY, keys: [KEY], token: randomUUID(), ttl: TTL };
  const lease = await bounded(calls, within, () => store.tryAcquire(request), checkAttempt, (late) => free(late)); // prettier-ignore
  if (lease) await bounded(calls, within, () => lease.release());
}

function free(late: Lease | undefined): void {
  late?.release().catch(() => undefined); // its ttl frees it
}

function bounded<T>(
  calls: StoreCalls,
  within: number,
  ask: () => Promise<T>,
  check: (answer: unknown) => void = () => undefined,
  late: (answer: T) => void = () => undefined,
): Promise<T> {
  const recover = (error: unknown): never => {
    throw error;
  };
  return calls.make<T, T>({ ask, within, check, read: (answer) => answer, recover, late });
}

/** Nothing of the message but a code at its beginning, as servers send it: the rest may name hosts. */
function reasonWord(error: unknown): string {
  if (error instanceof StoreTimeout) return 'timeout';
  const { code, message, name } = (error ?? {}) as Readonly<Record<string, unknown>>;
  if (typeof code === 'string' && /^\w{1,40}$/.test(code)) return code;
  const word = typeof message === 'string' ? /^[A-Z]{3,20}(?= )/.exec(message)?.[0] : undefined;
  return word ?? (typeof name === 'string' && /^\w{1,60}$/.test(name) ? name : 'unknown');
}
