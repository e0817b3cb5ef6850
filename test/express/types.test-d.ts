// Compiled by `npm run typecheck`, never run: a line below that is wrongly accepted, or wrongly refused, is a compile error.
import express from 'express';
import type { ErrorRequestHandler, Request, RequestHandler } from 'express';
import express4 from 'express4';
import type { LockService } from 'nest-holdfast/core';
import { lockErrorHandler, lockRequest } from 'nest-holdfast/express';

export function accepted(locks: LockService): void {
  const middleware: RequestHandler = lockRequest('doc', { locks, mode: 'read' });
  const handler: ErrorRequestHandler = lockErrorHandler({ busyStatus: 423, retryAfter: 5 });
  for (const app of [express(), express4()]) {
    app.use(middleware, lockRequest(['a', 'b'], { locks, onError: 'respond' }));
    app.get('/:id', lockRequest('doc:<params.id>', { locks, permits: 5 }), (request) => {
      request.params.id.toUpperCase(); // the route's path still says what params has
    });
    app.get(
      '/:id',
      lockRequest(({ params }: Request<{ id: string }>) => `doc:${params.id}`, { locks }),
    );
    app.use(lockErrorHandler(), handler);
  }
}

export function refused(locks: LockService, signal: AbortSignal): void {
  // @ts-expect-error -- locks is missing
  lockRequest('doc', {});
  // @ts-expect-error -- no such option
  lockRequest('doc', { locks, timeout: 5 });
  // @ts-expect-error -- the request has its own
  lockRequest('doc', { locks, signal });
  // @ts-expect-error -- no such mode
  lockRequest('doc', { locks, mode: 'shared' });
  // @ts-expect-error -- no such answer
  lockRequest('doc', { locks, onError: 'throw' });
  // @ts-expect-error -- a key is text
  lockRequest(() => 42, { locks });
  // @ts-expect-error -- no such option
  lockErrorHandler({ onError: 'respond' });
  // @ts-expect-error -- a status is a number
  lockErrorHandler({ busyStatus: '409' });
}
