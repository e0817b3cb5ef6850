import { optionError } from '../options/option-error.js';
/** `{params.id}`, `#params.id`, `$params.id`, and `params.id` as a part of its own. */
const ELSEWHERE = /\{([\w.-]+)\}|(?:[#$]|(?:^|[:/]):?)([A-Za-z]+\.[\w.-]+)/g;

/**
 * Throws `TypeError`, which begins with `owner`, for `{params.id}` and its like: as mere text, it would be one key for all requests.
 * `paths` are the allowed paths of a placeholder. A `:id` may name a route.
 */
export function refuseBraces(owner: string, source: string, paths: RegExp): void {
  for (const [found, inBraces, marked] of source
    .replaceAll(/<[^<>]*>/g, '<>')
    .matchAll(ELSEWHERE)) {
    const path = inBraces ?? marked!;
    if (!paths.test(path)) continue;
    const notation = found.replace(/^[:/]+/, '');
    throw optionError(`${owner}: ${notation} in "${source}" is no placeholder. Write <${path}>`);
  }
}
