import type { StoreNotice } from '../../../../lib/core/contract/lock-store.js';
import { RedisEvictions } from '../../../../lib/stores/redis/evict/redis-evictions.js';
import { CounterTrial } from '../../../../lib/stores/redis/keys/counter-trial.js';
import { LockNames } from '../../../../lib/stores/redis/keys/named-lock.js';
import { SeenHolders } from '../../../../lib/stores/redis/keys/seen-holders.js';
import { ServerKeys } from '../../../../lib/stores/redis/keys/server-keys.js';
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

  beforeEach(() => {
    [told, replies, args, forgotten] = [[], [], [], []];
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
    } as unknown as ConstructorParameters<typeof RedisEvictions>[0]);
    evictions.observers.add((notice) => told.push(notice));
  });

  const ask = (...reply: string[]) => (replies.push(reply), evictions.ask(NAMED, 500));
  const take = (...reply: string[]) => (replies.push(reply), evictions.take(REQUEST));

  it.each(['held', 'unconfirmed'])(
    'asks a holder that is %s, also one of this process',
    async (state) => {
      expect(await ask(state, HOLDER, '8', '')).toEqual({ state, holder: 'host:1:2', owner: '1', fencingToken: 8n }); // prettier-ignore
      expect(args).toEqual([['7', '', 500, '']]);
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
    expect(args[0]).toEqual(['7', '', 500, HOLDER]);
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
    expect(args).toEqual([['7', 'own.mine:test:1:2', 30_000, '']]);
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
