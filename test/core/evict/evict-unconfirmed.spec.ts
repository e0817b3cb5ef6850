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

  it('leaves the key when the grace has shown nothing either', async () => {
    const { locks, clock, asked, taken } = unconfirmed('unconfirmed', 'taken');
    const evicted = locks.evict('a', { fencingToken: 6n, grace: 100 });
    await clock.advance(1_000);
    expect(await evicted).toMatchObject({ evicted: false, outcome: 'unconfirmed' });
    expect(asked.every((grace) => grace <= 100)).toBe(true);
    expect(taken.releases).toBe(0);
  });
});
