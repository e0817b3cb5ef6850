import { Admin } from './admin.mjs';
import { startRedis } from './servers.mjs';
import { sum } from './stats.mjs';
import { sleep } from './time.mjs';

/** `count` independent servers, started one right after the other; to be asked like the `Admin` of a single one. */
export async function startNodes(count) {
  const servers = [];
  while (servers.length < count) servers.push(await startRedis());
  return new Nodes(servers);
}

class Nodes {
  #servers;
  #admins;

  constructor(servers) {
    this.#servers = servers;
    this.#admins = servers.map(({ port }) => new Admin(port));
  }

  get ports() {
    return this.#servers.map(({ port }) => port);
  }

  get pids() {
    return this.#servers.map(({ pid }) => pid);
  }

  /** The CPU time of all of them so far, in microseconds. */
  async cpuMicros() {
    return sum(await Promise.all(this.#admins.map((admin) => admin.cpuMicros())));
  }

  /** Median round trip to one of them, in ms: nothing that asks a majority can be faster. */
  roundTrip() {
    return this.#admins[0].roundTrip();
  }

  /** One of them stands still while `work` runs. Resolves once it has caught up with what was sent to it meanwhile. */
  async withOneHung(index, work) {
    this.#servers[index].pause();
    try {
      return await work();
    } finally {
      this.#servers[index].resume();
      await this.#caughtUp(this.#admins[index]);
    }
  }

  async stop() {
    for (const admin of this.#admins) admin.close();
    await Promise.all(this.#servers.map((server) => server.stop()));
  }

  /** Busy no more, or 5 s later. */
  async #caughtUp(admin) {
    for (let attempt = 0; attempt < 50; attempt++) {
      const before = await admin.cpuMicros();
      await sleep(100);
      if ((await admin.cpuMicros()) - before < 5_000) return;
    }
  }
}
