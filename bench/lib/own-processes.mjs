// Every candidate alone in a fresh process, with the raw client that its ratios are formed with: nothing that another library
// loads, compiles or leaves behind is in its figures. They take turns, so that one process works at a time.
import { join } from 'node:path';
import { loadCandidates } from './candidates.mjs';
import { BENCH } from './options.mjs';
import { inRounds } from './rounds.mjs';
import { firstLine } from './time.mjs';
import { Worker } from './workers.mjs';

const RAW = join(BENCH, 'adapters', 'raw.mjs');

/** Of one candidate, and of its raw client where there is one. */
export function selectionOf({ name, file, raw }, { quick }, feature) {
  const files = raw && file !== RAW ? [file, RAW] : [file];
  return { files, only: raw ? `${name},${raw}` : name, quick, feature };
}

export class OwnProcesses {
  #workers = new Map();
  #pids;
  candidates;
  missing;

  /**
   * Those that could be set up at the addresses; the others are reported and left out. `pids` are those of the servers. `system`: one
   * of systems.mjs, without raw clients. `services`: how many of them are in each process, every one with connections of its own.
   */
  static async start(option, addresses, pids, { feature, system, services }) {
    const own = new OwnProcesses();
    own.#pids = pids;
    const loaded = await loadCandidates(option, feature, system?.folder);
    const all = system ? loaded.map((each) => ({ ...each, raw: undefined })) : loaded;
    const setting = { addresses: [addresses].flat(), system: system?.id, services };
    for (const each of all)
      await own.#start(each, { ...setting, selection: selectionOf(each, option, feature) });
    own.candidates = all.filter(({ name }) => own.#workers.has(name));
    own.missing = all.filter((each) => !own.candidates.includes(each));
    return own;
  }

  /** Samples of `task`, in turns. `requestOf(candidate, round)`: what else it is asked with. */
  inRounds(limits, task, requestOf, ms = 60_000) {
    return inRounds(this.candidates, limits, (each, round) => {
      const request = { ...requestOf(each, round), name: each.name, round, pids: this.#pids };
      return this.#workers.get(each.name).call(task, request, ms);
    });
  }

  /** Samples of uncontended cycles at one concurrency, each beside the raw client. */
  async cycles(concurrency, { rounds, patience, warmUp, settle, ms, isFresh }) {
    for (const { name } of this.candidates)
      await this.#workers.get(name).call('warmUp', { concurrency, ms: warmUp, isFresh });
    const request = { concurrency, settle, ms, isFresh };
    return this.inRounds({ rounds, patience }, 'cycles', () => request);
  }

  async stop() {
    await Promise.all([...this.#workers.values()].map((worker) => worker.stop()));
  }

  async #start({ name }, setting) {
    const worker = new Worker();
    try {
      const names = await worker.call('setUp', setting, 60_000);
      if (!names.includes(name)) throw new Error('it could not be set up');
      this.#workers.set(name, worker);
    } catch (error) {
      console.error(`# ${name} is left out: ${firstLine(error)}`);
      await worker.stop();
    }
  }
}
