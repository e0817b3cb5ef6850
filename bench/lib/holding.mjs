import { Noise, quiet } from './noise.mjs';
import { stray } from './stray.mjs';
import { sleep, within } from './time.mjs';
import { wire } from './wire.mjs';
import { random } from './random.mjs';

/** Holds many locks of one candidate with automatic renewal and tells what that cost and what was lost. */
export class Holding {
  #pid;
  #admin;
  #ttl;

  /** `pid` is that of the server, and `admin` asks it. */
  constructor({ pid, admin, ttl }) {
    this.#pid = pid;
    this.#admin = admin;
    this.#ttl = ttl;
  }

  /** `pause`: `{ at, ms }`, when the server stands still and for how long. */
  async measure(candidate, { count, hold, pause }) {
    globalThis.gc?.();
    await quiet(500);
    await this.#admin.command('FLUSHALL');
    let toldLost = 0;
    const strays = stray.count;
    const { locks, ...acquired } = await acquireAll(candidate, count, this.#ttl, () => toldLost++);
    const costs = await this.#costsOf(() => this.#watch(candidate, { count, hold, pause }));
    const { seconds, commands, ...shares } = costs;
    const gone = (await this.#remaining(candidate, upTo(count))).filter((ms) => ms < 0).length;
    return {
      'held s': seconds,
      lost: Math.max(gone, toldLost),
      ...shares,
      'commands/lock/ttl': (commands / count / seconds) * (this.#ttl / 1_000),
      ...acquired,
      ...(await releaseAll(locks)),
      'told lost': toldLost,
      unhandled: stray.count - strays,
    };
  }

  async #costsOf(work) {
    const serverCpu = await this.#admin.cpuMicros();
    const sent = { ...wire };
    const noise = new Noise([process.pid, this.#pid]);
    const cpu = process.cpuUsage();
    const start = performance.now();
    const lowest = await work();
    const { user, system } = process.cpuUsage(cpu);
    const seconds = (performance.now() - start) / 1_000;
    const percent = (micros) => micros / 1e4 / seconds;
    return {
      seconds,
      'client %': percent(user + system),
      'server %': percent((await this.#admin.cpuMicros()) - serverCpu),
      commands: wire.commands - sent.commands,
      'writes/s': (wire.writes - sent.writes) / seconds,
      'lowest ttl ms': lowest,
      noise: noise.share(),
    };
  }

  /** The lowest time to live that random looks have met. */
  async #watch(candidate, { count, hold, pause }) {
    const start = performance.now();
    let lowest = Infinity;
    let isPauseDue = pause !== undefined;
    while (performance.now() - start < hold) {
      await sleep(Math.min(200, hold / 10));
      if (isPauseDue && performance.now() - start > pause.at) {
        isPauseDue = false;
        process.kill(this.#pid, 'SIGSTOP');
        await sleep(pause.ms);
        process.kill(this.#pid, 'SIGCONT');
      }
      const picks = Array.from({ length: 50 }, () => Math.floor(random() * count));
      const times = await this.#remaining(candidate, picks);
      lowest = Math.min(lowest, ...times.filter((ms) => ms >= 0));
    }
    return lowest;
  }

  /** Whatever the library believes, the server decides which locks are still there. */
  #remaining({ keyPrefix }, indexes) {
    return this.#admin.pipeline(indexes.map((index) => ['PTTL', `${keyPrefix}h:${index}`]));
  }
}

/** 200 at a time, spread as a busy service would. */
async function acquireAll(candidate, count, ttl, onLost) {
  const before = { timers: timers(), heap: process.memoryUsage().heapUsed };
  const start = performance.now();
  const locks = [];
  const acquire = (index) => candidate.acquire(`h:${index}`, { ttl, wait: 0, renew: true, onLost });
  for (let i = 0; i < count; i += 200) {
    locks.push(
      ...(await Promise.all(
        upTo(count)
          .slice(i, i + 200)
          .map(acquire),
      )),
    );
  }
  return {
    locks,
    'acquire ms': performance.now() - start,
    timers: timers() - before.timers,
    'KB/lock': (process.memoryUsage().heapUsed - before.heap) / 1_024 / count,
  };
}

async function releaseAll(locks) {
  const start = performance.now();
  const releases = await Promise.allSettled(
    locks.map((lock) => within(lock.release(), 10_000, 'release took too long')),
  );
  return {
    'release ms': performance.now() - start,
    'failed releases': releases.filter(({ status }) => status === 'rejected').length,
  };
}

function upTo(count) {
  return Array.from({ length: count }, (_, index) => index);
}

/** Those that a library has unreferenced do not show. */
function timers() {
  return process.getActiveResourcesInfo().filter((each) => each === 'Timeout').length;
}
