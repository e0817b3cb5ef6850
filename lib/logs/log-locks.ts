import { systemClock } from '../core/async/clock.js';
import { reasonOf } from '../core/contract/safe-error.js';
import type { LockEventMap } from '../core/events/lock-events.js';
import type { LockService } from '../core/lock.service.js';
import type { LockAuditEvent } from '../core/events/attempt-events.js';
import { quoted } from '../core/text/printable.js';
import { HiddenKeys } from './hidden-keys.js';
import { checkLogging } from './lock-logger.js';
import type { LockLogger, LockLogOptions } from './lock-logger.js';
import { PacedLines } from './paced-lines.js';
import type { Level } from './paced-lines.js';
import { StoreRecovery } from './store-recovery.js';

/** The part of an event that a line is made of. */
interface KeyedEvent {
  readonly keys: readonly string[];
  readonly name?: string | undefined;
}

type Listeners = { [Name in keyof LockEventMap]?: (event: LockEventMap[Name][0]) => void };

/**
 * Logs what goes wrong with locks: failures of the store, lost locks, locks in jeopardy or overdue, releases that were not
 * confirmed, nodes that are away, settings of a server that lose locks. And when the store answers again.
 *
 * Each kind at most once for each lock name and 10 s, with the number of those that were left out; without a name, once for all.
 * No passwords. Calling the result ends it. Throws `TypeError` for what is no logger.
 *
 * ```ts
 * logLocks(locks, pino());
 * ```
 */
export function logLocks(
  locks: LockService,
  logger: LockLogger,
  options: LockLogOptions = {},
): () => void {
  checkLogging(logger, options);
  const { redactKey, clock = systemClock } = options;
  const lines = new PacedLines(logger, clock);
  const recovery = new StoreRecovery(locks.events, clock, (line) => lines.say('info', 'back', () => line)); // prettier-ignore
  const listeners = listenersOf(lines, new HiddenKeys(redactKey), recovery);
  const events = Object.entries(listeners) as [keyof LockEventMap, never][];
  for (const [name, listener] of events) locks.events.on(name, listener);
  return () => {
    for (const [name, listener] of events) locks.events.off(name, listener);
    recovery.close();
    lines.close();
  };
}

/** The actor, the tool, and the reason. `lock` is missing for what is about all locks. */
function audited({ actor, via, holder, reason }: LockAuditEvent, lock?: string): string {
  const part = (words: string, text: string | undefined) => (text ? words + quoted(text) : '');
  const who = `${part(' by ', actor)}${part(' with ', via)}${part(': ', reason)}`;
  if (lock === undefined) return `Locks of${part(' ', holder)} are being drained${who}`;
  return `Lock ${lock} was taken from its holder${part(' ', holder)}${who}`;
}

function listenersOf(lines: PacedLines, keys: HiddenKeys, recovery: StoreRecovery): Listeners {
  const say = (level: Level, kind: string, event: KeyedEvent, text: () => string) =>
    lines.say(level, `${kind} ${event.name ?? ''}`, () => keys.within(text(), event.keys));
  const lock = ({ keys: all }: KeyedEvent) => `Lock ${keys.shown(all)}`;
  return {
    failed: (event) => {
      recovery.failed(event.store);
      say('error', 'failed', event, () => reasonOf(event.error));
    },
    lost: (event) => say('error', 'lost', event, () => reasonOf(event.error)),
    releaseFailed: (event) => {
      recovery.failed(event.store);
      const text = () => `${lock(event)}: its release was not confirmed, its ttl frees it: ${reasonOf(event.error)}`; // prettier-ignore
      say('error', 'releaseFailed', event, text);
    },
    jeopardy: (event) => {
      recovery.failed(event.store);
      const text = () => `${lock(event)} is in jeopardy, lost in ${Math.round(event.remaining)} ms unless it is extended: ${reasonOf(event.error)}`; // prettier-ignore
      say('warn', 'jeopardy', event, text);
    },
    overdue: (event) => say('warn', 'overdue', event, () => `${lock(event)} is overdue: it is held for ${Math.round(event.heldFor)} ms`), // prettier-ignore
    node: ({ node, state, reason, store }) =>
      lines.say(state === 'recovered' ? 'info' : 'warn', `node ${node} ${state}`, () => `Node ${node} of lock store "${store}" ${state === 'recovered' ? 'has recovered' : `is ${state}`}: ${reasonOf(reason)}`), // prettier-ignore
    audit: (event) =>
      lines.sayAlways('warn', () => {
        const named = event.key === undefined ? [] : [event.key];
        return keys.within(audited(event, named.length ? keys.shown(named) : undefined), named);
      }),
    warning: ({ code, message }) => lines.say('warn', message, () => `${message} [${code}]`),
  };
}
