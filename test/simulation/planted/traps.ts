import type { Bug } from '../bug.js';
import type { Backing } from '../schedule.js';
import * as clock from './clock-bugs.js';
import * as quorum from './quorum-bugs.js';
import * as service from './service-bugs.js';
import * as script from './script-bugs.js';
import * as store from './store-bugs.js';

type Planted = readonly [what: string, planted: Bug, on: Backing];

/** What a run would need for it, and the spec that shows it instead. */
export type NotInARun = readonly [what: string, because: string, spec: string];

/** A kind of defect that lock libraries have: built in, and to be found; or why it cannot occur here. */
export type Trap = Planted | NotInARun;

export function isPlanted(trap: Trap): trap is Planted {
  return typeof trap[1] !== 'string';
}

export const TRAPS: readonly Trap[] = [
  ['a lock is handed out whose validity has passed', clock.countsFromTheReply, 'remote'],
  ['a vote that never settles', quorum.neverSettlesEvenSplits, 'redlock'],
  ['the signal of a loss comes late', clock.tellsLossesLate, 'remote'],
  ['a loss is silent', service.hidesLosses, 'remote'],
  ['a timer is left after the release', clock.leavesTimers, 'remote'],
  ['an error in the background ends the process', store.throwsInTheBackground, 'remote'],
  ['the lock of another holder is released', store.releasesWhatIsNotItsOwn, 'remote'],
  ['the work runs without a lock when the store fails', service.failsOpen, 'remote'],
  [
    'a decorator destroys errors, results or metadata',
    'a run calls the service',
    'test/nest/decorators/decorators-above.spec.ts',
  ],
  ['keys that collapse', service.collapsesKeys, 'redis'],
  ['a key whose grant was not answered is kept for its ttl', script.refusesItsOwn, 'redis'],
  ['a caller that gave up leaves an orphan', store.leavesOrphans, 'remote'],
  ['validity goes by the time of day', clock.trustsTheWallClock, 'memory'],
  ['a wake-up is lost', store.losesWakeUps, 'memory'],
  ['a dead waiter blocks the callers behind it', store.keepsDeadWaiters, 'memory'],
  ['every waiter polls', service.letsEveryWaiterPoll, 'remote'],
  ['several keys are taken in the order of their caller', service.takesKeysInAnyOrder, 'memory'],
  ['a node that restarted empty votes', quorum.letsEmptyNodesVote, 'redlock'],
  [
    'the largest of the counters of several nodes is no fencing token',
    quorum.raisesNoCounter,
    'redlock',
  ],
  ['a counter of fencing tokens is lost', store.losesItsCounter, 'remote'],
  ['a lock is lost at a failover', quorum.awaitsNoReplica, 'replica'],
  [
    'the lock ends before the transaction',
    'a run has no transaction',
    'test/nest/calls/unlock-before-commit.spec.ts',
  ],
  [
    'two applications of one process share state',
    'a process of a run is one application',
    'test/nest/module/two-applications.spec.ts',
  ],
  [
    'the client of the application is closed',
    'only the service of a run uses its client',
    'test/stores/sql/connections/sql-pools.spec.ts',
  ],
  [
    'two copies of a dependency',
    'a run installs nothing',
    'test/packaging/packaging.process.spec.ts',
  ],
  ['a server that hangs stalls every call', service.waitsForEver, 'remote'],
  [
    're-entry: a call waits for itself, or ownership leaks',
    'no work of a run asks for another lock',
    'test/core/scope/self-deadlock.spec.ts',
  ],
  [
    'a lock that is pinned to a connection',
    'no database is simulated',
    'test/stores/sql/connections/sql-pools.spec.ts',
  ],
  ['a late renewal leaves no second chance', service.extendsLate, 'remote'],
  ['the wait is a number of attempts', service.countsAttempts, 'remote'],
  ['a key with a quote in it', 'a run has two keys', 'test/stores/odd-keys.spec.ts'],
];

/** Found in the library by review, or by properties of its scripts. */
export const OTHERS: readonly Trap[] = [
  ['the script takes a lock from its holder', script.takesFromAnyHolder, 'redis'],
  ['the script frees the lock of another holder', script.releasesAnyHolder, 'redis'],
  ['the script counts fencing tokens anew', script.forgetsItsCounter, 'redis'],
  ['the script lets readers in beside a writer', script.letsReadersIn, 'redis'],
  ['a reply that is not understood counts as a grant', store.takesRefusalsForGrants, 'remote'],
  ['a clock that stands still while the machine is suspended', clock.forgetsSuspensions, 'memory'],
];
