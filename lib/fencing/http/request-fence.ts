import { optionError } from '../../core/options/option-error.js';
import { timeOfDay } from '../../core/async/clock.js';
import { httpStatus } from '../../http/lock-status.js';
import { KeyTemplate } from '../../core/keys/key-template.js';
import { refuseBraces } from '../../core/keys/brace-notation.js';
import { LockError } from '../../core/contract/lock-errors.js';
import type { LockErrorCode } from '../../core/contract/lock-errors.js';
import { checkKey } from '../../core/keys/lock-keys.js';
import { show } from '../../core/options/option-values.js';
import { withLabel } from '../../core/text/with-label.js';
import { a, aFunction, needed, oneOf } from '../../core/options/option-rules.js';
import type { OptionRules } from '../../core/options/option-rules.js';
import { quoted } from '../../core/text/printable.js';
import type { FencedHolder } from '../holder/fenced-holder.js';
import type { TokenGate } from '../gate/fencing-gate.js';
import { tokenIn } from './fencing-header.js';
import type { IncomingHeaders } from './fencing-header.js';
import { FencingTokenError } from '../holder/fencing-errors.js';

export interface RequestFenceOptions {
  /** Remembers the largest token of each key: a `FencingGate`, or for several instances a `RedisFencingGate`. */
  readonly gate: TokenGate;
  /**
   * The answer to a request without the header: it is refused with 428 (`'refuse'`), or goes on without a fence (`'pass'`),
   * for as long as not every caller sends one.
   * @default 'refuse'
   */
  readonly missing?: 'refuse' | 'pass' | undefined;
  /**
   * The largest token that a lock can have by now, asked for each request. A larger one is refused with 400: it is forged, and
   * would shut out every rightful holder.
   * @default the time of day in microseconds and an hour, which no store of this package gets ahead of
   */
  readonly largestToken?: (() => bigint) | undefined;
}

const HOUR = 3_600_000;
const plausible = () => BigInt(Math.ceil(timeOfDay() + HOUR)) * 1_000n;

export const FENCE_RULES: OptionRules<RequestFenceOptions> = {
  gate: needed(a('a FencingGate or a RedisFencingGate', isGate)),
  missing: oneOf('refuse', 'pass'),
  largestToken: aFunction,
};

/** A template over the request, or a function of it. */
export type FenceKey<Request> = string | ((request: Request) => string);

/** The part that Express and Nest share. */
export class RequestFence<Request> {
  readonly #keyOf: (request: Request) => string;
  readonly #gate: TokenGate;
  readonly #missing: 'refuse' | 'pass';
  readonly #largestToken: () => bigint;

  /** Of options that are checked. `scope` gives the values that a template's names stand for. Throws `TypeError` for the key. */
  constructor(
    owner: string,
    key: FenceKey<Request>,
    options: RequestFenceOptions,
    scope: (request: Request) => object,
  ) {
    const { gate, missing = 'refuse', largestToken = plausible } = options;
    this.#keyOf = keyFunction(owner, key, scope);
    this.#gate = gate;
    this.#missing = missing;
    this.#largestToken = largestToken;
  }

  /**
   * Resolves with what the request writes under, `undefined` when it passes without a token. Rejects with
   * `LockStaleError`, `FencingTokenError`, `LockKeyError`, or with the error of the gate.
   */
  async admit(
    request: Request,
    headers: IncomingHeaders | undefined,
  ): Promise<FencedHolder | undefined> {
    const key = this.#keyOf(request);
    checkKey(key);
    const fencingToken = this.#tokenIn(headers, key);
    if (fencingToken === undefined) return undefined;
    checkPlausible(key, fencingToken, this.#largestToken());
    const holder = { key, fencingToken };
    await this.#gate.enter(holder);
    return holder;
  }

  #tokenIn(headers: IncomingHeaders | undefined, key: string): bigint | undefined {
    try {
      return tokenIn(headers, key);
    } catch (error) {
      const { reason } = error as FencingTokenError;
      if (reason === 'missing' && this.#missing === 'pass') return undefined;
      throw error;
    }
  }
}

function checkPlausible(key: string, token: bigint, largest: bigint): void {
  if (token <= largest) return;
  const message = `The fencing token ${token} of the request for ${quoted(key)} is larger than that of any lock can be: ${largest} at most`;
  throw new FencingTokenError(key, 'implausible', message);
}

const FAULTS_OF_REQUESTS: readonly LockErrorCode[] = [
  'LOCK_STALE',
  'LOCK_TOKEN_INVALID',
  'LOCK_KEY_INVALID',
];

/** The status for an error of `admit`. `undefined`: it is no fault of the request. */
export function fenceStatus(error: unknown): number | undefined {
  if (!(error instanceof LockError) || !FAULTS_OF_REQUESTS.includes(error.code)) return undefined;
  return httpStatus(error);
}

function keyFunction<Request>(
  owner: string,
  key: FenceKey<Request>,
  scope: (request: Request) => object,
): (request: Request) => string {
  if (typeof key === 'function') return key;
  if (typeof key !== 'string') {
    throw optionError(`${owner}: the key must be a template or a function, got ${show(key)}`);
  }
  const template = withLabel(owner, () => new KeyTemplate(key));
  refuseBraces(owner, key, /^(request\.)?(params|query|body|headers)\./);
  return (request) => {
    const values = scope(request) as Readonly<Record<string, unknown>>;
    return template.render((root) => values[root]);
  };
}

function isGate(value: unknown): boolean {
  return typeof (value as Partial<TokenGate> | null | undefined)?.enter === 'function';
}
