import { stat } from 'node:fs/promises';
import { FakeClock } from 'nest-holdfast/testing';
import { StoreCalls } from '../../../lib/core/store/store-call';
import type { StoreCall } from '../../../lib/core/store/bounded-call';
import { systemClock } from '../../../lib/core/async/clock';
import { TimerQueue } from '../../../lib/core/async/timer-queue';
import { deferred, never, watch } from '../support/outcome';

function setUp() {
  const clock = new FakeClock(50_000);
  const calls = new StoreCalls(clock, new TimerQueue(clock));
  const make = (call: Partial<StoreCall<string, string>>) =>
    watch(
      calls.make<string, string>({
        ask: never,
        within: 300,
        check: () => undefined,
        read: (answer) => answer,
        recover: (error) => `recovered from ${String(error)}`,
        ...call,
      }),
    );
  return { clock, make };
}

describe('a call to a store', () => {
  it('may be answered late without a listener', async () => {
    const { clock, make } = setUp();
    const answer = deferred<string>();
    const outcome = make({ ask: () => answer.promise });
    await clock.advance(300);
    answer.resolve('late');
    await new Promise(setImmediate); // Jest fails a test during which a rejection was unhandled
    expect(outcome.value).toBe('recovered from StoreTimeout: no answer within 300 ms');
  });

  it('hands off an answer that came late, and only such a one', async () => {
    const { clock, make } = setUp();
    const late = jest.fn();
    const [first, second] = [deferred<string>(), deferred<string>()];
    make({ ask: () => first.promise, late });
    make({ ask: () => second.promise, late });
    first.resolve('in time');
    await clock.advance(300);
    second.resolve('late');
    await clock.advance(0);
    expect(late.mock.calls).toEqual([['late']]);
  });

  it('reads an answer that arrived while the process was blocked before it gives up', async () => {
    const calls = new StoreCalls(systemClock, new TimerQueue(systemClock));
    const call = { check: () => undefined, read: () => 'read', recover: () => 'given up' };
    await new Promise(setImmediate); // timers come next, then what has arrived
    const outcome = calls.make({ ask: () => stat(__filename), within: 10, ...call });
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
    expect(await outcome).toBe('read');
  });

  it('does not wait where its signal has aborted before', async () => {
    const { clock, make } = setUp();
    const outcome = make({ signal: AbortSignal.abort('the end') });
    await clock.advance(0);
    expect(outcome.value).toBe('recovered from the end');
    expect(clock.pendingTimers).toBe(0);
  });
});
