import type { ApiFailure, ReleaseAnswer, ReleaseRequest } from '../../api.js';

/** What came of a release, in words. */
export interface Outcome {
  readonly isReleased: boolean;
  readonly words: string;
}

/** Asks the server to release a lock. Never rejects. */
export async function requestRelease(request: ReleaseRequest): Promise<Outcome> {
  try {
    const answer = await fetch('api/release', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-holdfast': '1' },
      body: JSON.stringify(request),
    });
    const body = (await answer.json()) as ReleaseAnswer | ApiFailure;
    return outcomeOf(body);
  } catch {
    const words = 'No answer came. The lock may have been released: see whether it is still held.';
    return { isReleased: false, words };
  }
}

function outcomeOf(body: ReleaseAnswer | ApiFailure): Outcome {
  if ('code' in body) return { isReleased: false, words: `Not released: ${body.message}` };
  if (body.released) return { isReleased: true, words: 'Released.' };
  const words = 'Not released: another holder has the lock by now, or it is free.';
  return { isReleased: false, words };
}
