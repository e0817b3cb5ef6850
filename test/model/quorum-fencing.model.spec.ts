import { explore } from './explore';
import type { Exploration } from './explore';
import * as promises from './guarantees';
import type { Guarantee } from './guarantees';
import type { Bounds, Protocol } from './protocol';
import { QuorumFencing } from './quorum-fencing.model';

const CLIENTS = Number(process.env['HOLDFAST_MODEL_CLIENTS'] ?? 2);
const TIMEOUT = 120_000;
const LONG_TIMEOUT = 1_800_000;

const PROTOCOL: Protocol = {
  writeBack: true,
  ownershipCheck: true,
  counterCheck: false,
  trustsExactReplies: false,
  stragglersConfirm: false,
  reserve: 0,
};
/** The nodes are alike, so the order is left out. */
const STARTS = [
  [0, 0, 0],
  [0, 0, 1],
  [0, 0, 2],
  [0, 1, 1],
  [0, 1, 2],
];
const TWO_AT_ONCE: Bounds = {
  clients: 2,
  acquisitions: 2,
  hints: [0, 2],
  starts: STARTS,
  resends: 0,
};
const THREE_IN_ALL: Bounds = { ...TWO_AT_ONCE, acquisitions: 3, hints: [0], starts: [[0, 0, 0]] };
const THREE_AT_ONCE: Bounds = { ...TWO_AT_ONCE, clients: 3, acquisitions: 3, starts: [[0, 0, 0]] };
const RESENT: Bounds = { ...TWO_AT_ONCE, hints: [0], starts: [[0, 0, 1]], resends: 1 };

const { everyTokenIsGrantedOnce, laterAcquisitionsGetMore, laterGrantsInLeaseGetMore } = promises;
const GUARANTEES = [everyTokenIsGrantedOnce, laterAcquisitionsGetMore, laterGrantsInLeaseGetMore];
/** A key that was lost and is owned again does not show that the lease goes on. */
const WITHOUT_LEASES = [everyTokenIsGrantedOnce, laterAcquisitionsGetMore];

/** The ways to run it that are safe. */
const SAFE: Readonly<Record<string, Partial<Protocol>>> = {
  'the protocol': {},
  'nodes that returned T count as confirmed': { trustsExactReplies: true },
  'with 1 reserved token': { reserve: 1 },
  'with 2 reserved tokens': { reserve: 2 },
  'stragglers confirm, if their counter is not beyond T': {
    stragglersConfirm: true,
    counterCheck: true,
    reserve: 1,
  },
  'all of these': {
    stragglersConfirm: true,
    counterCheck: true,
    trustsExactReplies: true,
    reserve: 1,
  },
};

/** Protocols that lack one rule, and the guarantee that breaks: they show that the search finds errors. */
const UNSAFE: Readonly<Record<string, [Partial<Protocol>, Guarantee]>> = {
  'no write-back: a token twice': [{ writeBack: false }, everyTokenIsGrantedOnce],
  'no write-back: a later one is not larger': [{ writeBack: false }, laterAcquisitionsGetMore],
  'no ownership check': [{ ownershipCheck: false }, everyTokenIsGrantedOnce],
  'the counter is checked, but not the owner': [
    { ownershipCheck: false, counterCheck: true },
    everyTokenIsGrantedOnce,
  ],
  'stragglers confirm': [{ stragglersConfirm: true }, everyTokenIsGrantedOnce],
};

describe('fencing over a quorum', () => {
  it.each(Object.entries(SAFE))(
    'keeps its guarantees: %s',
    (_, change) => {
      expectSafe(run(change, TWO_AT_ONCE));
    },
    TIMEOUT,
  );

  it(
    'keeps its guarantees over three acquisitions of two clients',
    () => {
      expectSafe(run({ trustsExactReplies: true }, THREE_IN_ALL));
    },
    TIMEOUT,
  );

  it.each(Object.entries(UNSAFE))(
    'breaks: %s',
    (_, [change, guarantee]) => {
      expectBroken(run(change, TWO_AT_ONCE, [guarantee]));
    },
    TIMEOUT,
  );

  it('does not promise the order of grants whose lease was over when they were handed out', () => {
    expectBroken(run({}, TWO_AT_ONCE, [promises.laterGrantsGetMore]));
  });
});

describe('a request that is executed twice', () => {
  it(
    'breaks the protocol',
    () => {
      expectBroken(run({}, RESENT, WITHOUT_LEASES));
    },
    TIMEOUT,
  );

  it(
    'does no harm when nodes check their counter',
    () => {
      expectSafe(run({ counterCheck: true }, RESENT, WITHOUT_LEASES));
    },
    TIMEOUT,
  );
});

/** Five million states: some minutes, and gigabytes. */
(CLIENTS >= 3 ? describe : describe.skip)('fencing over a quorum, three clients', () => {
  it(
    'keeps its guarantees',
    () => {
      expectSafe(run({}, THREE_AT_ONCE));
    },
    LONG_TIMEOUT,
  );
});

function run(
  change: Partial<Protocol>,
  bounds: Bounds,
  guarantees: readonly Guarantee[] = GUARANTEES,
): Exploration {
  return explore(new QuorumFencing({ ...PROTOCOL, ...change }, bounds, guarantees));
}

function expectSafe({ states, counterexample }: Exploration): void {
  expect(counterexample?.join('\n')).toBeUndefined();
  expect(states).toBeGreaterThan(10_000);
}

/** The last two lines are the grant and what is wrong with it. */
function expectBroken({ states, counterexample = [] }: Exploration): void {
  expect(counterexample.at(-1)).toMatch(
    /^#\d gets \d, (which was granted|and began after)|^#\d gets \d after/,
  );
  expect(counterexample.length).toBeGreaterThan(5);
  expect(states).toBeGreaterThan(1_000);
}
