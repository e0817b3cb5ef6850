import { AsyncLocalStorage } from 'node:async_hooks';
import { Injectable } from '@nestjs/common';
import { DistributedLock, LockService, MemoryLockStore } from 'nest-holdfast';
import { FakeClock } from 'nest-holdfast/testing';
import { lastValueFrom, Observable, of } from 'rxjs';
import { startServices } from '../support/test-app.js';

const request = new AsyncLocalStorage<string>();

/** The caller of `onTimeout`: its request, and the lock that it holds. */
function whoAsks(this: Jobs): string {
  return `${request.getStore()} under ${this.locks.current()?.key}`;
}

const WAIT = { waitTimeout: 100 };

@Injectable()
class Jobs {
  constructor(readonly locks: LockService) {}

  @DistributedLock('job', { ...WAIT, onTimeout: whoAsks })
  async promise(): Promise<string> {
    return 'ran';
  }

  @DistributedLock('job', { ...WAIT, onTimeout: whoAsks })
  observable(): Observable<string> {
    return of('ran');
  }

  @DistributedLock('job', {
    ...WAIT,
    async *onTimeout(this: Jobs) {
      yield whoAsks.call(this);
    },
  })
  async *iterable(): AsyncGenerator<string> {
    yield 'ran';
  }
}

const CALLS: Record<string, (jobs: Jobs) => Promise<unknown>> = {
  promise: (jobs) => jobs.promise(),
  observable: (jobs) => lastValueFrom(jobs.observable()),
  iterable: async (jobs) => (await jobs.iterable().next()).value,
};

describe('onTimeout', () => {
  it.each(Object.keys(CALLS))(
    'runs in the context of the call that it stands for, whoever has armed the timer: %s',
    async (kind) => {
      const clock = new FakeClock();
      const store = new MemoryLockStore(clock);
      await using app = await startServices([Jobs], { store, clock });
      const { locks } = app;
      const call = CALLS[kind]!;
      await request.run('A', () =>
        locks.withLock(['strange', 'job'], async () => {
          const b = request.run('B', () =>
            locks.outside(() => locks.withLock('own', () => call(app.get(Jobs)))),
          );
          await clock.advance(100);
          expect(await b).toBe('B under own');
        }),
      );
    },
  );
});
