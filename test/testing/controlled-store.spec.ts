import { FakeClock, LockControl, lockStoreConformance } from 'nest-holdfast/testing';

describe('the store of a LockControl', () => {
  const clock = new FakeClock();
  const control = new LockControl({ clock });

  lockStoreConformance({
    test: it,
    createStore: () => control.store(),
    expire: (ms) => clock.advance(ms),
    lacks: ['sessions', 'globalTokens', 'handOff', 'queuesManyKeys'],
  });
});
