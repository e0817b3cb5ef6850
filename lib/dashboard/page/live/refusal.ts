/** Why the server does not answer a request, in words; `undefined` where it answers, or cannot be reached. */
export async function refusalOf(url: string): Promise<string | undefined> {
  try {
    const { ok, status, type } = await fetch(url, { redirect: 'manual' });
    if (type === 'opaqueredirect') return 'The server sends you to another page: sign in again.';
    if (status === 401 || status === 403) return `You may not see this page now (${status}).`;
    return ok ? undefined : `The server answers with the status ${status}.`;
  } catch {
    return undefined; // it is away
  }
}
