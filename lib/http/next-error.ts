import { show } from '../core/options/option-values.js';

/** Words by which Express leaves a route, or a router, without an error. */
const NO_ERRORS: readonly unknown[] = ['route', 'router'];

/** What was thrown, for `next` of Express, which goes on to the handler where it is given nothing. */
export function nextError(thrown: unknown): unknown {
  if (thrown && !NO_ERRORS.includes(thrown)) return thrown;
  return new Error(`${show(thrown)} was thrown in place of an error`);
}
