import { EventEmitter } from 'node:events';
import type { SubscribableClient } from '../../../../../lib/redis-client/redis-client.js';
import { WakeUpChannel } from '../../../../../lib/stores/redis/queue/wake-up-channel.js';
import { rejectionOf } from '../../../../core/support/outcome.js';

const CHANNEL = 'holdfast:own';
/** Milliseconds: without a message, and for the first subscription. */
const TRUST = 2_000;
const WAIT = 500;
const FORBIDDEN = Object.assign(new Error('NOPERM no permissions to access a channel'), {
  name: 'ReplyError',
  command: { name: 'subscribe' },
});

/** A connection, on which each subscription waits for its answer. */
class FakeConnection extends EventEmitter {
  readonly options: object = {};
  readonly asked: { readonly resolve: () => void; readonly reject: (error: Error) => void }[] = [];
  readonly left: string[] = [];
  isClosed = false;
  readonly subscribe = (channel: string) => {
    expect(channel).toBe(CHANNEL);
    return new Promise<void>((resolve, reject) => this.asked.push({ resolve, reject }));
  };
  readonly unsubscribe = async (channel: string) => void this.left.push(channel);
  readonly disconnect = () => void (this.isClosed = true);
}

/** A client, which gives a connection of its own to the channel, or takes it itself. */
class FakeClient extends FakeConnection {
  override readonly options: object;
  readonly other = new FakeConnection();
  readonly duplicate = () => this.other;

  constructor(isShared: boolean) {
    super();
    this.options = isShared ? { protocol: 3, autoResubscribe: false } : {};
  }

  get subscriber(): FakeConnection {
    return 'protocol' in this.options ? this : this.other;
  }
}

describe.each([
  ['a connection of its own', false],
  ['the connection of the client', true],
])('The channel of a store, on %s,', (_, isShared) => {
  let client: FakeClient;
  let channel: WakeUpChannel;
  let told: string[];

  beforeEach(() => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate'] });
    client = new FakeClient(isShared);
    told = [];
    channel = new WakeUpChannel(client as unknown as SubscribableClient, CHANNEL, {
      message: (text) => told.push(text),
      missed: () => told.push('missed'),
      refused: (error) => told.push((error as Error).message),
    });
  });

  afterEach(() => {
    channel.close();
    jest.useRealTimers();
  });

  const settled = () => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
  const pass = async (ms: number) => {
    await jest.advanceTimersByTimeAsync(ms);
    await settled();
  };

  /** Messages arrive from now on. */
  async function open(): Promise<void> {
    const opened = channel.open();
    client.subscriber.asked.shift()!.resolve();
    await opened;
    told.length = 0;
  }

  it('is opened by the first caller, and messages may have been missed by then', async () => {
    const [first, second] = [channel.open(), channel.open()];
    expect(client.subscriber.asked).toHaveLength(1);
    expect(channel.isLive).toBe(false);
    client.subscriber.asked[0]!.resolve();
    await Promise.all([first, second]);
    expect([channel.isLive, told]).toEqual([true, ['missed']]);
    expect(channel.connections).toEqual(isShared ? [] : [client.other]);
  });

  it('brings its messages, and none of other channels', async () => {
    await open();
    client.subscriber.emit('message', CHANNEL, 'a message');
    client.subscriber.emit('message', 'other', 'of another one');
    expect(told).toEqual(['a message']);
  });

  it('is waited for by the first callers only, and not for long', async () => {
    let isOver = false;
    void channel.open().then(() => (isOver = true));
    await pass(WAIT - 1);
    expect(isOver).toBe(false);
    await pass(2);
    expect(isOver).toBe(true);
    await channel.open();
    client.subscriber.asked[0]!.resolve();
    await settled();
    expect(channel.isLive).toBe(true);
  });

  it('is refused to its callers where the server forbids it, and then opened anew', async () => {
    const refused = rejectionOf(channel.open());
    const { asked } = client.subscriber;
    asked.shift()!.reject(FORBIDDEN);
    expect(await refused).toMatchObject({ message: expect.stringContaining('NOPERM') });
    expect(told).toEqual([expect.stringContaining('NOPERM')]);
    expect(client.subscriber.listenerCount('message')).toBe(0);
    void channel.open();
    expect(asked).toHaveLength(1);
  });

  it('goes on where a subscription has no answer, with the next connection', async () => {
    const opened = channel.open();
    client.subscriber.asked.shift()!.reject(new Error('Connection is closed.'));
    await settled();
    expect([channel.isLive, told]).toEqual([false, []]);
    client.subscriber.emit('ready');
    client.subscriber.asked.shift()!.resolve();
    await opened;
    expect(channel.isLive).toBe(true);
  });

  it('may miss messages from the end of a connection to the next subscription', async () => {
    await open();
    client.subscriber.emit('close');
    expect(channel.isLive).toBe(false);
    client.subscriber.emit('ready');
    client.subscriber.asked.shift()!.resolve();
    await settled();
    expect([channel.isLive, told]).toEqual([true, ['missed']]);
  });

  it('is asked for again where no message has come for a while, once', async () => {
    channel.check();
    await open();
    await pass(TRUST - 10);
    channel.check();
    expect(client.subscriber.asked).toEqual([]);
    client.subscriber.emit('message', CHANNEL, 'a message');
    await pass(TRUST - 10);
    channel.check();
    expect(client.subscriber.asked).toEqual([]);
    await pass(10);
    channel.check();
    channel.check();
    expect(client.subscriber.asked).toHaveLength(1);
    client.subscriber.asked.shift()!.resolve();
    await settled();
    channel.check();
    expect(client.subscriber.asked).toEqual([]);
    expect(told).toEqual(['a message']); // none was missed
    await pass(TRUST);
    channel.check();
    client.subscriber.asked.shift()!.reject(new Error('Connection is closed.'));
    await settled();
    channel.check();
    expect(client.subscriber.asked).toHaveLength(1);
  });

  it('has an end: no listener, no subscription, and as much room as before', async () => {
    const room = client.getMaxListeners();
    await open();
    expect(client.getMaxListeners()).toBe(room + 1);
    const { subscriber } = client;
    channel.close();
    channel.close();
    expect([client.getMaxListeners(), channel.isLive, channel.connections]).toEqual([room, false, []]); // prettier-ignore
    expect([...client.eventNames(), ...subscriber.eventNames()]).toEqual([]);
    expect([subscriber.isClosed, subscriber.left]).toEqual(isShared ? [false, [CHANNEL]] : [true, []]); // prettier-ignore
  });

  it('ends with the client, and callers wait no longer', async () => {
    const opened = channel.open();
    const [{ resolve, reject }] = client.subscriber.asked as [{ resolve: () => void; reject: (error: Error) => void }]; // prettier-ignore
    client.emit('end');
    await opened;
    resolve();
    reject(new Error('NOPERM channels'));
    await settled();
    expect([channel.isLive, told]).toEqual([false, []]);
  });

  it('prints no error of its connection', async () => {
    await open();
    if (!isShared)
      expect(() => client.subscriber.emit('error', new Error('refused'))).not.toThrow();
    else expect(client.listenerCount('error')).toBe(0);
  });
});
