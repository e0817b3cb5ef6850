import type { StoreNotice } from '../../../../lib/core/contract/lock-store.js';
import { RedisEvictions } from '../../../../lib/stores/redis/evict/redis-evictions.js';
import { CounterTrial } from '../../../../lib/stores/redis/keys/counter-trial.js';
import { LockNames } from '../../../../lib/stores/redis/keys/named-lock.js';
import { SeenHolders } from '../../../../lib/stores/redis/keys/seen-holders.js';
import { ServerKeys } from '../../../../lib/stores/redis/keys/server-keys.js';
import { systemClock } from '../../../../lib/core/async/clock.js';
import { rejectionOf } from '../../../core/support/outcome.js';
import { aRequest } from '../locks.js';

const HOLDER = 's.1:host:1:2';
const NAMED = { key: 'a', fencingToken: 7n };
const REQUEST = { ...aRequest('a'), ...NAMED, token: 'mine' };

describe('An eviction', () => {
  let told: StoreNotice[];
  let seen: SeenHolders;
  let replies: unknown[];
  let args: readonly (string | number)[][];
  let lockCalls: { release: jest.Mock; abandon: jest.Mock };
  let forgotten: string[];
  let evictions: RedisEvictions;
  /** Of a later holder in this process. */
  let own: bigint;
  let waiters: { listen: jest.Mock; evictions: RedisEvictions | undefined };

  beforeEach(() => {
    [told, replies, args, forgotten] = [[], [], [], []];
    own = 0n;
    waiters = { listen: jest.fn(() => true), evictions: undefined };
    seen = new SeenHolders();
    lockCalls = { release: jest.fn(async () => true), abandon: jest.fn() };
    const keys = new ServerKeys('lock:', '', true);
    const run = async (
      _script: unknown,
      _keys: unknown,
      words: (string | number)[],
      read: (reply: unknown) => unknown,
    ) => {
      args = [...args, words];
      const reply = replies.shift();
      if (reply instanceof Error) throw reply;
      return read(reply);
    };
    evictions = new RedisEvictions({
      keys,
      names: new LockNames(keys, 'own'),
      runner: { run, change: run },
      trial: new CounterTrial(keys),
      lockCalls,
      takeBacks: { forget: ({ value }: { value: string }) => forgotten.push(value) },
      seen,
      handoffs: { tokenOf: (lock: string) => (lock === 'lock:a' ? own : 0n) },
      id: 'own',
      waiters,
    } as unknown as ConstructorParameters<typeof RedisEvictions>[0]);
    evictions.observers.add((notice) => told.push(notice));
  });

  const ask = (...reply: string[]) => (replies.push(reply), evictions.ask(NAMED, 500));
  const take = (...reply: string[]) => (replies.push(reply), evictions.take(REQUEST));

  it.each(['held', 'unconfirmed'])(
    'asks a holder that is %s, also one of this process',
    async (state) => {
      expect(await ask(state, HOLDER, '8', '')).toEqual({ state, holder: 'host:1:2', owner: '1', fencingToken: 8n }); // prettier-ignore
      expect(args).toEqual([['7', '', 500, '', 'own']]);
      expect(waiters.evictions).toBe(evictions);
      expect(told).toEqual([{ type: 'revoked', key: 'a', upTo: 7n, grace: 500 }]);
    },
  );

  it.each(['other', 'shared'])('asks none where the key is %s', async (state) => {
    expect(await ask(state, HOLDER, '', '')).toEqual({ state, holder: 'host:1:2', owner: '1', fencingToken: undefined }); // prettier-ignore
    expect(told).toEqual([]);
    expect(seen.find('a', 100n)).toBeUndefined();
  });

  it('names the holder that this process has seen with the token', async () => {
    seen.note('a', HOLDER, 6n);
    await ask('held', HOLDER, '9', '');
    expect(args[0]).toEqual(['7', '', 500, '', 'own']); // its process is asked first
    await ask('unconfirmed', 't.1:host:1:2', '5', '');
    expect(seen.find('a', 5n)).toBe('t.1:host:1:2');
  });

  it('means no other holder than the one that was confirmed', async () => {
    await ask('held', HOLDER, '7', '');
    expect(await ask('unconfirmed', 't.1:host:1:2', '9', '')).toMatchObject({ state: 'other' });
    expect(await ask('unconfirmed', HOLDER, '9', '')).toMatchObject({ state: 'unconfirmed' });
    await ask('unconfirmed', 't.1:host:1:2', '9', ''); // confirms nothing
    expect(await ask('unconfirmed', HOLDER, '9', '')).toMatchObject({ state: 'unconfirmed' });
    expect(told).toHaveLength(3);
  });

  it('takes the key, tells the holder of this process, and gives a lock', async () => {
    const answer = await take('taken', HOLDER, '8', '20');
    expect(args).toEqual([['7', 'own.mine:test:1:2', 30_000, '', '']]);
    expect(forgotten).toEqual(['own.mine:test:1:2']);
    expect(answer).toMatchObject({
      state: 'taken',
      fencingToken: 8n,
      taken: { fencingToken: 20n },
    });
    expect(told).toEqual([{ type: 'revoked', key: 'a', upTo: 8n, grace: 0 }]);
    expect(await answer.taken!.release()).toBe(true);
    expect(lockCalls.release).toHaveBeenCalledWith(expect.objectContaining({ value: 'own.mine:test:1:2' })); // prettier-ignore
    await take('taken', '', '', '21');
    expect(told.at(-1)).toMatchObject({ upTo: 7n });
  });

  describe('by what was seen of the holder', () => {
    const known = () => args.at(-1)![3];
    let now: jest.SpyInstance<number>;

    beforeEach(() => {
      now = jest.spyOn(systemClock, 'now').mockReturnValue(1_000);
      seen.note('a', HOLDER, 6n);
    });
    afterEach(() => jest.restoreAllMocks());

    it('waits until its process had the time to say that another holder has the key', async () => {
      await take('unconfirmed', HOLDER, '9', '');
      expect(known()).toBe('');
      await ask('unconfirmed', HOLDER, '9', '');
      now.mockReturnValue(1_499);
      await take('unconfirmed', HOLDER, '9', '');
      expect(known()).toBe('');
      await ask('unconfirmed', HOLDER, '9', '');
      now.mockReturnValue(1_700);
      await ask('unconfirmed', HOLDER, '9', '');
      now.mockReturnValue(1_999);
      await take('taken', HOLDER, '9', '20');
      expect(known()).toBe(HOLDER);
    });

    it('takes nothing where no answer can be heard, or another token was asked for', async () => {
      waiters.listen.mockReturnValue(false);
      await ask('unconfirmed', HOLDER, '9', '');
      expect(args[0]![4]).toBe('');
      waiters.listen.mockReturnValue(true);
      replies.push(['unconfirmed', HOLDER, '9', '']);
      await evictions.ask({ key: 'a', fencingToken: 6n }, 500);
      now.mockReturnValue(9_000);
      await take('unconfirmed', HOLDER, '9', '');
      expect(known()).toBe('');
    });

    it('takes nothing once the process has said so', async () => {
      await ask('unconfirmed', HOLDER, '9', '');
      evictions.answered('= 8 lock:a');
      expect(await ask('unconfirmed', HOLDER, '9', '')).toMatchObject({ state: 'other' });
      now.mockReturnValue(9_000);
      expect(await evictions.take(REQUEST)).toEqual({ state: 'other' });
      evictions.answered('= 7 lock:b');
      evictions.answered('= x lock:b');
      replies.push(['held', HOLDER, '7', '']);
      expect(await evictions.ask({ key: 'b', fencingToken: 7n }, 5)).toMatchObject({
        state: 'held',
      });
    });

    it('takes nothing from a later holder of this process', async () => {
      own = 8n;
      expect(await evictions.take(REQUEST)).toEqual({ state: 'other' });
    });

    it('takes nothing at a node of a quorum, whose counters tell as much', async () => {
      evictions.joinQuorum();
      await ask('unconfirmed', HOLDER, '9', '');
      now.mockReturnValue(9_000);
      await take('unconfirmed', HOLDER, '9', '');
      expect(args.map((words) => words.slice(3))).toEqual([
        ['', ''],
        ['', ''],
      ]);
    });
  });

  it.each([
    ['@ s 7 lock:a', [['s', '= 9 lock:a']]],
    ['@ s 9 lock:a', []],
    ['@ s 7 lock:b', []],
    ['@ s 7 other:a', []],
    ['@ s x lock:a', []],
  ])('is asked who has the key now: %j', async (text, answers) => {
    own = 9n;
    replies.push(1);
    evictions.asked(text);
    expect(args).toEqual(answers);
  });

  it('takes no key of another holder', async () => {
    expect(await take('other', HOLDER, '8', '')).not.toHaveProperty('taken');
    expect(told).toEqual([]);
    expect(lockCalls.abandon).not.toHaveBeenCalled();
  });

  it.each([[new Error('down')], [['taken', HOLDER, '8', 'none']], [['taken']]])(
    'that fails gives back what it may have taken: %p',
    async (reply) => {
      replies.push(reply);
      await rejectionOf(evictions.take(REQUEST));
      expect(lockCalls.abandon).toHaveBeenCalledWith(expect.objectContaining({ value: 'own.mine:test:1:2' })); // prettier-ignore
    },
  );

  it.each([
    ['- 7 500 lock:a', { type: 'revoked', key: 'a', upTo: 7n, grace: 500 }],
    ['- 12 0 lock:a b\nc', { type: 'revoked', key: 'a b\nc', upTo: 12n, grace: 0 }],
  ])('is heard of: %j', (text, notice) => {
    evictions.heard(text);
    expect(told).toEqual([notice]);
  });

  it.each(['- 7 500 other:a', '- 7 500', '- x 500 lock:a', '- ', '- 7 500 lock:'])(
    'is not heard of where the message is %j',
    (text) => {
      evictions.heard(text);
      expect(told).toEqual([]);
    },
  );
});
