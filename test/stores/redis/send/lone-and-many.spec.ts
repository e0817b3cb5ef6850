import { FREE } from '../../../../lib/stores/redis/lua/free-script.js';
import { TAKE, TAKE_AND_FREE } from '../../../../lib/stores/redis/lua/lock-script.js';
import { LockCalls } from '../../../../lib/stores/redis/send/lock-calls.js';
import { TakeBacks } from '../../../../lib/stores/redis/send/take-backs.js';
import type { ScriptRunner } from '../../../../lib/stores/redis/send/script-runner.js';
import type { RedisScript } from '../../../../lib/redis-client/redis-script.js';
import { rejectionOf } from '../../../core/support/outcome.js';
import { aRequest } from '../locks.js';

const TTL = 5_000;
const NAMES = new Map([[TAKE, 'take'], [FREE, 'free'], [TAKE_AND_FREE, 'many']]); // prettier-ignore

function held(key: string, keys = 1) {
  const all = Array.from({ length: keys }, (_, index) => `${key}${index || ''}`);
  return { request: aRequest(all), keys: all.flatMap((each) => [each, `${each}:fence`, `${each}:line`]), value: `s.${key}` }; // prettier-ignore
}

describe('What a store takes and frees', () => {
  /** The calls to the server: the script, and the number of keys. */
  let sent: string[];
  let replies: unknown[];
  let takeBacks: TakeBacks;
  let calls: LockCalls;

  beforeEach(() => {
    [sent, replies] = [[], []];
    takeBacks = new TakeBacks(false, () => true);
    calls = callsOf(true);
  });

  afterEach(() => takeBacks.close());

  function callsOf(gathers: boolean): LockCalls {
    const runAs =
      (how: string) =>
      async (
        script: RedisScript,
        keys: string[],
        args: unknown[],
        read: (reply: unknown) => unknown,
        failed?: (error: unknown) => never,
      ) => {
        sent.push(`${how}${NAMES.get(script)} ${keys.length / 3}`);
        const many = script === TAKE_AND_FREE ? Array(args.length / 3).fill(1) : 1;
        const reply = replies.length > 0 ? replies.shift() : many;
        try {
          if (reply instanceof Error) throw reply;
          return await read(reply);
        } catch (error) {
          if (failed) return failed(error);
          throw error;
        }
      };
    const runner = { run: runAs(''), change: runAs('change ') } as unknown as ScriptRunner;
    return new LockCalls(runner, (lock) => Number(lock.startsWith('other')), gathers, takeBacks);
  }

  const take = (key: string, keys = 1) =>
    calls.make({ held: held(key, keys), ttl: TTL, read: (reply) => reply });
  const endOfTurn = () => new Promise((resolve) => setImmediate(resolve));

  /** Makes every turn be looked at: several requests came in one. */
  async function beBusy(): Promise<void> {
    for (let turn = 0; turn < 7; turn++) await take('a');
    await Promise.all([take('a'), take('b')]);
    sent = [];
  }

  it('leaves at once, in a call of its own', async () => {
    const taken = take('a', 2);
    expect(sent).toEqual(['take 2']);
    await taken;
    expect(await calls.release(held('a'))).toBe(true);
    expect(sent).toEqual(['take 2', 'free 1']);
  });

  it('leaves together where a turn has several, also in the eighth turn of lone ones', async () => {
    for (let turn = 0; turn < 7; turn++) await take('a');
    sent = [];
    const both = [take('a'), take('b')];
    expect(sent).toEqual([]);
    await Promise.all(both);
    expect(sent).toEqual(['many 2']);
  });

  it('leaves by slots, and a slot with one as if it were alone', async () => {
    await beBusy();
    await Promise.all([take('a'), take('other'), take('b')]);
    expect(sent).toEqual(['many 2', 'take 1']);
  });

  it('leaves once four keys are there, then eight, and at most a hundred', async () => {
    await beBusy();
    const all = Array.from({ length: 330 }, (_, index) => take(`k${index}`));
    const sizes = [4, 8, 16, 32, 64, 100, 100];
    expect(sent).toEqual(sizes.map((size) => `many ${size}`));
    await Promise.all(all);
    expect(sent.at(-1)).toBe('many 6');
    sent = [];
    await Promise.all([take('a', 3), take('b', 2), take('c')]);
    expect(sent).toEqual(['many 5', 'take 1']);
  });

  it('leaves at the end of a turn, where the process waits for other servers, too', async () => {
    await beBusy();
    calls.gatherWholeTurns();
    const all = Array.from({ length: 50 }, (_, index) => take(`k${index}`));
    expect(sent).toEqual([]);
    await Promise.all(all);
    expect(sent).toEqual(['many 50']);
  });

  it('leaves before what is sent behind it', async () => {
    await beBusy();
    const taken = take('a');
    calls.send();
    calls.send();
    expect(sent).toEqual(['take 1']);
    await taken;
  });

  it('has a call for each where replicas are awaited, and awaits those that are taken', async () => {
    calls = callsOf(false);
    for (let turn = 0; turn < 9; turn++) {
      const taken = take('a');
      expect(sent).toHaveLength(2 * turn + 1);
      await taken;
      await calls.release(held('a'));
    }
    expect(sent.slice(-2)).toEqual(['change take 1', 'free 1']);
  });

  it('fails alone with an error of its own, and is taken back', async () => {
    await beBusy();
    replies = [['WRONGTYPE no lock', 17]];
    const [first, second] = [take('a'), take('b')];
    expect(await rejectionOf(first)).toMatchObject({ message: 'WRONGTYPE no lock' });
    expect(await second).toBe(17);
    expect([...takeBacks.kept.keys()]).toEqual(['a s.a']);
    await endOfTurn();
    expect(sent).toEqual(['many 2', 'free 1']);
  });

  it('is done for each alone, where the server forbids one key', async () => {
    await beBusy();
    const forbidden = new Error('NOPERM No permissions to access a key');
    replies = [forbidden, forbidden, 17];
    const [first, second] = [take('a'), take('b')];
    expect(await rejectionOf(first)).toMatchObject({ message: expect.stringContaining('NOPERM') });
    expect(await second).toBe(17);
    expect(sent.slice(0, 3)).toEqual(['many 2', 'take 1', 'take 1']);
  });

  it.each([
    ['the whole call', new Error('LOADING'), 'LOADING'],
    ['an answer with too few', [1], 'not understood'],
  ])('fails together with %s', async (_, reply, text) => {
    await beBusy();
    replies = [reply];
    for (const each of [take('a'), take('b')])
      expect(await rejectionOf(each)).toMatchObject({ message: expect.stringContaining(text) });
    expect(takeBacks.kept.size).toBe(2);
  });

  it.each([
    ['LOADING', new Error('LOADING')],
    ['NOPERM of a key', new Error('NOPERM No permissions to access a key')],
  ])('fails alone in its call with %s', async (_, error) => {
    await beBusy();
    replies = [error];
    expect(await rejectionOf(take('a'))).toMatchObject({ message: error.message });
    await endOfTurn();
    expect(sent).toEqual(['take 1', 'free 1']);
  });

  it('is no text of an error where it is alone', async () => {
    await beBusy();
    replies = ['a text'];
    expect(await take('a')).toBe('a text');
  });

  it('is taken back no more once it is asked for again', async () => {
    replies = [new Error('LOADING'), new Error('LOADING')];
    const failed = jest.fn();
    await rejectionOf(calls.make({ held: held('a'), ttl: TTL, read: (reply) => reply, failed }));
    expect([failed.mock.calls.length, takeBacks.kept.size]).toEqual([1, 1]);
    await endOfTurn();
    await take('a');
    expect(takeBacks.kept.size).toBe(0);
  });

  it('is freed again in the background where that failed, without a second failure', async () => {
    replies = [new Error('LOADING'), new Error('LOADING')];
    expect(await rejectionOf(calls.release(held('a')))).toMatchObject({ message: 'LOADING' });
    await endOfTurn();
    expect([sent, takeBacks.kept.size]).toEqual([['free 1', 'free 1'], 1]);
  });
});
