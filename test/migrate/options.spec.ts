import { type LockStore, MemoryLockStore } from 'nest-holdfast';
import { MigratingLockStore, type MigratingLockStoreOptions } from 'nest-holdfast/migrate';

const from = new MemoryLockStore();
const to = new MemoryLockStore();
const OPTIONS: MigratingLockStoreOptions = { from, to, phase: 'dual', largestTtl: 30_000 };

/** A store whose fencing tokens are its revisions. */
class Revisions extends MemoryLockStore {
  override readonly name = 'revisions';
  override readonly supports = { fencing: true, fencingFloor: false, ttl: false } as const;
}

const revisions: LockStore = new Revisions();

const WRONG: readonly (readonly [
  Partial<Record<keyof MigratingLockStoreOptions, unknown>>,
  RegExp,
])[] = [
  [{ phase: 'both' }, /phase must be 'dual', 'handover' or 'to', got the string "both"/],
  [{ phase: undefined }, /phase must be 'dual', 'handover' or 'to', got undefined/],
  [{ largestTtl: undefined }, /largestTtl must be a whole number of ms .*, got undefined/],
  [{ to: undefined }, /to must be a LockStore, got undefined/],
  [{ from: undefined }, /from must be a LockStore, got undefined/],
  [{ to: from }, /to must be another store than from/],
  [{ from: {} }, /from must be a LockStore/],
  [{ fromClosed: true }, /fromClosed belongs to phase 'to', got 'dual'/],
  [
    { phase: 'handover' },
    /phase 'handover' is for stores whose fencing tokens no request can raise/,
  ],
  [
    { to: revisions },
    /fencingBase must be a bigint, got undefined: the fencing tokens of "revisions" are its revisions/,
  ],
  [{ from: revisions }, /fencingBase must be a bigint/],
  [
    { from: revisions, to: new Revisions(), fencingBase: 1n },
    /have fencing tokens that no request can raise/,
  ],
  [{ fencingBase: 5 }, /fencingBase must be a bigint of at least 1, got 5/],
  [
    { from: revisions, phase: 'to', fencingBase: 10n },
    /phase 'to' needs fromClosed: true: a session of from \("revisions"\) outlives its credential, and its locks have no ttl/,
  ],
];

describe('MigratingLockStore', () => {
  it.each(WRONG.map(([change, message]) => [String(message), change, message] as const))(
    'refuses: %s',
    (_, change, message) => {
      const options = { ...OPTIONS, ...change } as MigratingLockStoreOptions;
      const make = () => new MigratingLockStore(options);
      expect(make).toThrow(expect.objectContaining({ code: 'LOCK_OPTION_INVALID' }));
      expect(make).toThrow(message);
    },
  );

  it('needs no `from` once that is closed', () => {
    expect(new MigratingLockStore({ to, phase: 'to', largestTtl: 1, fromClosed: true }).name).toBe(
      'memory',
    );
  });

  it('has the features of both stores', () => {
    const both = new MigratingLockStore({ ...OPTIONS, to: revisions, fencingBase: 10n });
    expect(both.name).toBe('memory+revisions');
    expect(both.supports).toMatchObject({
      fencing: true,
      fencingFloor: false,
      ttl: true,
      manyKeys: false,
    });
    expect(both.supports.readLocks).toBeUndefined();
    expect(new MigratingLockStore(OPTIONS).supports).toMatchObject({
      manyKeys: true,
      readLocks: true,
      semaphores: true,
    });
  });
});
