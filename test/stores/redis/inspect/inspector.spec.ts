import { CounterTrial } from '../../../../lib/stores/redis/keys/counter-trial.js';
import { SeenHolders } from '../../../../lib/stores/redis/keys/seen-holders.js';
import { ServerKeys } from '../../../../lib/stores/redis/keys/server-keys.js';
import { INSPECT, INSPECT_ALONE } from '../../../../lib/stores/redis/inspect/inspect-script.js';
import { asInspections } from '../../../../lib/stores/redis/inspect/inspection.js';
import { Inspector } from '../../../../lib/stores/redis/inspect/inspector.js';
import type { RedisScript } from '../../../../lib/redis-client/redis-script.js';
import type { ScriptRunner } from '../../../../lib/stores/redis/send/script-runner.js';
import { rejectionOf } from '../../../core/support/outcome.js';

const NOW = 1_700_000_000_000;
/** A fencing token that was minted ten seconds ago. */
const TOKEN = (NOW - 10_000) * 1_000;
const HELD = ['s.1:host:1:2', 5_000, String(TOKEN), null, [], 0];
const KEYS_OF_A_LOCK = 4;

interface Asked {
  readonly script: RedisScript;
  readonly keys: readonly string[];
  readonly args: readonly (string | number)[];
}

describe('A store that asks for held locks', () => {
  let asked: Asked[];
  let errors: string[];

  beforeEach(() => {
    asked = [];
    errors = [];
  });

  function inspectorOf(isOneServer: boolean): Inspector {
    const keys = new ServerKeys('lock:', '', isOneServer);
    const run = async (
      script: RedisScript,
      names: readonly string[],
      args: readonly (string | number)[],
      read: (reply: unknown) => unknown,
    ) => {
      asked.push({ script, keys: names, args });
      const error = errors.shift();
      if (error !== undefined) throw new Error(error);
      if (script === INSPECT_ALONE)
        return read([NOW, ['s.1:host:1:2', 5_000, null, [], null, null]]);
      const locks = names.filter((_, index) => index % KEYS_OF_A_LOCK === 0);
      return read([NOW, ...locks.map((lock) => (lock.includes('free') ? null : HELD))]);
    };
    const runner = { run } as unknown as ScriptRunner;
    return new Inspector(keys, runner, new CounterTrial(keys), isOneServer, new SeenHolders());
  }

  const sizes = () => asked.map(({ keys }) => keys.length / KEYS_OF_A_LOCK);
  const names = (count: number) => Array.from({ length: count }, (_, index) => `k${index}`);

  it('names a hundred waiters and all sharers of one', async () => {
    expect(await inspectorOf(true).one('a')).toMatchObject({ key: 'a', holder: 'host:1:2' });
    expect(await inspectorOf(true).one('free')).toBeUndefined();
    expect(asked[0]).toMatchObject({ script: INSPECT, args: [100, -1] });
    expect(asked[0]!.keys).toEqual(['lock:a', expect.stringContaining('mark'), '{lock:a}:line', '{lock:a}:shared']); // prettier-ignore
  });

  it('asks for fifty at once, fewer waiters and sharers of each, and leaves out those that are free', async () => {
    const found = await inspectorOf(true).many([...names(100), 'free']);
    expect(found.map(({ key }) => key)).toEqual(names(100));
    expect(sizes()).toEqual([50, 50, 1]);
    expect(asked[0]!.args).toEqual([10, 100]);
  });

  it('asks for each alone on a Cluster', async () => {
    expect(await inspectorOf(false).many(names(3))).toHaveLength(3);
    expect(sizes()).toEqual([1, 1, 1]);
  });

  it('asks for each alone, and goes on with that, where the server refuses keys of several slots', async () => {
    const inspector = inspectorOf(true);
    errors = ['CROSSSLOT Keys in request do not hash to the same slot'];
    expect(await inspector.many(names(3))).toHaveLength(3);
    expect(sizes()).toEqual([3, 1, 1, 1]);
    expect(await inspector.many(names(2))).toHaveLength(2);
    expect(sizes()).toEqual([3, 1, 1, 1, 1, 1]);
  });

  it('fails with the server', async () => {
    const inspector = inspectorOf(true);
    errors = ['LOADING', 'TRYAGAIN of several'];
    for (const text of ['LOADING', 'TRYAGAIN of several'])
      expect(await rejectionOf(inspector.many(names(3)))).toMatchObject({ message: text });
    errors = ['LOADING'];
    expect(await rejectionOf(inspector.one('a'))).toMatchObject({ message: 'LOADING' });
    expect(asked).toHaveLength(3);
  });

  it.each(['TRYAGAIN Multiple keys', 'Too many Cluster redirections. Last error: ASK'])(
    'asks for the lock without its waiters after "%s"',
    async (text) => {
      const inspector = inspectorOf(false);
      errors = [text];
      const found = (await inspector.one('a'))!;
      expect(found).toMatchObject({ holder: 'host:1:2', remaining: 5_000 });
      expect([found.waiters, found.waiterCount, found.fencingToken]).toEqual([undefined, undefined, undefined]); // prettier-ignore
      expect(asked[1]).toMatchObject({ script: INSPECT_ALONE, keys: ['lock:a'], args: [] });
    },
  );
});

describe('What the server tells of a lock', () => {
  let seen: SeenHolders;

  beforeEach(() => {
    seen = new SeenHolders();
  });

  const read = (...lock: unknown[]) => asInspections(['a'], [NOW, lock], seen)[0]!;

  it('is its holder, its token and its waiters', () => {
    const waiters = ['1000 t.1:other:3:4', '1000 u*2.1:third:5:6'];
    expect(read('s.1:host:1:2', 5_000, String(TOKEN), null, waiters, 7)).toEqual({
      key: 'a',
      holder: 'host:1:2',
      remaining: 5_000,
      heldFor: 10_000,
      fencingToken: BigInt(TOKEN),
      waiters: ['other:3:4', 'third:5:6'],
      waiterCount: 7,
    });
    expect(seen.find('a', BigInt(TOKEN))).toBe('s.1:host:1:2');
  });

  it('may be a claim, which has no token of its own', () => {
    expect(read('s.1:host:1:2', 1_000, String(TOKEN), null, [], 0)).toMatchObject({ heldFor: undefined, fencingToken: BigInt(TOKEN) }); // prettier-ignore
    expect(seen.find('a', BigInt(TOKEN))).toBeUndefined();
    expect(read('s.1:host:1:2', 1_001, String(TOKEN), null, [], 0).heldFor).toBe(10_000);
  });

  it('is that it never ends', () => {
    expect(read('s.1:host:1:2', -1, null, null, [], 0)).toMatchObject({ remaining: Infinity, fencingToken: undefined }); // prettier-ignore
    expect(read('s.1:host:1:2', 0, null, null, [], 0).remaining).toBe(0);
  });

  it('is the value of another program', () => {
    expect(read('theirs', 5_000, String(TOKEN), null, [], 0)).toMatchObject({ holder: undefined, fencingToken: undefined }); // prettier-ignore
    expect(seen.find('a', BigInt(TOKEN))).toBeUndefined();
    expect(read('theirs.1', 5_000, String(TOKEN), null, [], 0).fencingToken).toBeUndefined();
  });

  it('is its sharers', () => {
    const sharers = ['s*2.1:host:1:2', 't*2.1:other:3:4'];
    const shared = { permits: 2, holder: 'host:1:2', holders: ['host:1:2', 'other:3:4'] };
    expect(read('*2', 5_000, null, sharers, [], 0)).toMatchObject(shared);
    expect(read('*inf', 5_000, null, [], [], 0)).toMatchObject({ permits: Infinity, holder: undefined, holders: [] }); // prettier-ignore
    expect(read('~s*2.1:host:1:2', 900, null, null, [], 0)).toMatchObject({ permits: 2, holders: ['host:1:2'] }); // prettier-ignore
  });

  it('is a counter that an earlier version wrote more behind', () => {
    expect(read('s.1:host:1:2', 5_000, `${TOKEN} r`, null, [], 0).fencingToken).toBe(BigInt(TOKEN));
    expect(read('s.1:host:1:2', 5_000, 'none', null, [], 0).fencingToken).toBeUndefined();
  });

  it('is understood, or it is an error', () => {
    expect(() => read('s.1:host:1:2', 5_000, null, null, 'none', 0)).toThrow('not understood');
    expect(() => read('s.1:host:1:2', 5_000)).toThrow('not understood');
    expect(() => asInspections(['a', 'b'], [NOW, null], seen)).toThrow('not understood');
  });
});
