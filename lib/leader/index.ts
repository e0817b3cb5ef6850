export { LeaderElection } from './leader-election.js';
export { LeaderEvents } from './leader-events.js';
export type { LeaderEventMap } from './leader-events.js';
export type { LeaderElectionOptions } from './leader-options.js';
export { LeaderTerm } from './leader-term.js';
