/**
 * Throws `TypeError`, which begins with `owner`, for `{params.id}`: as mere text, it would be one key for all requests. `paths`
 * are the allowed paths of a placeholder. A `:id` may name a route.
 */
export function refuseBraces(owner: string, source: string, paths: RegExp): void {
  for (const [found, path] of source.matchAll(/\{([\w.-]+)\}/g)) {
    if (!paths.test(path!)) continue;
    throw new TypeError(`${owner}: ${found} in "${source}" is no placeholder. Write <${path}>`);
  }
}
