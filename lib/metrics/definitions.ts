/** A metric, by its name in OpenTelemetry. Prometheus has the same under the names that its exporters make of these. */
export interface Metric {
  readonly name: string;
  /** `level`: how many there are now. */
  readonly kind: 'histogram' | 'counter' | 'level';
  /** In UCUM. */
  readonly unit: string;
  readonly description: string;
  /** All that a series may have. No attribute is a key: there are too many. */
  readonly attributes: readonly string[];
}

export type Attributes = Readonly<Record<string, string>>;

export const NAME = 'holdfast.lock.name';
export const MODE = 'holdfast.lock.mode';
export const STORE = 'holdfast.store.name';
export const OUTCOME = 'holdfast.acquire.outcome';
export const END = 'holdfast.hold.end';
export const LOCK_STATE = 'holdfast.lock.state';
export const NODE_STATE = 'holdfast.node.state';
export const ERROR = 'error.type';

const OF_LOCK = [NAME, MODE, STORE];

export const METRICS = {
  acquireDuration: {
    name: 'holdfast.lock.acquire.duration',
    kind: 'histogram',
    unit: 's',
    description: 'Time from a call for a lock to its grant, or to its end without one.',
    attributes: [...OF_LOCK, OUTCOME, ERROR],
  },
  holdDuration: {
    name: 'holdfast.lock.hold.duration',
    kind: 'histogram',
    unit: 's',
    description: 'Time from the grant of a lock to its release or its loss.',
    attributes: [...OF_LOCK, END, ERROR],
  },
  lockCount: {
    name: 'holdfast.lock.count',
    kind: 'level',
    unit: '{lock}',
    description: 'Locks that this process holds.',
    attributes: [...OF_LOCK, LOCK_STATE],
  },
  pendingRequests: {
    name: 'holdfast.lock.pending_requests',
    kind: 'level',
    unit: '{request}',
    description: 'Calls of this process that wait for a lock.',
    attributes: OF_LOCK,
  },
  extensionFailures: {
    name: 'holdfast.lock.extension.failures',
    kind: 'counter',
    unit: '{failure}',
    description: 'Failed extensions. The lock is lost when none succeeds within its ttl.',
    attributes: [...OF_LOCK, ERROR],
  },
  releaseFailures: {
    name: 'holdfast.lock.release.failures',
    kind: 'counter',
    unit: '{failure}',
    description: 'Releases that the store did not confirm. The ttl frees the key.',
    attributes: [...OF_LOCK, ERROR],
  },
  nodeCount: {
    name: 'holdfast.node.count',
    kind: 'level',
    unit: '{node}',
    description: 'Nodes of a store that has several.',
    attributes: [STORE, NODE_STATE],
  },
} as const satisfies Readonly<Record<string, Metric>>;

export type MetricId = keyof typeof METRICS;

/** Those of one kind. */
export type MetricOf<Kind extends Metric['kind']> = {
  [Id in MetricId]: (typeof METRICS)[Id]['kind'] extends Kind ? Id : never;
}[MetricId];

export const LEVELS = [
  'lockCount',
  'pendingRequests',
  'nodeCount',
] as const satisfies readonly MetricOf<'level'>[];

/** Upper bounds of the buckets of a histogram, in seconds: from an uncontended lock to a default `waitTimeout` and beyond. */
export const BUCKETS = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60,
];
