import { Controller, Get, Injectable } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { DistributedLock, DistributedLockModule, MemoryLockStore } from 'nest-holdfast';

describe('an application without DistributedLockModule', () => {
  @Injectable()
  class SomeJobs {
    @DistributedLock('x')
    async run() {}
  }

  @Injectable()
  class NamedJobs {
    @DistributedLock('x', { locks: 'billing' })
    async run() {}
  }

  @Controller()
  class Handlers {
    @Get()
    @DistributedLock('x')
    async get() {}
  }

  it('does not start, and says what to do', async () => {
    for (const metadata of [{ providers: [SomeJobs] }, { controllers: [Handlers] }]) {
      await expect(Test.createTestingModule(metadata).compile()).rejects.toThrow(
        /import DistributedLockModule\.forRoot\(\)/,
      );
    }
  });

  it('names the instance that is missing', async () => {
    const testing = Test.createTestingModule({
      imports: [DistributedLockModule.forRoot({ store: new MemoryLockStore() })],
      providers: [NamedJobs],
    });
    await expect(testing.compile()).rejects.toThrow(
      "import DistributedLockModule.forRoot({ name: 'billing' })",
    );
  });
});
