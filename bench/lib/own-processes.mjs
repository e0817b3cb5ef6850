// Every candidate alone in a fresh process, with the raw client that its ratios are formed with: nothing that another library
// loads, compiles or leaves behind is in its figures. They take turns, so that one process works at a time.
import { loadCandidates } from './candidates.mjs';
import { inTurns } from './cycles.mjs';
import { firstLine } from './time.mjs';
import { Worker } from './workers.mjs';

export class OwnProcesses {
  #workers = new Map();
  #pids;
  candidates;

  /** Those that could be set up on the ports; the others are reported and left out. `pids` are those of the servers. */
  static async start(option, ports, pids, feature) {
    const own = new OwnProcesses();
    own.#pids = pids;
    const all = await loadCandidates(option, feature);
    for (const each of all) await own.#start(each, [ports].flat(), option, feature);
    own.candidates = all.filter(({ name }) => own.#workers.has(name));
    return own;
  }

  /** Samples of uncontended cycles at one concurrency, each beside the raw client. */
  async cycles(concurrency, { rounds, patience, warmUp, settle, ms, isFresh }) {
    const request = { concurrency, settle, ms, isFresh, pids: this.#pids };
    for (const { name } of this.candidates)
      await this.#workers.get(name).call('warmUp', { concurrency, ms: warmUp, isFresh });
    return inTurns(this.candidates, { rounds, patience }, ({ name }, round) =>
      this.#workers.get(name).call('cycles', { ...request, name, round }, 60_000),
    );
  }

  /** All waiters for one key, in the process of the candidate. */
  burst({ name }, request) {
    return this.#workers.get(name).call('burst', { ...request, name, pids: this.#pids }, 60_000);
  }

  async stop() {
    await Promise.all([...this.#workers.values()].map((worker) => worker.stop()));
  }

  async #start({ name, raw }, ports, { adapters, quick }, feature) {
    const worker = new Worker();
    try {
      const selection = { only: raw ? `${name},${raw}` : name, adapters, quick, feature };
      const names = await worker.call('setUp', { ports, selection }, 60_000);
      if (!names.includes(name)) throw new Error('it could not be set up');
      this.#workers.set(name, worker);
    } catch (error) {
      console.error(`# ${name} is left out: ${firstLine(error)}`);
      await worker.stop();
    }
  }
}
