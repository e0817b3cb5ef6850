import { Injectable } from '@nestjs/common';
import { DistributedLock, LockService } from 'nest-holdfast';
import { startServices } from '../support/test-app.js';

/** As a query of Mongoose or Knex: it runs when it is awaited, and can be iterated over as well. */
class Query implements PromiseLike<string> {
  constructor(readonly run: () => Promise<string>) {}

  // oxlint-disable-next-line unicorn/no-thenable -- that is what a query of these libraries is
  then<A, B>(
    done?: ((value: string) => A | PromiseLike<A>) | null,
    failed?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return this.run().then(done, failed);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<string> {
    yield await this.run();
  }
}

@Injectable()
class Orders {
  constructor(readonly locks: LockService) {}

  @DistributedLock('order:<id>')
  find(id: string): Promise<string> {
    const held = async () =>
      `${id} while held: ${(await this.locks.inspect(`order:${id}`)) !== undefined}`;
    return new Query(held) as unknown as Promise<string>;
  }
}

it('a query that can be awaited runs under the lock of the method that returns it, also where it is iterable', async () => {
  await using app = await startServices([Orders]);
  expect(await app.get(Orders).find('7')).toBe('7 while held: true');
  expect(await app.isFree('order:7')).toBe(true);
});
