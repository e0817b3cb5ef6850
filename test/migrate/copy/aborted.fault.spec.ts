import type { RedisCopyOptions } from 'nest-holdfast/migrate';
import { until } from '../../support/until.js';
import {
  RedisMove,
  TTL,
  USER,
  expectExclusion,
  failureOf,
  namesOf,
} from '../support/redis-move.js';

const CLOCK = '+5s';

type Words = [command: string, ...args: (string | number)[]];

/** How a copy ends before its time at a step. */
const ABORTS: Readonly<Record<string, (last: string) => Partial<RedisCopyOptions>>> = {
  'whose step fails': (last) => ({
    onStep: (step) => {
      if (step === last) throw new Error('no more');
    },
  }),
  'that its signal stops': (last) => {
    const stop = new AbortController();
    const onStep = (step: string) => {
      if (step === last) stop.abort(new Error('no more'));
    };
    return { onStep, signal: stop.signal };
  },
};

/** The lock that was held, and the load, live on at the server where they are. */
async function expectLife(move: RedisMove, held: { extend(ttl: number): Promise<void> }) {
  await move.works();
  await until(() => held.extend(TTL).then(() => true));
}

describe.each(Object.entries(ABORTS))('A copy under load %s', (_, abort) => {
  it.each(['check', 'close', 'copy'] as const)(
    'at "%s" leaves the old server to serve, and may be tried again',
    async (last) => {
      await using move = await RedisMove.start(CLOCK);
      const held = await move.application().acquire('held');
      move.load(3);
      await move.works();
      const error = await move.copy(abort(last)).catch((each: Error) => each);
      expect(error).toBeInstanceOf(Error);
      expect((error as Error).cause ?? error).toMatchObject({ message: 'no more' });
      if (last !== 'check') expect(error).toMatchObject({ code: 'LOCK_COPY_UNDONE' });
      expect(await namesOf(move.to)).toEqual([]);
      await expectLife(move, held);
      await move.copy();
      await expectLife(move, held);
      await move.unload();
      expectExclusion(move.holds);
      expect(await held.release()).toBe(true);
    },
  );
});

describe('A copy under load', () => {
  it('that fails at "open" is undone, and may be tried again', async () => {
    await using move = await RedisMove.start(CLOCK);
    const held = await move.application().acquire('held');
    move.load(3);
    await move.works();
    const error = await failureOf(move.copy(ABORTS['whose step fails']!('open')));
    expect(error).toMatchObject({ code: 'LOCK_COPY_UNDONE', cause: { message: 'no more' } });
    expect(await namesOf(move.to)).toEqual([]);
    await expectLife(move, held);
    await move.copy();
    await expectLife(move, held);
    await move.unload();
    expectExclusion(move.holds);
  });

  it('that is cut off before the new server is open is undone by hand', async () => {
    await using move = await RedisMove.start(CLOCK);
    const held = await move.application().acquire('held');
    move.load(3);
    await move.works();
    const [from] = move.admins;
    let isCut = false;
    const lost = () => Promise.reject(new Error('no connection'));
    const admin = { call: (...words: Words) => (isCut ? lost() : from.call(...words)) };
    const onStep = (step: string) => {
      isCut = step === 'open';
    };
    const error = await failureOf(move.copy({ from: admin, onStep }));
    expect(error).toMatchObject({ code: 'LOCK_COPY_CUT_OFF' });
    expect((await failureOf(move.copy())).message).toContain('settle it');
    expect(await move.settle()).toBe('undone');
    expect(await namesOf(move.to)).toEqual([]);
    await expectLife(move, held);
    expect(await move.settle()).toBe('undone'); // safe to repeat
    await move.copy();
    await expectLife(move, held);
    await move.unload();
    expectExclusion(move.holds);
  });

  it.each(['move', 'retire'] as const)(
    'that is cut off at "%s", once the new server is open, is finished by hand',
    async (last) => {
      await using move = await RedisMove.start(CLOCK);
      const held = await move.application().acquire('held');
      move.load(3);
      await move.works();
      const error = await failureOf(move.copy(ABORTS['whose step fails']!(last)));
      expect(error).toMatchObject({ code: 'LOCK_COPY_CUT_OFF', cause: { message: 'no more' } });
      move.address.retarget(move.to.port);
      expect(await move.settle()).toBe('moved');
      expect(await move.settle()).toBe('moved');
      await expectLife(move, held);
      await move.unload();
      expectExclusion(move.holds);
      const rights = (await move.admins[0].call('ACL', 'GETUSER', USER)) as unknown[];
      expect(rights[1]).toContain('off'); // no client comes back to the old server
    },
  );
});
