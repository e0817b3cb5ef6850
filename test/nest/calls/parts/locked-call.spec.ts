import { getEventListeners } from 'node:events';
import { DistributedLock } from 'nest-holdfast';
import { useLocks } from 'nest-holdfast/testing';
import { lastValueFrom, of, throwError } from 'rxjs';
import type { Observable } from 'rxjs';
import { errorOf } from '../../../core/support/outcome';

const { signal } = new AbortController();

class Jobs {
  @DistributedLock('job', { signal, onTimeout: 'throw', returns: 'observable' })
  values(): Observable<number> {
    return of(1, 2);
  }

  @DistributedLock('job', { signal, onTimeout: 'skip', returns: 'observable' })
  fails(): Observable<number> {
    return throwError(() => new Error('failed'));
  }

  @DistributedLock('job', { signal, onTimeout: () => 5 })
  async promise() {
    return 3;
  }
}

describe('A call of a locked method', () => {
  const jobs = new Jobs();
  beforeAll(() => void useLocks(jobs));

  it('leaves no listener at the signal that may end its wait', async () => {
    expect(await lastValueFrom(jobs.values())).toBe(2);
    await expect(lastValueFrom(jobs.fails())).rejects.toThrow('failed');
    expect(await jobs.promise()).toBe(3);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('may do nothing else when its key stays held', () => {
    const decorate = () => DistributedLock('a', { onTimeout: 'wait' as never });
    const apply = () => decorate()(Jobs.prototype, 'x', { value: async () => 1 });
    expect(errorOf(apply).message).toMatch(/onTimeout must be 'throw', 'skip' or a function/);
  });
});
