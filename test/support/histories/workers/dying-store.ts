import type { Lease, LockStore } from 'nest-holdfast';

type Answer = 'granted' | 'raised' | 'extended' | 'released';

/** The step of a lock that is held in both stores at which its process dies. */
export interface Death {
  readonly at: 'from' | 'to';
  /** What the store has answered. `raised`: `from` has granted the key once more, with the token of `to` as its floor. */
  readonly once: Answer;
}

/** Answers of that kind that come through before. */
const SURVIVED = 1;

/** A store whose process is killed by SIGKILL, between one of its answers and whatever the process would do next. */
export function dyingStore(store: LockStore, { at, once }: Death): LockStore {
  let answers = 0;
  const die = (answer: Answer): void => {
    if (answer === once && ++answers > SURVIVED) process.kill(process.pid, 'SIGKILL');
  };
  return withMembers(store, {
    async tryAcquire(request) {
      const lease = await store.tryAcquire(request);
      const isRaised = at === 'from' && request.fencingFloor !== undefined;
      if (lease) die(isRaised ? 'raised' : 'granted');
      return lease && mortalLease(lease, die);
    },
    ...(store.acquire && {
      async acquire(request, signal) {
        const lease = await store.acquire!(request, signal);
        die('granted');
        return mortalLease(lease, die);
      },
    }),
  });
}

function mortalLease(lease: Lease, die: (answer: Answer) => void): Lease {
  const told = async (what: Answer, answer: Promise<boolean>) => {
    const isOurs = await answer;
    die(what);
    return isOurs;
  };
  return withMembers(lease, {
    extend: (ttl: number) => told('extended', lease.extend(ttl)),
    release: (isValid?: () => boolean) => told('released', lease.release(isValid)),
  });
}

/** All else is that of `target`, whose private members no other object has. */
function withMembers<T extends object>(target: T, own: Partial<T>): T {
  return new Proxy(target, {
    get(_, name) {
      if (Object.hasOwn(own, name)) return own[name as keyof T];
      const member: unknown = Reflect.get(target, name, target);
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
}
