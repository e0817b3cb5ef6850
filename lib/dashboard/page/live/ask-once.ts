import type { Snapshot } from '../../api.js';

/** Milliseconds: a round of the server and the way. */
const LONGEST = 30_000;

/** An answer of `api/snapshot`. Neither: the server cannot be reached. */
export interface OnceAsked {
  readonly snapshot?: Snapshot;
  /** Why there is none, in words. */
  readonly why?: string;
}

/** Asks for one snapshot. */
export async function askOnce(url: string, signal: AbortSignal): Promise<OnceAsked> {
  try {
    const within = AbortSignal.any([signal, AbortSignal.timeout(LONGEST)]);
    const response = await fetch(url, { redirect: 'manual', signal: within });
    const why = refusalOf(response);
    return why === undefined ? { snapshot: (await response.json()) as Snapshot } : { why };
  } catch {
    return {}; // it is away
  }
}

function refusalOf({ ok, status, type, headers }: Response): string | undefined {
  if (type === 'opaqueredirect') return 'The server sends you to another page: sign in again.';
  if (status === 401 || status === 403) return `You may not see this page now (${status}).`;
  if (!ok) return `The server answers with the status ${status}.`;
  const isOurs = headers.get('content-type')?.startsWith('application/json');
  return isOurs ? undefined : 'Something else answers in place of the server: sign in again.';
}
