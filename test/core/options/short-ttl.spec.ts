import { LockService, MemoryLockStore } from 'nest-holdfast/core';
import { FakeClock } from 'nest-holdfast/testing';
import { rejectionOf } from '../support/outcome';

async function warningsOf(use: () => unknown): Promise<readonly string[]> {
  const emit = jest.spyOn(process, 'emitWarning').mockReturnValue();
  await use();
  const lines = emit.mock.calls.map(([line]) => String(line));
  emit.mockRestore();
  return lines;
}

/** On a clock that stands still: a busy machine would lose a lock of 30 ms. */
const service = (options: object) => {
  const clock = new FakeClock();
  return new LockService(new MemoryLockStore(clock), { clock, ...options });
};

/** Takes a lock of some milliseconds, which a machine that is busy loses. */
const use = (locks: LockService, options = {}) =>
  Promise.allSettled([locks.withLock('a', options, async () => {})]);

it('ttl: 30, meant as seconds, is warned of, once', async () => {
  const lines = await warningsOf(async () => {
    await use(service({ ttl: 30 }));
    service({ ttl: 30 });
  });
  expect(lines).toEqual([
    expect.stringMatching(
      /ttl of 30 ms.* every 10 ms.* Times are milliseconds: 30 seconds are ttl: 30_000/,
    ),
  ]);
});

it('of a call and of the service', async () => {
  const lines = await warningsOf(() => use(service({}), { ttl: 45 }));
  expect(lines).toEqual([expect.stringContaining('ttl of 45 ms')]);
});

it.each([{ ttl: 1_000 }, { ttl: 31, autoExtend: false }, {}])('not of %j', async (options) => {
  expect(await warningsOf(() => service(options))).toEqual([]);
});

it('waitTimeout: Infinity waits until the key is free; other texts and null are refused by name', async () => {
  const locks = service({ waitTimeout: Infinity });
  const first = await locks.acquire('a');
  const second = locks.acquire('a');
  await first.release();
  await (await second).release();
  for (const waitTimeout of ['Infinity', null, NaN, -1])
    expect(
      await rejectionOf(locks.acquire('a', { waitTimeout: waitTimeout as number })),
    ).toMatchObject({
      message: expect.stringMatching(/^waitTimeout must be .* or Infinity, got /),
    });
  await locks.close();
});
