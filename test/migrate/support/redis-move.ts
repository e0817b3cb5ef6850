import { Redis } from 'ioredis';
import { type Lock, LockService, RedisLockStore } from 'nest-holdfast';
import { CopyError, copyRedisLocks, settleRedisCopy } from 'nest-holdfast/migrate';
import type { RedisCopyOptions } from 'nest-holdfast/migrate';
import { TcpProxy } from '../../support/processes/tcp-proxy.js';
import { withClock } from '../../support/processes/fake-time.js';
import { RedisServer } from '../../support/servers/redis-server.js';
import { until } from '../../support/until.js';
import { disconnect } from '../../stores/redis/locks.js';

/** By which the applications connect. */
export const USER = 'locks';
const RULES = ['>secret', '~*', '&*', '+@all'];
export const TTL = 30_000;

interface Hold {
  readonly key: string;
  readonly token: bigint;
  readonly from: number;
  to: number;
}

/** Two servers, and an address by which the applications reach one of them. */
export class RedisMove implements AsyncDisposable {
  readonly holds: Hold[] = [];
  readonly admins: readonly [Redis, Redis];
  readonly #clients: Redis[] = [];
  readonly #services: LockService[] = [];
  readonly #unloading = new AbortController();
  #load: Promise<unknown> = Promise.resolve();

  static async start(clock?: string): Promise<RedisMove> {
    const from = await RedisServer.start();
    const to = await RedisServer.start(clock === undefined ? {} : { wrap: withClock(clock) });
    await from.command('ACL', 'SETUSER', USER, 'on', ...RULES);
    await to.command('ACL', 'SETUSER', USER, 'off', ...RULES);
    return new RedisMove(from, to, await TcpProxy.start(from.port));
  }

  private constructor(
    readonly from: RedisServer,
    readonly to: RedisServer,
    readonly address: TcpProxy,
  ) {
    this.admins = [new Redis(from.url), new Redis(to.url)];
  }

  /** One process of an application. */
  application(): LockService {
    const client = new Redis(this.address.port, {
      username: USER,
      password: 'secret',
      retryStrategy: () => 20,
    });
    client.on('error', () => {}); // its address moves
    this.#clients.push(client);
    const locks = new LockService(new RedisLockStore(client), { ttl: TTL, waitTimeout: 60_000 });
    this.#services.push(locks);
    return locks;
  }

  /** Processes that take a few keys again and again. */
  load(processes: number): void {
    const keys = ['order:1', 'order:2', 'order:{3}'];
    this.#load = Promise.all(
      Array.from({ length: processes }, async (_, index) => {
        const locks = this.application();
        for (let turn = index; !this.#unloading.signal.aborted; turn++)
          await this.#work(locks, keys[turn % keys.length]!);
      }),
    );
  }

  async #work(locks: LockService, key: string): Promise<void> {
    const work = async ({ fencingToken }: Lock) => {
      const hold = { key, token: fencingToken, from: performance.now(), to: Infinity };
      this.holds.push(hold);
      await new Promise((resolve) => setTimeout(resolve, 3));
      hold.to = performance.now();
    };
    // Refused where the server is closed: the next turn tries again.
    await locks.withLock(key, { waitTimeout: 5_000 }, work).catch(() => undefined);
  }

  /** Resolves once the load has got so many locks from now on. */
  async works(locks = 20): Promise<void> {
    const before = this.holds.length;
    await until(() => this.holds.length > before + locks);
  }

  async unload(): Promise<void> {
    this.#unloading.abort();
    await this.#load;
  }

  copy(options: Partial<RedisCopyOptions> = {}) {
    const [from, to] = this.admins;
    const move = () => this.address.retarget(this.to.port);
    return copyRedisLocks({ from, to, user: USER, move, ...options });
  }

  settle() {
    const [from, to] = this.admins;
    return settleRedisCopy({ from, to, user: USER });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.unload();
    await Promise.all(this.#services.map((each) => each.close()));
    [...this.#clients, ...this.admins].forEach(disconnect);
    await this.address.stop();
    await Promise.all([this.from.stop(), this.to.stop()]);
  }
}

/** No two at a time, and tokens that grow. */
export function expectExclusion(holds: readonly Hold[]): void {
  for (const key of new Set(holds.map((each) => each.key))) {
    const own = holds.filter((each) => each.key === key);
    for (const [index, hold] of own.entries()) {
      const before = own[index - 1];
      if (!before) continue;
      expect(hold.from).toBeGreaterThanOrEqual(before.to);
      expect(hold.token).toBeGreaterThan(before.token);
    }
  }
}

export async function namesOf(server: RedisServer): Promise<string[]> {
  return (await server.command('KEYS', '*lock:*')) as string[];
}

export async function failureOf(promise: Promise<unknown>): Promise<CopyError> {
  const error = await promise.then(
    () => undefined,
    (each: unknown) => each,
  );
  expect(error).toBeInstanceOf(CopyError);
  return error as CopyError;
}
