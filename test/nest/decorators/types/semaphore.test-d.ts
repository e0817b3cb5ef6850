// Compiled by `npm run typecheck`, never run: a line below that is wrongly accepted, or wrongly refused, is a compile error.
/* eslint-disable no-unused-vars, typescript/no-unused-expressions -- only the types matter */
import { CurrentLock, type Lock, LockKey, type LockTimeoutError, Semaphore } from 'nest-holdfast';
import type { SemaphoreOptions } from 'nest-holdfast';
import type { Observable } from 'rxjs';

const FIVE: SemaphoreOptions = { permits: 5 };

class Accepted {
  @Semaphore('export:<tenant>', { permits: 5 })
  async template(tenant: string) {}

  @Semaphore(['a:<a>', 'b:<b>'] as const, FIVE)
  async list(a: string, b: string) {}

  @Semaphore((tenant: string) => `export:${tenant}`, {
    permits: 1,
    waitTimeout: 0,
    locks: 'billing',
  })
  async fewerParameters(tenant: string, pages: number) {
    return pages;
  }

  @Semaphore((tenant: string | number) => [`export:${tenant}`, 'all'], FIVE)
  async widerParameters(tenant: string) {}

  @Semaphore('x', {
    permits: 2,
    onTimeout: (error: LockTimeoutError, id: string) => error.key + id,
  })
  async onTimeout(id: string) {}

  @Semaphore('x', { permits: 2, before: 'pipes', returns: 'observable' })
  stream(): Observable<number> {
    return undefined as never;
  }

  @Semaphore('x', FIVE)
  async *generator() {
    yield 1;
  }

  @Semaphore('x:<name>', FIVE)
  async marks(@LockKey('name') { id }: { id: string }, @CurrentLock() permit?: Lock) {}
}

class Refused {
  // @ts-expect-error how many?
  @Semaphore('x')
  async noOptions() {}

  // @ts-expect-error how many?
  @Semaphore('x', {})
  async noPermits() {}

  // @ts-expect-error a number
  @Semaphore('x', { permits: '5' })
  async permitsAsText() {}

  // @ts-expect-error a holder of a permit is neither reader nor writer
  @Semaphore('x', { permits: 5, mode: 'read' })
  async mode() {}

  // @ts-expect-error a misspelt option
  @Semaphore('x', { permits: 5, tll: 1_000 })
  async misspeltOption() {}

  // @ts-expect-error a method that returns a value at once
  @Semaphore('x', { permits: 5 })
  synchronous(id: string) {
    return id;
  }

  // @ts-expect-error the key function reads a number, the method takes a string
  @Semaphore((id: number) => `x:${id}`, { permits: 5 })
  async wrongParameter(id: string) {}

  // @ts-expect-error the key function returns a number
  @Semaphore((id: number) => id, { permits: 5 })
  async numberAsKey(id: number) {}

  // @ts-expect-error a property
  @Semaphore('x', { permits: 5 })
  property = async () => {};
}
