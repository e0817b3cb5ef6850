import type { StoreWarning } from '../../../core/contract/store-notices.js';
import type { Denied } from './acl-check.js';
import type { ServerFacts } from './server-facts.js';

/** Milliseconds. */
const LARGEST_CLOCK_DIFFERENCE = 1_000;

/** The settings that the locks rely on. */
export interface Reliance {
  /** Replicas that have to acknowledge each grant. */
  readonly replicas: number;
  /** Node of a Redlock: after a restart it has no vote until all that it may have forgotten has ended. */
  readonly isOneOfSeveral: boolean;
}

/** The settings of a server that may lose locks, or make them fail: one warning each. `at` names the server. */
export function findingsOf(
  at: string,
  { eviction, keepsFile, clockAhead }: ServerFacts,
  denied: Denied | undefined,
  reliance: Reliance,
): StoreWarning[] {
  const isForgetful = keepsFile === false && reliance.replicas === 0 && !reliance.isOneOfSeveral;
  return [
    ...(eviction !== undefined && eviction !== 'noeviction' ? [evicts(at, eviction)] : []),
    ...(isForgetful ? [forgets(at)] : []),
    ...(clockAhead !== undefined && Math.abs(clockAhead) > LARGEST_CLOCK_DIFFERENCE ? [differs(at, clockAhead)] : []), // prettier-ignore
    ...(denied && isAny(denied) ? [denies(at, denied)] : []),
  ];
}

function evicts(at: string, policy: string): StoreWarning {
  return {
    code: 'HOLDFAST_REDIS_EVICTION',
    message:
      `${at} has the maxmemory-policy ${policy}: when its memory is full it may delete a lock that is held, and another ` +
      'caller gets it. Set maxmemory-policy noeviction, or give the locks a server without a cache',
  };
}

function forgets(at: string): StoreWarning {
  return {
    code: 'HOLDFAST_REDIS_PERSISTENCE',
    message:
      `${at} keeps no append-only file and no replica is awaited: a restart forgets locks that are held, and other callers ` +
      'get them. Set appendonly yes and appendfsync always, or the option replicas: 1 with a replica, or use nest-holdfast/redlock',
  };
}

function differs(at: string, ahead: number): StoreWarning {
  const by = `${Math.round(Math.abs(ahead))} ms ${ahead > 0 ? 'ahead of' : 'behind'}`;
  return {
    code: 'HOLDFAST_REDIS_CLOCK',
    message:
      `The clock of ${at} is ${by} that of this process: when it is set right, locks end too early or too late, and fencing ` +
      'tokens, which begin with its time, may go backwards after a failover. Let NTP set the clocks of both machines',
  };
}

function denies(at: string, { commands, keys, channels }: Denied): StoreWarning {
  const rule = [...keys.map((key) => `~${key}`), ...channels.map((channel) => `&${channel}`), ...commands.map((command) => `+${command}`)]; // prettier-ignore
  const missing = [
    ['commands', commands],
    ['keys', keys],
    ['channels', channels],
  ] as const;
  const what = missing.flatMap(([kind, names]) => (names.length > 0 ? `the ${kind} ${names.join(', ')}` : [])); // prettier-ignore
  return {
    code: 'HOLDFAST_REDIS_ACL',
    message:
      `${at} denies its user ${what.join(' and ')}: locks, waiting in line or the watch over failovers will fail. ` +
      `Permit them: ACL SETUSER <user> ${rule.join(' ')}`,
  };
}

function isAny({ commands, keys, channels }: Denied): boolean {
  return commands.length + keys.length + channels.length > 0;
}
