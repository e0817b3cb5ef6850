import type { Logger } from '@nestjs/common';
import { systemClock } from '../../core/async/clock.js';
import { inRootContext } from '../../core/async/root-context.js';
import type { Cancel } from '../../core/async/clock.js';

/** Milliseconds after the start: `NestFactory.createApplicationContext` starts an application before `main.ts` can do anything with it. */
const SETTLED_AFTER = 1_000;

/**
 * Warns where nothing of the process listens to SIGTERM: it then ends before Nest can free a lock. The result cancels that. A test
 * runner sets NODE_ENV, and ends its applications itself.
 */
export function warnWithoutShutdownHooks(logger: Logger): Cancel {
  if (process.env['NODE_ENV'] === 'test') return () => undefined;
  const look = () => {
    if (process.listenerCount('SIGTERM') > 0) return;
    logger.warn(
      'Nothing listens to SIGTERM, so held locks stay taken for their ttl when it ends the process: call app.enableShutdownHooks()',
    );
  };
  return inRootContext(() => systemClock.schedule(SETTLED_AFTER, look, true));
}
