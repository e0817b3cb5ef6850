import { warn } from '../core/async/warn.js';
import { inRootContext } from '../core/async/root-context.js';
import type { Cancel, Clock } from '../core/async/clock.js';
import { reasonOf } from '../core/contract/safe-error.js';
import type { LockLogger } from './lock-logger.js';

export type Level = 'error' | 'warn' | 'info';

/** Milliseconds in which a line of one kind is printed at most once. */
const PACE = 10_000;

/** The time after a line was printed. */
interface Pause {
  cancel: Cancel;
  /** Number of lines since. */
  count: number;
  /** The last of them. */
  latest: (() => string) | undefined;
}

/** Prints the first line of a kind at once. After it, every 10 s the last one with the number of those that were left out. */
export class PacedLines {
  readonly #logger: LockLogger;
  readonly #clock: Clock;
  readonly #pauses = new Map<string, Pause>();

  constructor(logger: LockLogger, clock: Clock) {
    this.#logger = logger;
    this.#clock = clock;
  }

  say(level: Level, kind: string, line: () => string): void {
    const pause = this.#pauses.get(kind);
    if (!pause) return this.#print(level, kind, line());
    pause.count++;
    pause.latest = line;
  }

  /** A line that must not be left out. */
  sayAlways(level: Level, line: () => string): void {
    void print(this.#logger, level, line());
  }

  /** Without those that were left out. */
  close(): void {
    for (const { cancel } of this.#pauses.values()) cancel();
    this.#pauses.clear();
  }

  #print(level: Level, kind: string, line: string): void {
    const over = () => inRootContext(() => this.#ended(level, kind));
    const cancel = this.#clock.schedule(PACE, over, true);
    this.#pauses.set(kind, { cancel, count: 0, latest: undefined });
    void print(this.#logger, level, line);
  }

  #ended(level: Level, kind: string): void {
    const { count, latest } = this.#pauses.get(kind)!;
    this.#pauses.delete(kind);
    if (!latest) return;
    const others = count > 1 ? ` (and ${count - 1} more within ${PACE / 1_000} s)` : '';
    this.#print(level, kind, latest() + others);
  }
}

/** A logger that throws or rejects disturbs no lock, and ends no process. */
async function print(logger: LockLogger, level: Level, line: string): Promise<void> {
  try {
    await said(logger, level, line);
  } catch (error) {
    warn(`The logger of locks threw: ${reasonOf(error)}`);
  }
}

/** Its answer, which some loggers give. */
function said(logger: LockLogger, level: Level, line: string): unknown {
  if (level !== 'info') return logger[level](line);
  return logger.info ? logger.info(line) : logger.log?.(line);
}
