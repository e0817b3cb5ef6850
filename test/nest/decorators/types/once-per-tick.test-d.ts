// Compiled by `npm run typecheck`, never run: a line below that is wrongly accepted, or wrongly refused, is a compile error.
/* eslint-disable no-unused-vars, typescript/no-unused-expressions -- only the types matter */
import type { LockService } from 'nest-holdfast';
import { of } from 'rxjs';
import { oncePerTick } from 'nest-holdfast/core';
import { OncePerTick } from 'nest-holdfast';

class Accepted {
  @OncePerTick('nightly')
  async plain() {}

  @OncePerTick('nightly', { every: 60_000, tolerance: 5_000, locks: 'billing' })
  async options(name: string, count?: number) {
    return name.length;
  }

  @OncePerTick('nightly', { every: '0 2 * * *', timeZone: 'Europe/Berlin' })
  private promised(): Promise<void> {
    return Promise.resolve();
  }
}

class Refused {
  // @ts-expect-error -- it returns no promise
  @OncePerTick('nightly')
  sync() {}

  // @ts-expect-error -- nor does a stream
  @OncePerTick('nightly')
  stream() {
    return of(1);
  }

  // @ts-expect-error -- a tick is never waited for
  @OncePerTick('nightly', { waitTimeout: 5 })
  async unknownOption() {}

  // @ts-expect-error -- every is a number or an expression
  @OncePerTick('nightly', { every: new Date() })
  async wrongEvery() {}

  // @ts-expect-error -- a tick has a name
  @OncePerTick()
  async nameless() {}

  // @ts-expect-error -- only methods
  @OncePerTick('nightly')
  property = async () => {};
}

declare const locks: LockService;
const result: Promise<number | undefined> = oncePerTick(locks, 'x', { every: 1_000 }, () => 7);
// @ts-expect-error -- the work may not run
const certain: Promise<number> = oncePerTick(locks, 'x', { every: 1_000 }, async () => 7);
// @ts-expect-error -- no other source tells when it is due
void oncePerTick(locks, 'x', {}, () => 7);
