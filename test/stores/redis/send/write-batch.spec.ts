import { WriteBatch } from '../../../../lib/stores/redis/send/write-batch.js';

/** A connection that counts as Node's does, and tells what was done to it. */
class FakeStream {
  writableCorked = 0;
  writableLength = 0;
  readonly calls: string[] = [];

  cork(): void {
    this.writableCorked += 1;
    this.calls.push('cork');
  }

  uncork(): void {
    this.writableCorked -= 1;
    this.calls.push('uncork');
  }
}

function over(stream: unknown) {
  const client = { evalsha: jest.fn(), eval: jest.fn(), wait: jest.fn(), stream };
  return { client, batch: new WriteBatch(client) };
}

const endOfTurn = () => new Promise<void>((resolve) => process.nextTick(resolve));

/** One command in each of `count` turns. */
async function alone(batch: WriteBatch, count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) {
    batch.join();
    await endOfTurn();
  }
}

describe('WriteBatch', () => {
  let stream: FakeStream;
  let batch: WriteBatch;

  beforeEach(() => {
    stream = new FakeStream();
    ({ batch } = over(stream));
  });

  /** Until the batch has seen two commands in one turn. */
  async function share(): Promise<void> {
    await alone(batch, 7);
    batch.join();
    batch.join();
    await endOfTurn();
    expect(stream.calls.splice(0)).toEqual(['cork', 'uncork']);
  }

  it('holds back every eighth command that is alone in its turn, to see whether it is', async () => {
    await alone(batch, 7);
    expect(stream.calls).toEqual([]);
    await alone(batch, 1);
    expect(stream.calls).toEqual(['cork', 'uncork']);
    await alone(batch, 7);
    expect(stream.calls).toHaveLength(2);
    await alone(batch, 1);
    expect(stream.calls).toHaveLength(4);
  });

  it('holds back all of a turn in one write, however much it is, where that is wanted', async () => {
    batch.holdWholeTurns();
    await share();
    for (let count = 0; count < 100; count++) {
      batch.join();
      stream.writableLength += 1_000;
    }
    await endOfTurn();
    expect(stream.calls).toEqual(['cork', 'uncork']);
  });

  it('holds back all of a turn, once there was a turn with two', async () => {
    await share();
    batch.join();
    batch.join();
    batch.join();
    expect(stream.calls).toEqual(['cork']);
    expect(stream.writableCorked).toBe(1);
    await endOfTurn();
    expect(stream.calls).toEqual(['cork', 'uncork']);
  });

  it('goes on with that for as long as there are two in a turn', async () => {
    await share();
    for (let turn = 0; turn < 3; turn += 1) {
      batch.join();
      batch.join();
      await endOfTurn();
    }
    expect(stream.calls).toHaveLength(6);
    await alone(batch, 1);
    expect(stream.calls.splice(0)).toHaveLength(8);
    await alone(batch, 7);
    expect(stream.calls).toEqual([]);
  });

  it('lets go in between where 1,024 bytes are waiting, then 2,048, then 4,096', async () => {
    await share();
    batch.join();
    for (const bytes of [1_024, 2_048, 4_096]) {
      stream.calls.length = 0;
      stream.writableLength = bytes - 1;
      batch.join();
      expect(stream.calls).toEqual([]);
      stream.writableLength = bytes;
      batch.join();
      expect(stream.calls).toEqual(['uncork', 'cork']);
    }
    await endOfTurn();
    expect(stream.writableCorked).toBe(0);
  });

  it('begins with 1,024 bytes in each turn', async () => {
    await share();
    for (let turn = 0; turn < 2; turn += 1) {
      batch.join();
      stream.writableLength = 1_024;
      batch.join();
      expect(stream.calls.splice(0)).toEqual(['cork', 'uncork', 'cork']);
      await endOfTurn();
      expect(stream.calls.splice(0)).toEqual(['uncork']);
    }
  });

  it('leaves a stream alone that other code has corked', async () => {
    await share();
    stream.cork();
    await alone(batch, 8);
    expect(stream.calls).toEqual(['cork']);
    stream.uncork();
    await alone(batch, 8);
    expect(stream.calls.splice(0)).toEqual(['cork', 'uncork', 'cork', 'uncork']);
  });

  it.each([
    ['undefined', undefined],
    ['null', null],
    ['no stream of Node', {}],
    ['one that cannot be corked', { writableCorked: 0, uncork: jest.fn() }],
    ['one that cannot be uncorked', { writableCorked: 0, cork: jest.fn() }],
  ])('does nothing where the stream is %s', async (_, other) => {
    const odd = over(other);
    await alone(odd.batch, 16);
    for (const call of Object.values(other ?? {})) {
      if (typeof call === 'function') expect(call).not.toHaveBeenCalled();
    }
  });

  it('uncorks the stream that it corked, also after a reconnect in the same turn', async () => {
    const { client, batch: reconnecting } = over(stream);
    await alone(reconnecting, 7);
    reconnecting.join();
    const next = new FakeStream();
    client.stream = next;
    reconnecting.join();
    await endOfTurn();
    expect(stream.calls).toEqual(['cork', 'uncork']);
    expect(next.calls).toEqual([]);
    await alone(reconnecting, 1);
    expect(next.calls).toEqual(['cork', 'uncork']);
  });
});
