import { setTimeout as sleep } from 'node:timers/promises';
import type { SoakProcesses } from './soak-processes.js';
import type { SoakServers } from './soak-servers.js';

export type FaultKind = 'kill' | 'pause' | 'stop server' | 'cut' | 'delay' | 'refuse' | 'restart';

/** Milliseconds. Half of the pauses of a process outlive a lock. */
const LONGEST_PAUSE = 4_000;
const LONGEST_STOP = 3_000;
const LONGEST_DELAY = 80;

/** Faults by chance, one after the other, with some time between them. */
export class SoakFaults {
  readonly counts: Partial<Record<FaultKind, number>> = {};
  readonly #processes: SoakProcesses;
  readonly #servers: SoakServers;
  readonly #random: () => number;
  /** Milliseconds between two faults, on average. */
  readonly #pace: number;

  constructor(processes: SoakProcesses, servers: SoakServers, random: () => number, pace: number) {
    this.#processes = processes;
    this.#servers = servers;
    this.#random = random;
    this.#pace = pace;
  }

  /** For so many milliseconds. Everything is well again when it resolves. */
  async disturb(milliseconds: number): Promise<void> {
    const end = performance.now() + milliseconds;
    for (;;) {
      const pause = this.#pace * (0.5 + this.#random());
      const left = end - performance.now();
      await sleep(Math.max(0, Math.min(left, pause)));
      if (left <= pause) return;
      await this.#one();
    }
  }

  async #one(): Promise<void> {
    const { servers, restarts, proxies } = this.#servers;
    const kinds: FaultKind[] = ['pause', 'pause', 'kill'];
    if (servers.length > 0) kinds.push('stop server');
    if (proxies.length > 0) kinds.push('cut', 'delay', 'refuse');
    if (restarts.length > 0) kinds.push('restart');
    const kind = kinds[Math.floor(this.#random() * kinds.length)]!;
    const isDone = await this.#make(kind);
    if (isDone !== false) this.counts[kind] = (this.counts[kind] ?? 0) + 1;
  }

  async #make(kind: FaultKind): Promise<boolean | void> {
    const { servers, restarts, proxies, settled } = this.#servers;
    if (kind === 'kill') return this.#processes.replaceOne();
    if (kind === 'pause') return this.#pause(this.#processes.any(), LONGEST_PAUSE);
    if (kind === 'stop server') return this.#pause(this.#oneOf(servers), LONGEST_STOP);
    if (kind === 'restart') {
      await this.#oneOf(restarts).restart();
      return settled?.();
    }
    const proxy = this.#oneOf(proxies);
    if (kind === 'cut') return proxy.cutAll();
    if (kind === 'refuse') {
      proxy.refuse();
      proxy.cutAll();
      await sleep(this.#random() * LONGEST_STOP);
      return proxy.accept();
    }
    proxy.requests.delay(this.#random() * LONGEST_DELAY);
    proxy.replies.delay(this.#random() * LONGEST_DELAY);
    await sleep(this.#random() * LONGEST_PAUSE);
    proxy.pass();
  }

  async #pause(paused: { pause(): void; resume(): void }, longest: number): Promise<void> {
    paused.pause();
    await sleep(this.#random() * longest);
    paused.resume();
  }

  #oneOf<T>(items: readonly T[]): T {
    return items[Math.floor(this.#random() * items.length)]!;
  }
}
