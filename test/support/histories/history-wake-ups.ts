import { Redis } from 'ioredis';
import { disconnect } from '../../stores/redis/locks.js';
import { monitorOf } from '../processes/monitor.js';

/** Whom one call of a script woke for one lock. */
export interface WakeUps {
  readonly queue: string;
  /** Process ids, in the order of the messages. */
  readonly woken: number[];
}

const LINE = /\}:line(?::|$)/;
/** Others wait for what it has, or it has come to the front. */
const NOT_WOKEN = /^[!?] /;

/**
 * Watches by MONITOR whom the server wakes. A subscription to all channels would count as a listener of each, and the server
 * would take the dead for living.
 */
export class WakeUpWatch implements AsyncDisposable {
  readonly all: WakeUps[] = [];
  readonly #monitor: Redis;
  readonly #client: Redis;
  #call = new Map<string, WakeUps>();
  #queue = '';

  static async start(url: string): Promise<WakeUpWatch> {
    const client = new Redis(url);
    return new WakeUpWatch(client, await monitorOf(client));
  }

  private constructor(client: Redis, monitor: Redis) {
    this.#client = client;
    this.#monitor = monitor;
    monitor.on('monitor', (_: string, command: string[], source: string) => {
      if (source === 'lua') this.#inScript(command);
      else {
        this.#call = new Map();
      }
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    disconnect(this.#monitor);
    disconnect(this.#client);
  }

  /** `zrem <line> …`, then `publish holdfast:<id> <value>`. */
  #inScript([name, first, second]: string[]): void {
    if (name === 'zrem' && LINE.test(first!)) this.#queue = first!;
    if (name !== 'publish' || NOT_WOKEN.test(second!)) return;
    let wakeUps = this.#call.get(this.#queue);
    if (!wakeUps) {
      wakeUps = { queue: this.#queue, woken: [] };
      this.#call.set(this.#queue, wakeUps);
      this.all.push(wakeUps);
    }
    wakeUps.woken.push(Number(second!.split(':').at(-2)));
  }
}

/** The keys that several may hold together, and so may be woken for together. */
const SHARED = /:[bc]\}/;

/** A script that has woken a live waiter has no more to do; waiters whose process was killed are passed over. */
export function wokenTogether(all: readonly WakeUps[], killed: ReadonlySet<number>): string[] {
  return all
    .map(({ queue, woken }) => ({ queue, woken: woken.filter((pid) => !killed.has(pid)) }))
    .filter(({ queue, woken }) => woken.length > 1 && !SHARED.test(queue))
    .map(({ queue, woken }) => `woken together from ${queue}: ${woken.join(', ')}`);
}
