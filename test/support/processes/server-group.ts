import { freePort } from './free-port.js';
import { NotFreeError, type ServerProcess } from './server-process.js';
import { until } from '../until.js';

interface Member extends ServerProcess {
  isLeader(): Promise<boolean>;
}

const ATTEMPTS = 3;

/** Servers that are one service and elect a leader. */
export abstract class ServerGroup<Server extends Member> implements AsyncDisposable {
  constructor(readonly nodes: readonly Server[]) {}

  /** Starts a group, and another one on other ports when another process takes one of them first. */
  protected static async startAll<Group extends ServerGroup<Member>>(
    create: () => Promise<Group>,
  ): Promise<Group> {
    for (let attempt = 1; ; attempt += 1) {
      const group = await create();
      try {
        await group.#start();
        return group;
      } catch (error) {
        await group.stop();
        if (!(error instanceof NotFreeError) || attempt === ATTEMPTS) throw error;
      }
    }
  }

  get ports(): number[] {
    return this.nodes.map(({ port }) => port);
  }

  /** Resolves with the leader of those that live, once there is one. */
  leader(): Promise<Server> {
    const look = async () => {
      const alive = this.nodes.filter(({ pid }) => pid !== undefined);
      const answers = await Promise.allSettled(alive.map((node) => node.isLeader()));
      return alive.find((_, index) => {
        const answer = answers[index]!;
        return answer.status === 'fulfilled' && answer.value;
      });
    };
    return until(look, { within: 30_000, every: 20, what: 'a leader to be elected' });
  }

  pause(): void {
    for (const node of this.nodes) node.pause();
  }

  resume(): void {
    for (const node of this.nodes) node.resume();
  }

  /** Crashes all, which keep their data. */
  async kill(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.kill()));
  }

  /** Crashes all that run, and starts all with their data. Resolves when they have a leader. */
  async restart(): Promise<void> {
    await this.kill();
    await this.#start();
  }

  /** Ends all at once, and removes their data: an orderly end would hand the leadership round first. */
  async stop(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.remove()));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  /** None is ready before the others run. */
  async #start(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.spawn()));
    await Promise.all(this.nodes.map((node) => node.whenReady()));
    await this.leader();
  }
}

/** Ports that are free at this moment, none of them among `others`. */
export async function distinctPorts(
  count: number,
  others: readonly number[] = [],
): Promise<number[]> {
  const ports = new Set<number>();
  while (ports.size < count) {
    const port = await freePort();
    if (!others.includes(port)) ports.add(port);
  }
  return [...ports];
}
