import type { Redis } from 'ioredis';
import type { RedisAdmin, RedisCopyOptions } from 'nest-holdfast/migrate';
import { until } from '../../support/until.js';
import {
  RedisMove,
  TTL,
  USER,
  expectExclusion,
  failureOf,
  namesOf,
} from '../support/redis-move.js';

/** Milliseconds until the last sharer of a lock ends, by the server's clock. */
async function sharersRest(server: Redis, lock: string): Promise<number> {
  const [seconds, micros] = await server.time();
  const [, end] = await server.zrange(`{${lock}}:shared`, '-1', '-1', 'WITHSCORES');
  return Number(end) - Number(seconds) * 1_000 - Number(micros) / 1_000;
}

describe.each(['+5s', '-5s'])('A copy to a server whose clock is off by %s', (clock) => {
  it('moves locks that are held, under load: no two holders, and larger tokens', async () => {
    await using move = await RedisMove.start(clock);
    const [holding, others] = [move.application(), move.application()];
    const held = await holding.acquire('held');
    const readers = [
      await holding.acquire('page', { mode: 'read' }),
      await others.acquire('page', { mode: 'read' }),
    ];
    move.load(6);
    await move.works(100);
    let rest = 0;
    let readersRest = 0;
    const { locks } = await move.copy({
      move: async () => {
        rest = readers[0]!.remaining;
        readersRest = await sharersRest(move.admins[1], 'lock:page');
        move.address.retarget(move.to.port);
      },
    });
    expect(readersRest).toBeGreaterThanOrEqual(rest);
    expect(locks).toBeGreaterThanOrEqual(2);
    await move.works(100);
    await move.unload();
    expectExclusion(move.holds);
    expect(await namesOf(move.to)).toEqual(expect.arrayContaining(['lock:held', 'lock:page']));
    await until(() => held.extend(TTL).then(() => true));
    expect(await others.tryAcquire('held')).toBeUndefined();
    expect(await others.tryAcquire('page')).toBeUndefined();
    expect([held, ...readers].map((lock) => lock.state)).toEqual(['held', 'held', 'held']);
    expect(await held.release()).toBe(true);
    expect((await others.acquire('held')).fencingToken).toBeGreaterThan(held.fencingToken);
    await Promise.all(readers.map((lock) => lock.release()));
    await (await others.acquire('page')).release();
  });
});

describe('A copy', () => {
  it('leaves no lock without an end that was in its last millisecond', async () => {
    await using move = await RedisMove.start();
    await move.application().acquire('ending', { autoExtend: false });
    const [from] = move.admins;
    const call: RedisAdmin['call'] = async (command, ...args) =>
      command === 'PTTL' ? 0 : from.call(command, ...args);
    await move.copy({ from: { call } });
    expect(await move.to.command('PTTL', 'lock:ending')).not.toBe(-1);
  });

  it('that takes too long is undone', async () => {
    await using move = await RedisMove.start();
    const held = await move.application().acquire('held');
    const slowly = async (step: string) => {
      const since = performance.now();
      await until(() => step !== 'open' || performance.now() - since > 20);
    };
    const error = await failureOf(move.copy({ within: 10, onStep: slowly }));
    expect(error).toMatchObject({ code: 'LOCK_COPY_UNDONE', cause: { message: expect.stringMatching(/^it took \d+ ms, of 10$/) } }); // prettier-ignore
    await until(() => held.extend(TTL).then(() => true));
  });

  it('goes back by another one, as docs/operations.md says', async () => {
    await using move = await RedisMove.start();
    const held = await move.application().acquire('held');
    await move.copy();
    await until(() => held.extend(TTL).then(() => true));
    const [old, now] = move.admins;
    await old.call('ACL', 'SETUSER', USER, 'reset', 'off', '>secret', '~*', '&*', '+@all');
    await old.del(...(await namesOf(move.from)));
    const back = () => move.address.retarget(move.from.port);
    expect(await move.copy({ from: now, to: old, move: back })).toMatchObject({ locks: 1 });
    await until(() => held.extend(TTL).then(() => true));
    expect(await held.release()).toBe(true);
  });

  it('is refused where it would not be safe, and changes nothing', async () => {
    await using move = await RedisMove.start();
    const held = await move.application().acquire('held');
    const [from, to] = move.admins;
    const why = async (options: Partial<RedisCopyOptions>) => {
      const error = await failureOf(move.copy(options));
      expect(error.code).toBe('LOCK_COPY_REFUSED');
      return error.message;
    };
    expect(await why({ to: from })).toContain('one server');
    expect(await why({ user: 'nobody' })).toContain('no user "nobody"');
    expect(await why({ user: 'default' })).toContain('as an administrator');
    await to.select(3);
    expect(await why({})).toContain('database 0 of "from", and to database 3 of "to"');
    await from.select(3);
    expect(await why({})).toContain('the user "locks" is connected to database 0 of "from"');
    await Promise.all([from.select(0), to.select(0)]);
    await to.set('lock:order:1', 'somebody', 'PX', 60_000);
    expect(await why({})).toContain('"lock:order:1"');
    await to.del('lock:order:1');
    await to.call('ACL', 'SETUSER', USER, 'on');
    expect(await why({})).toContain('is on');
    await to.call('ACL', 'SETUSER', USER, 'off', '-@scripting', '-@write');
    expect(await why({})).toContain('may not run scripts');
    await to.call('ACL', 'SETUSER', USER, '+@all');
    await to.replicaof('127.0.0.1', move.from.port);
    await until(async () => (await from.info('replication')).includes('connected_slaves:1'));
    expect(await why({})).toMatch(/replica/);
    await held.extend(TTL);
  });
});

type Words = [command: string, ...args: (string | number)[]];

describe('Two copies from one server', () => {
  it('the second one is refused, and undoes nothing of the first', async () => {
    await using move = await RedisMove.start();
    const held = await move.application().acquire('held');
    const [from] = move.admins;
    let isOpening = false;
    let mayOpen = false;
    const late = {
      call: async (...words: Words) => {
        if (words[0] === 'SET') await until(() => isOpening); // its checks are done
        return from.call(...words);
      },
    };
    const onStep = async (step: string) => {
      if (step !== 'open') return;
      isOpening = true;
      await until(() => mayOpen);
    };
    const second = failureOf(move.copy({ from: late }));
    const first = move.copy({ onStep });
    expect(await second).toMatchObject({ code: 'LOCK_COPY_REFUSED' });
    expect(await namesOf(move.to)).toContain('lock:held');
    mayOpen = true;
    expect((await first).locks).toBe(1);
    await until(() => held.extend(TTL).then(() => true));
  });

  it('one that was settled while it ran does not open the new server', async () => {
    await using move = await RedisMove.start();
    const held = await move.application().acquire('held');
    const onStep = async (step: string) => {
      if (step === 'open') expect(await move.settle()).toBe('undone');
    };
    const error = await failureOf(move.copy({ onStep }));
    expect(error).toMatchObject({ code: 'LOCK_COPY_UNDONE', cause: { message: 'it was settled meanwhile' } }); // prettier-ignore
    await until(() => held.extend(TTL).then(() => true));
    expect(await namesOf(move.to)).toEqual([]);
  });
});

it("Redis' own MIGRATE of a held lock gives it a second holder", async () => {
  await using move = await RedisMove.start();
  const held = await move.application().acquire('order:42');
  await move.from.command('MIGRATE', '127.0.0.1', move.to.port, 'lock:order:42', 0, 5_000);
  const second = await move.application().acquire('order:42');
  expect([held.isHeld, second.isHeld]).toEqual([true, true]);
});
