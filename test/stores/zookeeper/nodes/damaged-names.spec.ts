import zookeeper from 'node-zookeeper-client';
import { LockService } from 'nest-holdfast';
import { ZooKeeperStores } from '../stores.js';

type Damage = (names: string[], stat: object) => readonly [names: string[], stat: object];
type Told = (error: unknown, names: string[], stat: object) => void;

/** What is damaged of the next answers with the nodes of a key, one after the other. */
let damages: Damage[] = [];

const ofFirst =
  (pattern: RegExp, by: string): Damage =>
  (names, stat) => [
    names.map((name, index) => (index === 0 ? name.replace(pattern, by) : name)),
    stat,
  ];
const kind = ofFirst(/-write-/, '-wrjte-');
const number = ofFirst(/-0/, '-9');
const missing: Damage = (names, stat) => [names.slice(1), stat];
const none: Damage = (names, stat) => [names, stat];

describe('A damaged answer with the nodes of a key', () => {
  let stores: ZooKeeperStores;
  let holding: LockService;
  let asking: LockService;

  beforeAll(async () => {
    stores = await ZooKeeperStores.shared();
    holding = new LockService(stores.open());
    const { createClient } = zookeeper;
    jest.spyOn(zookeeper, 'createClient').mockImplementation((...args) => {
      const client = createClient(...args) as unknown as { getChildren(...given: unknown[]): void };
      const real = client.getChildren.bind(client);
      client.getChildren = (...given) => {
        const done = given.pop() as Told;
        real(...given, (error: unknown, names: string[], stat: object) => {
          const damage = error ? undefined : damages.shift();
          done(error, ...(damage ?? none)((names ?? []).toSorted(byNumber), stat));
        });
      };
      return client as never;
    });
    asking = new LockService(stores.open());
    await asking.withLock('warm-up', () => {});
  });
  afterAll(async () => {
    jest.restoreAllMocks();
    await holding.close();
    await asking.close();
    await stores[Symbol.asyncDispose]();
  });
  afterEach(() => (damages = []));

  it.each([
    ['the kind of a node', kind],
    ['the number of a node', number],
    ['the count of the nodes', missing],
  ])('hands out no lock that another holds: %s', async (_, damage) => {
    await holding.withLock('order:42', async (lock) => {
      damages = [damage];
      await expect(asking.tryAcquire('order:42')).rejects.toMatchObject({
        code: 'LOCK_STORE_FAILED',
      });
      expect(await asking.tryAcquire('order:42')).toBeUndefined();
      expect(lock.isHeld).toBe(true);
    });
    expect(await (await asking.acquire('order:42')).release()).toBe(true);
  });

  it('is believed where it is said twice: another program has nodes there', async () => {
    const foreign: Damage = (names, stat) => [
      [...names, 'foreign'],
      { ...stat, numChildren: names.length + 1 },
    ];
    damages = Array.from({ length: 9 }, () => foreign);
    const lock = await asking.acquire('order:42');
    damages = [];
    expect(await lock.release()).toBe(true);
  });
});

function byNumber(one: string, other: string): number {
  return Number(one.slice(-10)) - Number(other.slice(-10));
}
