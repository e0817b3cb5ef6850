import { warn } from '../core/async/warn.js';

/** OpenTelemetry's value for one that is unknown. */
export const OTHER = '_OTHER';

/** The values of one label in this process. Each makes series that are never dropped, so there is a maximum number. */
export class LabelValues {
  readonly #known = new Set<string>();
  readonly #most: number;
  readonly #full: () => void;
  #isFull = false;

  /** `full` is called once, with the first value beyond `most`. */
  constructor(most: number, full: () => void = () => undefined) {
    this.#most = most;
    this.#full = full;
  }

  /** `value`, or `_OTHER` for one beyond the maximum number. */
  of(value: string): string {
    if (this.#known.has(value)) return value;
    if (this.#known.size < this.#most) {
      this.#known.add(value);
      return value;
    }
    if (!this.#isFull) this.#full();
    this.#isFull = true;
    return OTHER;
  }
}

const MOST_NAMES = 1_000;
const MOST_ERRORS = 100;

export const lockNames = new LabelValues(MOST_NAMES, () =>
  warn(
    `The metrics of locks have seen ${MOST_NAMES.toLocaleString('en')} names of locks, and count further ones as ${OTHER}: the option ` +
      'name is for a text of which there are few, such as order:<id>, and not for a key',
    'HOLDFAST_METRICS_NAMES',
  ),
);
export const errorTypes = new LabelValues(MOST_ERRORS);
