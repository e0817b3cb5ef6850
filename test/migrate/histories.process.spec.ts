import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { MigrationPhase } from 'nest-holdfast/migrate';
import { all, longestWait } from '../support/histories/history-entries.js';
import { violations } from '../support/histories/history.js';
import { prepareStore } from '../support/histories/prepare-store.js';
import { now } from '../support/histories/workers/history-store.js';
import type { StoreAddress } from '../support/histories/workers/open-store.js';
import { EtcdServer } from '../support/servers/etcd-server.js';
import { PostgresServer } from '../support/servers/postgres-server.js';
import { RedisServer } from '../support/servers/redis-server.js';
import { MigrationRun, type Mover } from './support/migration-run.js';

const CALLERS = 4;
/** Milliseconds: the ttl of the workers. */
const TTL = 2_000;
const LONGEST = 600_000;
/** Milliseconds: a barrier lasts for the ttl, and a busy machine ten times as long. */
const LONGEST_WAIT = 10 * TTL;
const IN_A_MONTH = String((Date.now() + 30 * 86_400_000) * 1_000);
/**
 * Why a caller may get no lock: a process was killed or is slow, the old credential is deleted, or the target alone comes too early.
 */
const FAIR_REFUSALS =
  /^held$|^AbortError|WRONGPASS|^LockStoreError.*(phase 'to' grants nothing|its answer took|no answer within|ended before it could|session|max retries per request|no majority)/;

interface Target extends AsyncDisposable {
  readonly address: StoreAddress;
  /** Its fencing tokens are its revisions. */
  readonly fencingBase?: string;
}

const redisTarget = async (): Promise<Target> => {
  const server = await RedisServer.start();
  const address = { kind: 'redis', address: server.url } as const;
  return { address, [Symbol.asyncDispose]: () => server.stop() };
};

const TARGETS: Readonly<Record<string, () => Promise<Target>>> = {
  Redis: redisTarget,
  Redlock: async () => {
    const nodes = await Promise.all([0, 1, 2].map(redisTarget));
    const urls = nodes.map((node) => node.address.address);
    await sleep(TTL + 3_000); // a node has no vote before all locks that it may have forgotten are over
    return {
      address: { kind: 'redlock', address: urls.join(',') },
      async [Symbol.asyncDispose]() {
        await Promise.all(nodes.map((node) => node[Symbol.asyncDispose]()));
      },
    };
  },
  PostgreSQL: async () => {
    const server = await PostgresServer.start();
    const address = { kind: 'postgres', address: server.url } as const;
    await prepareStore(address);
    return { address, [Symbol.asyncDispose]: () => server.stop() };
  },
  etcd: async () => {
    const server = await EtcdServer.start();
    const address = { kind: 'etcd', address: server.url } as const;
    return { address, fencingBase: IN_A_MONTH, [Symbol.asyncDispose]: () => server.stop() };
  },
};

/** The configurations of the processes of one move. */
class Move {
  readonly old: StoreAddress;
  readonly #from: StoreAddress;
  readonly #source: RedisServer;
  readonly #target: Target;

  constructor(source: RedisServer, target: Target) {
    this.#source = source;
    this.#target = target;
    this.old = { kind: 'redis', address: `redis://old:secret@127.0.0.1:${source.port}` };
    this.#from = { kind: 'redis', address: source.url }; // by another credential
  }

  in(phase: MigrationPhase): StoreAddress {
    const { address: to, fencingBase } = this.#target;
    const from = phase === 'to' ? this.old : this.#from;
    return { kind: 'migrating', address: JSON.stringify({ from, to, phase, fencingBase }) };
  }

  get handsOver(): boolean {
    return this.#target.fencingBase !== undefined;
  }

  async letOldIn(): Promise<void> {
    await this.#source.command('ACL', 'SETUSER', 'old', 'on', '>secret', '~*', '&*', '+@all');
  }

  async shutOldOut(): Promise<void> {
    await this.#source.command('ACL', 'DELUSER', 'old');
  }
}

describe('processes that move from Redis', () => {
  it.each(Object.entries(TARGETS))(
    'to %s, and back, hold a lock one at a time, with growing tokens',
    async (name, startTarget) => {
      const directory = await mkdtemp(join(tmpdir(), 'holdfast-move-'));
      const source = await RedisServer.start();
      try {
        await using target = await startTarget();
        await using run = new MigrationRun(directory, CALLERS);
        await there(run, new Move(source, target));
        const histories = await run.histories();
        const found = violations(histories);
        const waited = longestWait(histories);
        const counts = ['granted', 'refused', 'lost'] as const;
        const figures = Object.fromEntries(
          counts.map((kind) => [kind, all(histories, kind).length]),
        );
        console.log(
          JSON.stringify({
            to: name,
            ...figures,
            longestWait: Math.round(waited),
            kills: histories.length,
            violations: found.length,
          }),
        );
        expect(found).toEqual([]);
        expect(waited).toBeLessThan(LONGEST_WAIT);
        const refused = all(histories, 'refused').map(({ why }) => why);
        expect(refused.filter((why) => !FAIR_REFUSALS.test(why))).toEqual([]);
      } finally {
        await source.stop();
        await rm(directory, { recursive: true, force: true });
      }
    },
    LONGEST,
  );
});

async function there(run: MigrationRun, move: Move): Promise<void> {
  await move.letOldIn();
  const old = [await run.start(move.old, 'old'), await run.start(move.old, 'old')];
  await run.allWork(...old);
  await run.kill(old[0]!);
  const dual = [await run.start(move.in('dual'), 'dual')];
  await run.allWork(old[1]!, ...dual);
  dual.push(await run.start(move.in('dual'), 'dual'));
  const isEarly = !move.handsOver;
  const early = isEarly ? [await run.start(move.in('to'), 'to')] : [];
  await run.allWork(...dual); // beside an old one that was not stopped
  await move.shutOldOut();
  const shutAt = now();
  const both = move.handsOver ? await handover(run, move, dual) : dual;
  const to = isEarly ? early : [await run.start(move.in('to'), 'to')];
  await run.allWork(...both.slice(1), ...to);
  expect(await run.firstGrant(to[0]!)).toBeGreaterThan(shutAt + TTL * 1e6);
  await run.kill(old[1]!, ...both);
  to.push(await run.start(move.in('to'), 'to'));
  await run.allWork(...to);
  await back(run, move, to);
}

/** One after the other. */
async function handover(run: MigrationRun, move: Move, dual: readonly Mover[]): Promise<Mover[]> {
  await run.kill(dual[0]!);
  const first = await run.start(move.in('handover'), 'handover');
  await run.allWork(dual[1]!, first);
  await run.kill(dual[1]!);
  return [first, await run.start(move.in('handover'), 'handover')];
}

async function back(run: MigrationRun, move: Move, to: readonly Mover[]): Promise<void> {
  const phase = move.handsOver ? 'handover' : 'dual';
  await run.kill(to[0]!);
  const both = [await run.start(move.in(phase), `${phase}-again`)];
  await run.allWork(to[1]!, ...both);
  await run.kill(to[1]!);
  both.push(await run.start(move.in(phase), `${phase}-again`));
  await run.allWork(...both);
  await move.letOldIn();
  await run.kill(both[0]!);
  if (move.handsOver) {
    await run.kill(both[1]!); // tokens of the source would not grow beside those of the target
    await sleep(TTL);
  }
  const old = await run.start(move.old, 'old-again');
  await run.allWork(old, ...(move.handsOver ? [] : [both[1]!]));
  await run.kill(old, both[1]!);
}
