import { TakeBacks } from '../../../../lib/stores/redis/send/take-backs.js';
import type { NamedLock } from '../../../../lib/stores/redis/keys/named-lock.js';
import { aRequest } from '../locks.js';

const HELD: NamedLock = { keys: ['lock:order:42'], value: 'a.1', request: aRequest('order:42') };

describe('The take-backs of a store', () => {
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  const down = () => jest.fn(() => Promise.reject(new Error('down')));

  it('are repeated while the server does not answer', async () => {
    const free = down();
    new TakeBacks(false, () => true).add(HELD, free);
    await jest.advanceTimersByTimeAsync(5_000);
    expect(free.mock.calls.length).toBeGreaterThan(2);
  });

  it('are made once after the store was closed', async () => {
    const takeBacks = new TakeBacks(false, () => true);
    takeBacks.close();
    const free = down();
    takeBacks.add(HELD, free);
    await jest.advanceTimersByTimeAsync(5_000);
    expect(free).toHaveBeenCalledTimes(1);
    expect(jest.getTimerCount()).toBe(0);
  });
});
