import type { HolderAnswer } from 'nest-holdfast/core';
import { FakeLease } from '../support/fake-store';
import { onFakeStore } from '../support/setup';

describe('a store that cannot tell by the key who holds it', () => {
  function unconfirmed(...states: HolderAnswer['state'][]) {
    const around = onFakeStore();
    const asked: number[] = [];
    const taken = new FakeLease();
    Object.assign(around.store, {
      askHolder: (_: object, grace: number) => {
        asked.push(grace);
        return Promise.resolve({ state: 'held' });
      },
      evict: () => Promise.resolve({ state: states.shift(), taken }),
    });
    return { ...around, asked, taken };
  }

  it('asks the holder its name, and then takes the key', async () => {
    const { locks, asked, taken } = unconfirmed('unconfirmed', 'taken');
    const eviction = await locks.evict('a', { fencingToken: 6n, grace: 0 });
    expect(eviction).toMatchObject({ evicted: true, outcome: 'taken' });
    expect(asked).toHaveLength(1);
    expect(taken.releases).toBe(1);
  });

  it('asks once more where the grace was too short for an answer', async () => {
    const { locks, clock, asked } = unconfirmed('unconfirmed', 'taken');
    const evicted = locks.evict('a', { fencingToken: 6n, grace: 100 });
    await clock.advance(200);
    expect(await evicted).toMatchObject({ evicted: true, outcome: 'taken' });
    expect(asked).toEqual([100, 1_000]);
  });

  it('leaves the key when the grace has shown nothing either', async () => {
    const { locks, clock, asked, taken } = unconfirmed('unconfirmed', 'taken');
    const evicted = locks.evict('a', { fencingToken: 6n, grace: 1_000 });
    await clock.advance(2_000);
    expect(await evicted).toMatchObject({ evicted: false, outcome: 'unconfirmed' });
    expect(asked.every((grace) => grace <= 1_000)).toBe(true);
    expect(taken.releases).toBe(0);
  });
});
