import type { RedisClient } from '../../../../lib/redis-client/redis-client.js';
import { SlotMasters } from '../../../../lib/stores/redis/send/slot-masters.js';
import { rejectionOf } from '../../../core/support/outcome.js';

const nothing = () => {};
/** Rounds of one call. */
const MOST_ROUNDS = 5;

/** A connection to a node, which notes its commands. */
class FakeNode {
  readonly commands: string[] = [];
  readonly stream = {};
  readonly options: object;

  constructor(port: number) {
    this.options = { host: 'redis', port };
  }

  readonly #noted = (name: string) => async () => void this.commands.push(name);
  readonly evalsha = this.#noted('evalsha');
  readonly eval = this.#noted('eval');
  readonly wait = this.#noted('wait');
  readonly asking = async () => {
    this.commands.push('asking');
    throw new Error('the command behind it fails, too');
  };
}

/** A client of a Cluster of one slot. */
class FakeCluster {
  readonly isCluster = true;
  readonly masters = [new FakeNode(1), new FakeNode(2)];
  readonly on = nothing;
  readonly off = nothing;
  slots: (string[] | undefined)[] = [['redis:1', 'redis:2']];
  looks = 0;
  /** What the client learns by a look. */
  learn = nothing;
  readonly nodes = (role: string) => (role === 'all' ? this.masters : []);
  readonly eval = async () => {
    this.looks++;
    this.learn();
    return 1;
  };
  readonly evalsha = this.eval;
}

describe('The masters of a Cluster that a store asks itself', () => {
  let client: FakeCluster;
  /** The nodes that were asked, by their number. */
  let asked: number[];

  beforeEach(() => {
    client = new FakeCluster();
    asked = [];
  });

  /** Asks the master of slot 0. A node fails with the errors that are there for it. */
  function ask(errors: readonly (string | undefined)[] = [], options = {}): Promise<unknown> {
    const left = [...errors];
    const masters = new SlotMasters(Object.assign(client, options) as unknown as RedisClient, () => 0); // prettier-ignore
    return masters.run(['lock:a'], async (master, keys) => {
      asked.push(client.masters.findIndex(({ stream }) => stream === master.stream));
      const error = left.shift();
      if (error !== undefined) throw new Error(error);
      await master.evalsha('', 0);
      await master.eval('', 0);
      await master.wait(1, 1);
      return keys;
    });
  }

  it('are the first of the nodes of the slot', async () => {
    expect(await ask()).toEqual(['lock:a']);
    expect(asked).toEqual([0]);
    expect(client.masters[0]!.commands).toEqual(['evalsha', 'eval', 'wait']);
    expect(client.looks).toBe(0);
  });

  it.each([
    'MOVED 0 redis:2',
    'TRYAGAIN Multiple keys',
    'CLUSTERDOWN Hash slot not served',
    'Connection is closed.',
  ])('are looked for after the error "%s"', async (error) => {
    client.learn = () => (client.slots = [['redis:2', 'redis:1']]);
    await ask([error]);
    expect(asked).toEqual([0, 1]);
    expect(client.masters[1]!.commands).toEqual(['evalsha', 'eval', 'wait']);
    expect(client.looks).toBe(1);
  });

  it.each([[undefined], [['redis:7']]])('are looked for where the slot has %j', async (nodes) => {
    client.slots = [nodes];
    client.learn = () => (client.slots = [['redis:2']]);
    await ask();
    expect(asked).toEqual([1]);
  });

  it('are those to which the slot is still moving, for one call, which asks for that', async () => {
    await ask(['ASK 0 redis:2']);
    expect(asked).toEqual([0, 1]);
    expect(client.masters[1]!.commands).toEqual(['asking', 'evalsha', 'asking', 'eval', 'wait']);
    asked = [];
    await ask(['ASK 0 redis:2', 'TRYAGAIN Multiple keys']);
    expect(asked).toEqual([0, 1, 0]);
  });

  it.each(['NOPERM no permissions', 'it MOVED'])('are not looked for after "%s"', async (text) => {
    expect(await rejectionOf(ask([text]))).toMatchObject({ message: text });
    expect(client.looks).toBe(0);
  });

  it('are looked for a few times only', async () => {
    const errors = Array.from({ length: MOST_ROUNDS }, (_, round) => `MOVED ${round} redis:2`);
    expect(await rejectionOf(ask(errors))).toMatchObject({ message: `MOVED ${MOST_ROUNDS - 1} redis:2` }); // prettier-ignore
    expect(asked).toHaveLength(MOST_ROUNDS);
    await ask(errors.slice(1));
    expect(asked).toHaveLength(2 * MOST_ROUNDS);
  });

  it.each([
    ['the client', { options: { keyPrefix: 'app:' } }, 'app:lock:a'],
    ['its connections', { options: { redisOptions: { keyPrefix: 'app:' } } }, 'lock:a'],
    ['both', { options: { keyPrefix: 'app:', redisOptions: { keyPrefix: 'app:' } } }, 'lock:a'],
  ])('get the keys with a prefix of %s as they need them', async (_, options, key) => {
    expect(await ask([], options)).toEqual([key]);
  });

  it('are none with two prefixes, or with a client that does not tell them', () => {
    const differ = { keyPrefix: 'app:', redisOptions: { keyPrefix: 'other:' } };
    expect(() => ask([], { options: differ })).toThrow('need one keyPrefix, got two that differ');
    expect(() => ask([], { options: undefined, slots: 'none' })).toThrow('need a client that has slots and nodes()'); // prettier-ignore
  });
});
