import { getEventListeners } from 'node:events';
import { StreamableFile } from '@nestjs/common';
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

  @DistributedLock('job')
  async body(body: unknown) {
    return body;
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

  it.each([
    ['a file', new StreamableFile(Buffer.from('x'))],
    ['a Response', new Response('x')],
  ])('that is no handler refuses %s, which would be read without the lock', async (name, body) => {
    await expect(jobs.body(body)).rejects.toThrow(`@DistributedLock on Jobs.body returned ${name}, which is sent under the lock only where Nest calls`); // prettier-ignore
  });

  it('may return a Response without a body, or whose body it has read', async () => {
    const read = new Response('x');
    await read.text();
    for (const each of [read, new Response(null)]) expect(await jobs.body(each)).toBe(each);
  });

  it('may do nothing else when its key stays held', () => {
    const decorate = () => DistributedLock('a', { onTimeout: 'wait' as never });
    const apply = () => decorate()(Jobs.prototype, 'x', { value: async () => 1 });
    expect(errorOf(apply).message).toMatch(/onTimeout must be 'throw', 'skip' or a function/);
  });
});
