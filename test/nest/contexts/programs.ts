import * as fc from 'fast-check';

export const KEYS = ['a', 'b'] as const;
export type Key = (typeof KEYS)[number];

export interface LockStatement {
  readonly do: 'lock' | 'acquire';
  readonly keys: readonly Key[];
  readonly reentrant: boolean;
  readonly mode: 'write' | 'read';
  readonly waitTimeout: number;
  /** Ends with a short ttl while its work goes on. */
  readonly isLost: boolean;
  readonly body: Program;
}

/** The actions of code under locks, and the work that it starts. */
export type Statement =
  | LockStatement
  | { readonly do: 'sleep'; readonly ms: number }
  /** The event loop is blocked, and the first look at a lock finds out that it is lost. */
  | { readonly do: 'block'; readonly ms: number }
  /** On the lock of the innermost `lock` or `acquire` around it, if there is one. */
  | { readonly do: 'release' | 'downgrade' | 'extend' }
  /** A job of a queue that all requests share. */
  | {
      readonly do: 'job';
      readonly queue: number;
      readonly isAwaited: boolean;
      readonly body: Program;
    }
  /** Emits on an emitter that all requests share, or registers a listener. */
  | { readonly do: 'emit' }
  | { readonly do: 'listen'; readonly body: Program }
  /** A listener of the lock service, once. */
  | {
      readonly do: 'event';
      readonly name: 'held' | 'released' | 'reentered' | 'lost';
      readonly body: Program;
    }
  /** A listener of the signal of the lock around it. */
  | { readonly do: 'signal'; readonly body: Program }
  | { readonly do: 'timer'; readonly ms: number; readonly body: Program }
  /** Work that is not awaited. */
  | { readonly do: 'spawn'; readonly body: Program }
  | { readonly do: 'outside'; readonly body: Program }
  | { readonly do: 'parallel'; readonly bodies: readonly Program[] }
  /** Subscribes to a locked Observable that all requests share. The body runs for each value. */
  | { readonly do: 'subscribe'; readonly key: Key; readonly body: Program };

export type Program = readonly Statement[];

const key = fc.constantFrom<Key>('a', 'a', 'a', 'b');
const pause = fc.integer({ min: 1, max: 60 });
const events = fc.constantFrom('held', 'released', 'reentered', 'lost');
const flags = (trueTimes: number, falseTimes: number) =>
  fc.nat(trueTimes + falseTimes - 1).map((number) => number < trueTimes);

/** A statement, and what it is made of. */
function a(kind: Statement['do'], parts: object = {}): fc.Arbitrary<Statement> {
  return fc.record({ do: fc.constant(kind), ...parts }) as fc.Arbitrary<Statement>;
}

/** How often it stands among others. */
function times(weight: number, arbitrary: fc.Arbitrary<Statement>) {
  return { weight, arbitrary };
}

/** Actions that change the lock around them. */
const change = fc.oneof(a('release'), a('downgrade'), a('extend'));
const leaf = fc.oneof(
  times(3, a('sleep', { ms: pause })),
  times(3, change),
  times(1, a('emit')),
  times(1, a('block', { ms: pause })),
);

const { program } = fc.letrec<{ program: Program; statement: Statement }>((tie) => {
  const body = tie('program');
  const lockParts = {
    keys: fc.oneof(
      { weight: 4, arbitrary: key.map((one) => [one]) },
      { weight: 1, arbitrary: fc.constant([...KEYS]) },
    ),
    reentrant: fc.boolean(),
    mode: fc.constantFrom('write', 'write', 'read'),
    waitTimeout: fc.constantFrom(0, 30, 500, 3_000),
    isLost: flags(1, 4),
    body,
  };
  /** The lock is changed beside a nested call that is at work. */
  const nested = a('lock', {
    ...lockParts,
    keys: fc.constant(['a']),
    reentrant: fc.constant(true),
  });
  const beside = fc.tuple(
    a('spawn', { body: fc.tuple(nested) }),
    change,
    a('sleep', { ms: pause }),
  );
  const bodies = fc.array(body, { minLength: 2, maxLength: 3 });
  return {
    program: fc.array(tie('statement'), { minLength: 1, maxLength: 3 }),
    statement: fc.oneof(
      { maxDepth: 4, depthSize: 'small' },
      times(3, leaf),
      times(4, a('lock', lockParts)),
      times(1, a('lock', { ...lockParts, keys: fc.constant(['a']), body: beside })),
      times(2, a('acquire', lockParts)),
      times(2, a('job', { queue: fc.nat(2), isAwaited: fc.boolean(), body })),
      times(1, a('listen', { body })),
      times(1, a('event', { name: events, body })),
      times(2, a('signal', { body })),
      times(1, a('timer', { ms: pause, body })),
      times(2, a('spawn', { body })),
      times(1, a('outside', { body })),
      times(1, a('parallel', { bodies })),
      times(2, a('subscribe', { key, body })),
    ),
  };
});

/** Requests that come in one after the other. */
export const requests: fc.Arbitrary<readonly Program[]> = fc.array(program, {
  minLength: 2,
  maxLength: 4,
});
