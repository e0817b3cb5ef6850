import { useEffect, useState } from 'preact/hooks';
import type { LockRow, SnapshotQuery } from '../../api.js';

/** The view that the hash of the URL names: the filter, and the lock whose page is open. */
export type Route = SnapshotQuery;

export type Go = (route: Route, how?: 'push' | 'replace') => void;

const STATES: readonly LockRow['state'][] = ['held', 'jeopardy', 'overdue'];

export function routeOf(hash: string): Route {
  const found = new URLSearchParams(hash.replace(/^#/, ''));
  const state = STATES.find((each) => each === found.get('state'));
  return {
    search: found.get('search') || undefined,
    state,
    name: found.get('name') || undefined,
    key: found.get('key') ?? undefined,
  };
}

/** `search=order&state=jeopardy`: of the hash, and of the requests to the server. */
export function queryOf({ search, state, name, key }: Route): string {
  const query = new URLSearchParams();
  for (const [field, value] of Object.entries({ search, state, name, key }))
    if (value !== undefined) query.set(field, value);
  return query.toString();
}

/** With the path: a hash alone would be relative to `<base href>`. */
export function hrefOf(route: Route): string {
  return `${location.pathname}${location.search}#${queryOf(route)}`;
}

export function isFiltered({ search, state, name }: Route): boolean {
  return search !== undefined || state !== undefined || name !== undefined;
}

/** Changes a part of the filter, as the URL has it: what is typed or clicked may be ahead of what is drawn. */
export function refilter(go: Go, part: Route): void {
  go({ ...routeOf(location.hash), ...part }, 'replace');
}

/** The route of the URL, and what goes to another one. */
export function useRoute(): readonly [Route, Go] {
  const [hash, setHash] = useState(location.hash);
  useEffect(() => {
    const read = () => setHash(location.hash);
    addEventListener('popstate', read);
    return () => removeEventListener('popstate', read);
  }, []);
  const go: Go = (route, how = 'push') => {
    if (how === 'push') history.pushState(undefined, '', hrefOf(route));
    else history.replaceState(undefined, '', hrefOf(route));
    setHash(location.hash);
  };
  return [routeOf(hash), go];
}
