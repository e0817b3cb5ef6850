import { writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { violations } from '../support/histories/history.js';
import type { Granted, ProcessHistory } from '../support/histories/history.js';
import { SoakFaults } from './soak-faults.js';
import { SoakProcesses, type SoakTarget } from './soak-processes.js';
import type { SoakSample, StoreReport } from './soak-report.js';
import type { SoakServers } from './soak-servers.js';
import type { Rested } from './workers/soak.worker.js';

/** Milliseconds after which no ttl, session or claim of a dead process is left. */
const LIFE = 20_000;

export interface SoakPace {
  /** Milliseconds of work between two measurements. */
  readonly round: number;
  /** Milliseconds between two faults. */
  readonly faults: number;
  readonly processes: number;
}

/** One store under work and faults, in rounds. Between two of them no caller holds or waits, and everything is checked. */
export class SoakStore implements AsyncDisposable {
  readonly report: StoreReport;
  readonly #servers: SoakServers;
  readonly #processes: SoakProcesses;
  readonly #faults: SoakFaults;
  readonly #pace: SoakPace;
  readonly #startedAt = performance.now();
  /** The largest token of each key in the rounds before. */
  readonly #tokens = new Map<string, number>();

  constructor(servers: SoakServers, target: SoakTarget, random: () => number, pace: SoakPace) {
    this.#servers = servers;
    this.#processes = new SoakProcesses(target, random);
    this.#faults = new SoakFaults(this.#processes, servers, random, pace.faults);
    this.#pace = pace;
    this.report = { store: target.kind, rounds: 0, grants: 0, losses: 0, refusals: {}, faults: this.#faults.counts, samples: [], violations: [], leftovers: [], leaks: [] }; // prettier-ignore
  }

  start(): Promise<void> {
    return this.#processes.start(this.#pace.processes);
  }

  /** A round that cannot come to its end is a violation, too. */
  async round(): Promise<void> {
    this.#processes.work();
    await this.#faults.disturb(this.#pace.round);
    const rested = await this.#processes.rest();
    this.#count(rested);
    this.#check(await this.#processes.takeHistories());
    const left = await this.#leftovers();
    this.report.leftovers.push(...left);
    this.report.samples.push(await this.#sample(rested[0]!));
    this.report.rounds += 1;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#processes[Symbol.asyncDispose]();
    await Promise.all(this.#servers.proxies.map((proxy) => proxy.stop()));
    await this.#servers.stop();
  }

  #count(rested: readonly Rested[]): void {
    const { report } = this;
    for (const { losses, refusals } of rested) {
      report.losses += losses;
      for (const [why, count] of Object.entries(refusals)) {
        report.refusals[why] = (report.refusals[why] ?? 0) + count;
        if (why.startsWith('uncoded')) report.violations.push(why);
      }
    }
  }

  #check(histories: readonly ProcessHistory[]): void {
    this.report.violations.push(...this.#processes.crashes.splice(0));
    const grants = histories
      .flatMap(({ entries }) => entries)
      .filter((entry): entry is Granted => entry.is === 'granted');
    this.report.grants += grants.length;
    const before: ProcessHistory = { process: 'the rounds before', entries: this.#last() };
    const found = violations([before, ...histories]);
    this.report.violations.push(...found);
    if (found.length > 0) this.#keep(histories);
    for (const { key, token } of grants)
      if (token !== undefined) this.#tokens.set(key, Math.max(token, this.#tokens.get(key) ?? 0));
  }

  /** The histories of a round with a violation, for the search for its cause. */
  #keep(histories: readonly ProcessHistory[]): void {
    const { store, rounds } = this.report;
    const file = join(tmpdir(), `holdfast-soak-${process.pid}-${store}-${rounds}.json`);
    writeFileSync(file, JSON.stringify(histories));
    this.report.violations.push(`the histories of that round: ${file}`);
  }

  /** Stands for the grants of the rounds before: a token has to be larger. */
  #last(): Granted[] {
    return [...this.#tokens].map(([key, token], index) => {
      return { is: 'granted', ask: index, key, token, at: 0, until: 1, from: 'attempt' };
    });
  }

  /** The records that are left when everything that may last for a while is over. */
  async #leftovers(): Promise<readonly string[]> {
    const end = performance.now() + LIFE;
    let left = await this.#servers.leftovers();
    while (left.length > 0 && performance.now() < end) {
      await sleep(500);
      left = await this.#servers.leftovers();
    }
    return left;
  }

  async #sample({ heap, timers, resources }: Rested): Promise<SoakSample> {
    return {
      minutes: (performance.now() - this.#startedAt) / 60_000,
      heap,
      timers,
      resources: resources.length,
      connections: await connections(this.#servers.accepting),
      stored: await this.#servers.stored(),
    };
  }
}

/** Established connections that were accepted at these ports, by Linux's word. */
async function connections(ports: readonly number[]): Promise<number | undefined> {
  try {
    const tables = await Promise.all(
      ['tcp', 'tcp6'].map((name) => readFile(`/proc/net/${name}`, 'utf8')),
    );
    const rows = tables.flatMap((table) => table.split('\n').map((row) => row.trim().split(/\s+/)));
    const isOurs = (local: string) => ports.includes(Number.parseInt(local.split(':')[1]!, 16));
    return rows.filter(([, local, , state]) => state === '01' && isOurs(local!)).length;
  } catch {
    return undefined;
  }
}
