import type { Lease } from 'nest-holdfast/core';
import { StrictQueue } from '../../../../../lib/stores/redis/queue/strict-queue.js';
import { deferred } from '../../../../core/support/outcome.js';
import { aRequest } from '../../locks.js';

describe('An attempt in strict order', () => {
  let isAwaited: boolean;
  let queue: StrictQueue;

  beforeEach(() => {
    isAwaited = false;
    const line = { isAwaited: () => isAwaited };
    queue = new StrictQueue(line as unknown as ConstructorParameters<typeof StrictQueue>[0], () => {
      throw new Error('no call is made');
    });
  });

  const attempt = (ask: () => Promise<Lease | undefined>) =>
    queue.attempt('lock:order:42', aRequest('order:42'), ask);

  it('is refused without a question where a caller of the store waits', async () => {
    isAwaited = true;
    const ask = jest.fn();
    expect(await attempt(ask)).toBeUndefined();
    expect(ask).not.toHaveBeenCalled();
  });

  it('ends after one that asked before, also where a caller of the store waits by then', async () => {
    const answer = deferred<Lease | undefined>();
    const ended: string[] = [];
    const first = attempt(() => answer.promise).then(() => ended.push('first'));
    isAwaited = true; // a place whose heartbeat had no answer has one
    const second = attempt(jest.fn()).then(() => ended.push('second'));
    await new Promise((resolve) => setImmediate(resolve));
    expect(ended).toEqual([]);
    answer.resolve(undefined);
    await Promise.all([first, second]);
    expect(ended).toEqual(['first', 'second']);
  });

  it('asks by itself where the one before it failed', async () => {
    const answer = deferred<Lease | undefined>();
    const failed = attempt(() => answer.promise);
    const lease = {} as Lease;
    const second = attempt(async () => lease);
    answer.reject(new Error('no answer'));
    await expect(failed).rejects.toThrow('no answer');
    expect(await second).toBe(lease);
  });
});
