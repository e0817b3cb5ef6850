import { seeded } from '../support/histories/history-random.js';

/** Where the locks are: in the process itself, behind a network, on Redis, on Redis with a replica, or on three of them. */
export const BACKINGS = ['memory', 'remote', 'redis', 'replica', 'redlock'] as const;

export type Backing = (typeof BACKINGS)[number];

/** A caller asks for a lock, and works under it. Times are milliseconds. */
export interface Action {
  readonly at: number;
  readonly process: number;
  readonly keys: readonly string[];
  /** Missing: exclusive. `Infinity`: a reader. */
  readonly permits?: number | undefined;
  readonly ttl: number;
  /** `0`: one attempt. */
  readonly waitTimeout: number;
  /** Steps of the work, each of which looks whether the lock is still held. */
  readonly steps: number;
  readonly step: number;
  /** Gives up after this time. */
  readonly cancelAfter?: number | undefined;
}

/** The faults of processes, of their clocks, of messages between them and the server, and of servers. */
export const FAULTS = {
  machine: ['pause', 'suspend', 'wall clock'],
  network: ['crash', 'partition', 'slow', 'lossy', 'duplicate'],
  /** The replica takes over, with what the last `WAIT` asked for and nothing later. */
  replica: ['failover'],
  /** One of the nodes hangs, or comes back empty. */
  redlock: ['hang', 'restart'],
} as const;

export type FaultKind = (typeof FAULTS)[keyof typeof FAULTS][number];

export interface Fault {
  readonly at: number;
  readonly kind: FaultKind;
  readonly process: number;
  /** How long it lasts; for a clock, how far it is set. */
  readonly ms: number;
}

/** All that happens in a run. The rest follows from the seed. */
export interface Schedule {
  readonly backing: Backing;
  readonly seed: number;
  readonly processes: number;
  readonly actions: readonly Action[];
  readonly faults: readonly Fault[];
}

/** All actions and faults begin by then. */
const SPAN = 4_000;
const LONGEST_FAULT = 5_000;
export const ALL_FAULTS_END = SPAN + LONGEST_FAULT;
/** Longer than everything together takes. */
export const LONG_WAIT = 60_000;

type Random = () => number;

export function scheduleOf(seed: number, backing: Backing): Schedule {
  const random = seeded(seed);
  const processes = 2 + Math.floor(random() * 2);
  const actions = many(random, 2, 7, () => actionOf(random, processes));
  const faults = many(random, 0, 4, () => faultOf(random, processes, kindsOn(backing)));
  const isSuspended = faults.some(({ kind }) => kind === 'suspend');
  const clocks = isSuspended ? faults : faults.map((fault) => setBack(fault, random));
  const asked = backing === 'redlock' ? actions.map(alone) : actions;
  return { backing, seed, processes, actions: inOrder(asked), faults: inOrder(clocks) };
}

function kindsOn(backing: Backing): readonly FaultKind[] {
  if (backing === 'memory') return FAULTS.machine;
  const ofServers = backing === 'replica' || backing === 'redlock' ? FAULTS[backing] : [];
  // As often as all others together.
  const weighted = Array.from({ length: 4 }, () => ofServers).flat();
  return [...FAULTS.machine, ...FAULTS.network, ...weighted];
}

/** A majority cannot count holders. */
function alone(action: Action): Action {
  return { ...action, permits: undefined };
}

function actionOf(random: Random, processes: number): Action {
  const keys =
    random() < 0.15 ? (random() < 0.5 ? ['a', 'b'] : ['b', 'a']) : [random() < 0.7 ? 'a' : 'b'];
  const kind = random();
  return {
    at: Math.floor(random() * SPAN),
    process: Math.floor(random() * processes),
    keys,
    permits: keys.length === 1 && keys[0] === 'b' && kind < 0.4 ? Infinity : undefined,
    ttl: 1_500 + Math.floor(random() ** 2 * 2_000),
    waitTimeout: kind > 0.9 ? 0 : LONG_WAIT,
    steps: 1 + Math.floor(random() * 5),
    step: Math.floor(random() ** 2 * 1_200),
    cancelAfter: random() < 0.15 ? Math.floor(random() * 2_000) : undefined,
  };
}

function faultOf(random: Random, processes: number, kinds: readonly FaultKind[]): Fault {
  return {
    at: Math.floor(random() * SPAN),
    kind: kinds[Math.floor(random() * kinds.length)]!,
    process: Math.floor(random() * processes),
    ms: 10 + Math.floor(random() ** 2 * LONGEST_FAULT),
  };
}

/** Every second clock. A suspension hides a clock that is set back meanwhile. */
function setBack(fault: Fault, random: Random): Fault {
  return fault.kind === 'wall clock' && random() < 0.5 ? { ...fault, ms: -fault.ms } : fault;
}

function many<T>(random: Random, least: number, most: number, make: () => T): T[] {
  return Array.from({ length: least + Math.floor(random() * (most - least + 1)) }, make);
}

function inOrder<T extends { readonly at: number }>(items: readonly T[]): T[] {
  return items.toSorted((a, b) => a.at - b.at);
}
