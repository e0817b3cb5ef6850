import { EventEmitter } from 'node:events';
import type { SubscribableClient } from '../../../../../lib/redis-client/redis-client.js';
import { WAIT } from '../../../../../lib/stores/redis/lua/queue-scripts.js';
import { RedisWaiters } from '../../../../../lib/stores/redis/queue/redis-waiters.js';
import type { ScriptRunner } from '../../../../../lib/stores/redis/send/script-runner.js';
import type { RedisScript } from '../../../../../lib/redis-client/redis-script.js';
import { rejectionOf } from '../../../../core/support/outcome.js';
import { aRequest } from '../../locks.js';

const FORBIDDEN = Object.assign(new Error('NOPERM no permissions to access a channel'), {
  name: 'ReplyError',
  command: { name: 'subscribe' },
});

/** A client that listens on its own connection. */
class FakeClient extends EventEmitter {
  readonly options = { protocol: 3, autoResubscribe: false, keyPrefix: 'app:' };
  error: Error | undefined;
  readonly channels: string[] = [];
  readonly subscribe = async (channel: string) => {
    this.channels.push(channel);
    if (this.error) throw this.error;
  };
  readonly unsubscribe = async () => undefined;
  readonly duplicate = () => this;
  readonly tell = (text: string) => this.emit('message', 'holdfast:own', text);
}

describe('What the server tells a store', () => {
  let client: FakeClient;
  let waiters: RedisWaiters;
  /** The values of the places in each heartbeat. */
  let asked: string[][];

  beforeEach(() => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate'] }); // no heartbeat comes by itself
    client = new FakeClient();
    asked = [];
    waiters = waitersWith(8);
  });

  afterEach(() => {
    waiters.close();
    jest.useRealTimers();
  });

  const settled = async () => {
    for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
  };

  function waitersWith(limit: number): RedisWaiters {
    const run = async (
      script: RedisScript,
      _keys: unknown,
      args: string[],
      read: (reply: unknown) => unknown,
    ) => {
      if (script !== WAIT) return read(1);
      const values = args.slice(1).filter((_, index) => index % 2 === 0);
      asked.push(values);
      return read(values.map(() => [0, 600_000, 0]));
    };
    const none = () => {
      throw new Error('no call is made');
    };
    return new RedisWaiters(client as unknown as SubscribableClient, 'own', { run } as unknown as ScriptRunner, () => 0, limit, 2_000, none); // prettier-ignore
  }

  const held = (value: string) => ({
    request: aRequest('a'),
    keys: ['lock:a', 'line', 'shared'],
    value,
  });
  const wait = (value: string, signal = new AbortController().signal) =>
    waiters.wait(held(value), signal);

  it('is that a waiter has the lock, or has come to the front', async () => {
    const first = wait('s.1');
    await settled();
    expect(asked).toHaveLength(1);
    client.tell('? s.1');
    client.tell('? s.2');
    await settled();
    expect(asked).toHaveLength(2);
    client.tell('s.1');
    expect(await first).toBeUndefined();
    expect(asked).toEqual([['s.1'], ['s.1']]);
    expect(client.channels).toEqual(['holdfast:own']);
  });

  it('is that another process waits for a lock that it has', () => {
    waiters.listen();
    const handoff = waiters.handoffs.begin('lock:a', 0);
    const contended = jest.spyOn(handoff, 'contend');
    client.tell('! app:lock:b');
    expect(contended).not.toHaveBeenCalled();
    client.tell('! app:lock:a');
    expect(contended).toHaveBeenCalledTimes(1);
  });

  it('is about an eviction', () => {
    const evictions = { heard: jest.fn(), asked: jest.fn(), answered: jest.fn() };
    waiters.evictions = evictions;
    waiters.listen();
    for (const text of ['- 7 500 lock:a', '@ abc 7 lock:a', '= 8 lock:a']) client.tell(text);
    expect(evictions.heard.mock.calls).toEqual([['- 7 500 lock:a']]);
    expect(evictions.asked.mock.calls).toEqual([['@ abc 7 lock:a']]);
    expect(evictions.answered.mock.calls).toEqual([['= 8 lock:a']]);
  });

  it('may have been missed: all waiters ask, and tokens count no more', async () => {
    const doubted = waiters.handoffs.begin('lock:b', 0);
    doubted.confirm(5, false);
    void wait('s.1').catch(() => {});
    await settled();
    expect(asked).toHaveLength(1);
    client.emit('close');
    client.emit('ready');
    await settled();
    expect(asked).toHaveLength(2);
    expect(doubted.takeToken(0)).toBe(false);
  });

  it('is nothing where it forbids the channel, and waiters fail', async () => {
    const first = wait('s.1');
    await settled();
    expect(asked).toHaveLength(1);
    client.error = FORBIDDEN;
    client.emit('ready');
    expect(await rejectionOf(first)).toMatchObject({ message: FORBIDDEN.message });
    expect(await rejectionOf(wait('s.2'))).toMatchObject({ message: FORBIDDEN.message });
    waiters.listen(); // which fails, too
  });

  it('is asked no more by a waiter that has left', async () => {
    const stopper = new AbortController();
    const first = rejectionOf(wait('s.1', stopper.signal));
    await settled();
    expect(asked).toHaveLength(1);
    expect(waiters.failure('s.1')).toBeUndefined();
    waiters.askFor('s.1');
    await settled();
    expect(asked).toHaveLength(2);
    stopper.abort(new Error('enough'));
    expect(await first).toMatchObject({ message: 'enough' });
    expect(await rejectionOf(wait('s.2', stopper.signal))).toMatchObject({ message: 'enough' });
    expect(asked).toHaveLength(2);
  });

  it('is listened for once', async () => {
    waiters.listen();
    await settled();
    expect(client.channels).toHaveLength(1);
    waiters.listen();
    const stopper = new AbortController();
    const first = rejectionOf(wait('s.1', stopper.signal));
    await settled();
    expect(asked).toHaveLength(1);
    expect(client.channels).toHaveLength(1);
    expect(waiters.connections).toEqual([]);
    stopper.abort(new Error('enough'));
    await first;
  });

  it('is the order of all callers, where none is handed a lock inside the process', () => {
    expect(waiters.strictQueue).toBeUndefined();
    expect(waiters.handoffs.allowsHandoffs).toBe(true);
    const strict = waitersWith(0);
    expect(strict.strictQueue).toBeDefined();
    expect(strict.handoffs.allowsHandoffs).toBe(false);
  });
});
