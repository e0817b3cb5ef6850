import type { Bug } from '../bug.js';
import type { Backing } from '../schedule.js';
import * as clock from './clock-bugs.js';
import * as service from './service-bugs.js';
import * as script from './script-bugs.js';
import * as store from './store-bugs.js';

/** A kind of defect that lock libraries have: built in, and to be found; or why it cannot occur here. */
export type Trap =
  readonly [what: string, planted: Bug, on: Backing] | readonly [what: string, because: string];

const NO_QUORUM = 'no quorum is simulated: test/model has its orders of steps';
const NOT_IN_A_RUN = 'it is no matter of time or order: specs of its room show it';

export const TRAPS: readonly Trap[] = [
  ['a lock is handed out whose validity has passed', clock.countsFromTheReply, 'remote'],
  ['a vote that never settles', NO_QUORUM],
  ['the signal of a loss comes late', clock.tellsLossesLate, 'remote'],
  ['a loss is silent', service.hidesLosses, 'remote'],
  ['a timer is left after the release', clock.leavesTimers, 'remote'],
  ['an error in the background ends the process', store.throwsInTheBackground, 'remote'],
  ['the lock of another holder is released', store.releasesWhatIsNotItsOwn, 'remote'],
  ['the work runs without a lock when the store fails', service.failsOpen, 'remote'],
  ['a decorator destroys errors, results or metadata', NOT_IN_A_RUN],
  ['keys that collapse', NOT_IN_A_RUN],
  [
    'a key whose grant was not answered is kept for its ttl',
    'it costs time, and no rule: faults of real servers show it',
  ],
  ['a caller that gave up leaves an orphan', store.leavesOrphans, 'remote'],
  ['validity goes by the time of day', clock.trustsTheWallClock, 'memory'],
  ['a wake-up is lost', store.losesWakeUps, 'memory'],
  ['a dead waiter blocks the callers behind it', store.keepsDeadWaiters, 'memory'],
  ['every waiter polls', service.letsEveryWaiterPoll, 'remote'],
  ['several keys are taken in the order of their caller', service.takesKeysInAnyOrder, 'memory'],
  ['a node that restarted empty votes', NO_QUORUM],
  ['the largest of the counters of several nodes is no fencing token', NO_QUORUM],
  ['a counter of fencing tokens is lost', store.losesItsCounter, 'remote'],
  ['a lock is lost at a failover', 'no failover is simulated here: faults of real servers show it'],
  ['the lock ends before the transaction', NOT_IN_A_RUN],
  ['two applications of one process share state', NOT_IN_A_RUN],
  ['the client of the application is closed', NOT_IN_A_RUN],
  ['two copies of a dependency', NOT_IN_A_RUN],
  ['a server that hangs stalls every call', service.waitsForEver, 'remote'],
  ['re-entry: a call waits for itself, or ownership leaks', NOT_IN_A_RUN],
  ['a lock that is pinned to a connection', 'no database is simulated: its specs run on real ones'],
  ['a late renewal leaves no second chance', service.extendsLate, 'remote'],
  ['the wait is a number of attempts', service.countsAttempts, 'remote'],
  ['a key with a quote in it', NOT_IN_A_RUN],
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
