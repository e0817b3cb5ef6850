import { Injectable, Scope } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import {
  DistributedLock,
  DistributedLockModule,
  LockService,
  type LockStore,
  MemoryLockStore,
  Semaphore,
} from 'nest-holdfast';
import { lockRequest } from 'nest-holdfast/express';

/** A store without shared locks, as SQL has no read locks and Redlock neither. */
function exclusiveOnly(): LockStore {
  const store = new MemoryLockStore();
  return {
    name: 'plain',
    supports: { fencing: true, ttl: true },
    tryAcquire: (request) => store.tryAcquire(request),
  };
}

@Injectable()
class Reads {
  @DistributedLock('stock:<sku>', { mode: 'read' })
  async count(sku: string) {
    return sku;
  }
}

@Injectable({ scope: Scope.REQUEST })
class Counts {
  @Semaphore('export:<tenant>', { permits: 5 })
  async export(tenant: string) {
    return tenant;
  }
}

@Injectable()
class Plain {
  @DistributedLock('stock:<sku>')
  async take(sku: string) {
    return sku;
  }
}

async function start(provider: new () => object, store: LockStore): Promise<void> {
  const testing = await Test.createTestingModule({
    imports: [DistributedLockModule.forRoot({ store })],
    providers: [provider],
  }).compile();
  await (await testing.init()).close();
}

describe('a mode that the store does not have is found at boot', () => {
  it.each([
    [Reads, /"plain" has no read locks \(key "@DistributedLock on Reads\.count"\)/],
    [Counts, /"plain" has no semaphores \(key "@Semaphore on Counts\.export"\)/],
  ])('%p', async (provider, message) => {
    await expect(start(provider, exclusiveOnly())).rejects.toMatchObject({
      code: 'LOCK_UNSUPPORTED',
      message: expect.stringMatching(message),
    });
  });

  it.each([Reads, Counts, Plain])('and no other: %p', async (provider) => {
    await start(provider, new MemoryLockStore());
  });

  it('and no exclusive lock', async () => {
    await start(Plain, exclusiveOnly());
  });

  it('on Express when the middleware is made', () => {
    const locks = new LockService(exclusiveOnly());
    expect(() => lockRequest('a', { locks, mode: 'read' })).toThrow(/"plain" has no read locks/);
    expect(() => lockRequest('a', { locks, permits: 2 })).toThrow(/"plain" has no semaphores/);
  });
});
