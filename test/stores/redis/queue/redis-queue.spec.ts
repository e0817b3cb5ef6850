import type { NamedLock } from '../../../../lib/stores/redis/keys/named-lock.js';
import { BEAT } from '../../../../lib/stores/redis/lua/pace.js';
import { LEAVE, WAIT } from '../../../../lib/stores/redis/lua/queue-scripts.js';
import { RedisQueue } from '../../../../lib/stores/redis/queue/redis-queue.js';
import type { RedisScript } from '../../../../lib/redis-client/redis-script.js';
import type { ScriptRunner } from '../../../../lib/stores/redis/send/script-runner.js';
import { aRequest } from '../locks.js';

const LONG = 600_000;
const STANDS = [0, LONG, 0];

/** A call to the server that waits for its answer. */
interface Call {
  readonly script: RedisScript;
  /** The values of the places in it. */
  readonly values: readonly string[];
  readonly answer: (reply: unknown) => Promise<void>;
  readonly fail: (text: string) => Promise<void>;
}

function held(
  value: string,
  { lock = 'a', permits = undefined as number | undefined, ttl = LONG } = {},
): NamedLock {
  const request = { ...aRequest(lock, ttl), ...(permits !== undefined && { permits }) };
  return { request, value, keys: [`lock:${lock}`, `{lock:${lock}}:line`, `{lock:${lock}}:shared`] };
}

describe('The waiters of a store', () => {
  let calls: Call[];
  let asking: jest.Mock;
  let queue: RedisQueue;
  let ends: string[];
  let stopper: AbortController;

  beforeEach(() => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate'] });
    [calls, ends] = [[], []];
    asking = jest.fn();
    stopper = new AbortController();
    const run = (
      script: RedisScript,
      _keys: unknown,
      args: string[],
      read: (reply: unknown) => unknown,
    ) =>
      new Promise((resolve, reject) => {
        const values = script === WAIT ? args.slice(1).filter((_, index) => index % 2 === 0) : [args[0]!]; // prettier-ignore
        const answer = (reply: unknown) => (Promise.resolve(reply).then(read).then(resolve, reject), settled()); // prettier-ignore
        const fail = (text: string) => (reject(new Error(text)), settled());
        calls.push({ script, values, answer, fail });
      });
    const slotOf = (lock: string) => Number(lock === 'lock:b');
    queue = new RedisQueue({ run } as unknown as ScriptRunner, slotOf, asking, 8);
  });

  afterEach(() => jest.useRealTimers());

  const settled = () => new Promise<void>((resolve) => setImmediate(() => setImmediate(resolve)));

  /** Comes into line. `ends` gets how the wait ends. */
  function wait(lock: NamedLock): void {
    queue.wait(lock, stopper.signal, performance.now()).then(
      (how) => ends.push(`${lock.value} has it${how ? ` with ${how.fence}` : ''}`),
      (error: Error) => ends.push(`${lock.value}: ${error.message}`),
    );
  }

  /** These stand in line. */
  async function stand(...locks: NamedLock[]): Promise<void> {
    for (const each of locks) wait(each);
    await settled();
    await taken()[0]!.answer(locks.map(() => STANDS));
  }

  const taken = () => calls.splice(0);
  const sent = () => taken().map(({ script, values }) => [script === LEAVE ? 'leave' : 'wait', ...values]); // prettier-ignore
  const pass = async (ms: number) => {
    await jest.advanceTimersByTimeAsync(ms);
    await settled();
  };

  it('enter the line with one call for each group of a turn', async () => {
    for (const lock of [held('1'), held('2', { lock: 'b' }), held('3')]) wait(lock);
    await settled();
    expect(sent()).toEqual([
      ['wait', '1', '3'],
      ['wait', '2'],
    ]);
    expect(asking).toHaveBeenCalledTimes(2);
  });

  it('have the lock as the server answers, or wakes them', async () => {
    for (const each of [held('1'), held('2'), held('3'), held('4', { permits: 2 })]) wait(each);
    await settled();
    await taken()[0]!.answer([[1], STANDS, STANDS, [2, '3']]);
    queue.woken('3');
    queue.woken('none');
    await settled();
    expect(ends).toEqual([expect.stringMatching(/^4: .*3/), '1 has it', '3 has it']);
    expect(sent()).toEqual([['leave', '4']]);
    expect(queue.isAwaited('lock:a')).toBe(true);
  });

  it('have the lock from the release before, with its token', async () => {
    await stand(held('1'));
    const how = { fence: 7n, sentAt: 0, ttl: LONG };
    expect([queue.handedOff('1', how), queue.handedOff('1', how)]).toEqual([true, false]);
    await settled();
    expect(ends).toEqual(['1 has it with 7']);
  });

  it('send a heartbeat when the next is due, all together', async () => {
    await stand(held('1'), held('2'));
    await pass(BEAT - 100);
    const early = sent().length;
    await pass(BEAT + 100);
    expect(early + sent().length).toBe(1);
  });

  it('look when the lock may have ended', async () => {
    wait(held('1'));
    await settled();
    await taken()[0]!.answer([[0, 20, 0]]);
    await pass(40);
    expect(sent()).toEqual([['wait', '1']]);
  });

  it.each([
    ['are asked for', () => queue.askFor('1'), [['wait', '1']]],
    ['are called up', () => queue.calledUp('2'), [['wait', '2']]],
    [
      'may have missed a message',
      () => queue.standAgain(),
      [
        ['wait', '1', '2'],
        ['wait', '3'],
      ],
    ],
    ['may have a lock', () => queue.look('lock:a'), [['wait', '1', '2']]],
    ['are others', () => (queue.askFor('x'), queue.calledUp('x'), queue.look('x')), []],
  ])('send a heartbeat at once where they %s', async (_, happens, expected) => {
    for (const each of [held('1'), held('2'), held('3', { lock: 'b' })]) wait(each);
    await settled();
    for (const call of taken()) await call.answer(call.values.map(() => STANDS));
    happens();
    await settled();
    expect(sent()).toEqual(expected);
  });

  it('are not asked for twice, and called up also during a call', async () => {
    wait(held('1'));
    await settled();
    taken();
    queue.askFor('1');
    await settled();
    expect(sent()).toEqual([]);
    queue.calledUp('1');
    await settled();
    expect(sent()).toEqual([['wait', '1']]);
  });

  it('leave the line when their wait is over', async () => {
    await stand(held('1'));
    stopper.abort(new Error('enough'));
    await settled();
    const [leave] = taken();
    expect([leave!.script, leave!.values, ends]).toEqual([LEAVE, ['1'], []]);
    await leave!.fail('down');
    expect(ends).toEqual(['1: enough']);
    expect(queue.isAwaited('lock:a')).toBe(false);
    await pass(5 * BEAT);
    expect(sent()).toEqual([]);
  });

  it('leave the line again where a heartbeat was answered after that', async () => {
    wait(held('1'));
    await settled();
    const [first] = taken();
    stopper.abort(new Error('enough'));
    await settled();
    expect(sent()).toEqual([['leave', '1']]);
    await first!.answer([[1]]);
    expect(sent()).toEqual([['leave', '1']]);
  });

  it('are not asked for any more once they have the lock', async () => {
    await stand(held('1'));
    queue.woken('1');
    stopper.abort(new Error('too late'));
    await pass(5 * BEAT);
    expect([sent(), ends]).toEqual([[], ['1 has it']]);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('fail where they have never stood, and bear two failures after that', async () => {
    wait(held('1'));
    await settled();
    await taken()[0]!.fail('down');
    expect(ends).toEqual(['1: down']);
    expect(sent()).toEqual([['leave', '1']]);
    await stand(held('2'));
    for (let failure = 1; failure <= 3; failure++) {
      expect(ends).toHaveLength(1);
      queue.askFor('2');
      await settled();
      await taken()[0]!.fail('down');
      expect((queue.failure('2') as Error | undefined)?.message).toBe(
        failure < 3 ? 'down' : undefined,
      );
      if (failure === 1) expect(queue.isAwaited('lock:a')).toBe(false);
    }
    expect(ends).toEqual(['1: down', '2: down']);
  });

  it('try again with the next heartbeat after a failure', async () => {
    await stand(held('1'));
    queue.askFor('1');
    await settled();
    await taken()[0]!.fail('down');
    await pass(2 * BEAT);
    await taken()[0]!.answer([STANDS]);
    expect(queue.failure('1')).toBeUndefined();
    expect(ends).toEqual([]);
  });

  it.each([
    [
      'alone, where the server forbids one key',
      'NOPERM No permissions to access a key',
      [
        ['wait', '1'],
        ['wait', '2'],
      ],
    ],
    [
      'together otherwise',
      'LOADING',
      [
        ['leave', '1'],
        ['leave', '2'],
      ],
    ],
  ])('fail %s', async (_, text, next) => {
    for (const each of ['1', '2']) wait(held(each));
    await settled();
    await taken()[0]!.fail(text);
    await settled();
    expect(sent()).toEqual(next);
  });

  it('fail with a key that the server forbids also when they are alone', async () => {
    wait(held('1'));
    await settled();
    await taken()[0]!.fail('NOPERM No permissions to access a key');
    expect(ends).toEqual(['1: NOPERM No permissions to access a key']);
    expect(sent()).toEqual([['leave', '1']]);
  });

  it('fail alone with an answer that is an error, or not understood', async () => {
    for (const each of ['1', '2', '3']) wait(held(each));
    await settled();
    await taken()[0]!.answer(['WRONGTYPE no lock', STANDS, 'OK?']);
    expect(ends).toEqual(['1: WRONGTYPE no lock', expect.stringContaining('3: ')]);
  });

  it('are silent, and then fail, where the server does not answer', async () => {
    await stand(held('1'));
    queue.askFor('1');
    await settled();
    await pass(400);
    expect([queue.failure('1'), queue.isAwaited('lock:a')]).toEqual([undefined, true]);
    await pass(200);
    expect(queue.failure('1')).toMatchObject({ message: expect.stringMatching(/no answer within \d+ ms/) }); // prettier-ignore
    expect(queue.isAwaited('lock:a')).toBe(false);
    await pass(1_500);
    expect(queue.failure('1')).toMatchObject({ message: 'no answer within 2000 ms' });
  });

  it('want the lock for the ttl of the first that is no sharer', async () => {
    await stand(
      held('1', { permits: 2, ttl: 1_000 }),
      held('2', { ttl: 2_000 }),
      held('3', { ttl: 3_000 }),
    );
    expect(queue.nextTtl('lock:a')).toBe(2_000);
    expect(queue.nextTtl('lock:b')).toBeUndefined();
  });

  it('fail where the server cannot wake them', async () => {
    await stand(held('1'), held('2'));
    queue.refuseAll(new Error('NOPERM'));
    await settled();
    expect(ends).toEqual(['1: NOPERM', '2: NOPERM']);
    expect(sent()).toEqual([
      ['leave', '1'],
      ['leave', '2'],
    ]);
  });
});
