/** Must not appear in any message. */
export const SECRET = 'hunter2-S3cr3t';

/** Thrown by a value when it is read: callers get it as it is, or as the cause of an error about the option. */
export class OwnError extends Error {
  override readonly name = 'OwnError';
}

const refuse = (): never => {
  throw new OwnError('read');
};

const TRAPS: ProxyHandler<object> = {
  get: refuse,
  has: refuse,
  ownKeys: refuse,
  getPrototypeOf: refuse,
  getOwnPropertyDescriptor: refuse,
};

/** Values of every kind that a program in plain JavaScript may pass. Each call makes new ones. */
const MAKERS: readonly (() => unknown)[] = [
  ...[NaN, Infinity, -Infinity, -0, 0, -1, 0.5, 1, 2 ** 31, 2 ** 53, 1e308, '', ' ', 'read'].map(
    (value) => () => value,
  ),
  ...[null, undefined, true, false, 5n, -(2n ** 70n), Symbol('s'), Symbol.iterator].map(
    (value) => () => value,
  ),
  () => 'x'.repeat(1_000_000),
  () => `redis://user:${SECRET}@host:6379`,
  () => '\u0000\ud800\u202e<id>{0}${a}%',
  () => '__proto__',
  () => [],
  () => [NaN, {}],
  () => ({}),
  () => Object.create(null) as object,
  () => Object.assign(Object.create(null) as object, { ttl: 5_000, toString: 5 }),
  () => new Proxy({}, TRAPS),
  () => new Proxy([], TRAPS),
  () => new Proxy(() => 1, { ...TRAPS, apply: refuse }),
  () => revoked(),
  () => ({ toString: refuse, valueOf: refuse, toJSON: refuse, [Symbol.toPrimitive]: refuse }),
  () => cyclic(),
  () => throwing('ttl'),
  () => throwing('name'),
  () => () => 1,
  () => refuse,
  () => class {},
  () => Object.defineProperty(() => 1, 'name', { get: refuse }),
  () => new Date(NaN),
  () => new Map([['ttl', 5]]),
  () => Buffer.alloc(3),
  () => Promise.resolve(5),
  () => new AbortController().signal,
  () => Object.assign(Object.create({ ttl: 5_000 }) as object, { waitTimeout: 0 }),
];

export function hostileValue(random: () => number): unknown {
  return MAKERS[Math.floor(random() * MAKERS.length)]!();
}

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

function cyclic(): object {
  const made: Record<string, unknown> = {};
  return Object.assign(made, { ttl: made, self: made });
}

function throwing(name: string): object {
  return Object.defineProperty({}, name, { get: refuse, enumerable: true });
}
