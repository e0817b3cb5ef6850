import type { ApiFailure, ReleaseAnswer, ReleaseRequest } from '../../api.js';
import { processWords } from '../text/words.js';

/** The outcome of a release, in words. */
export interface Outcome {
  readonly isReleased: boolean;
  readonly words: string;
  /** The token that evicts the holder all the same. */
  readonly nextToken?: string | undefined;
}

/** Asks the server to release a lock, which may take 10 s. Never rejects. */
export async function requestRelease(request: ReleaseRequest): Promise<Outcome> {
  try {
    const answer = await fetch('api/release', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-holdfast': '1' },
      body: JSON.stringify(request),
    });
    const body = (await answer.json()) as ReleaseAnswer | Partial<ApiFailure>;
    return answer.ok
      ? outcomeOf(body as ReleaseAnswer)
      : refused(body as ApiFailure, answer.status);
  } catch {
    const words = 'No answer came. The lock may have been released: see whether it is still held.';
    return { isReleased: false, words };
  }
}

/** A guard of the application answers in its own form. */
function refused({ code, message }: Partial<ApiFailure>, status: number): Outcome {
  const why = code === undefined ? `the server answers with the status ${status}.` : message;
  return { isReleased: false, words: `Not released: ${why}` };
}

function outcomeOf(answer: ReleaseAnswer): Outcome {
  return { isReleased: answer.released, words: wordsOf(answer), nextToken: nextTokenOf(answer) };
}

function wordsOf({ outcome, holder }: ReleaseAnswer): string {
  const words: Readonly<Record<ReleaseAnswer['outcome'], string>> = {
    taken: 'Released: the lock was taken from its holder.',
    released: 'Released: its holder was asked, and has given it back.',
    'not-held': holder
      ? `Not released: ${processWords(holder)} has the lock by now.`
      : 'Not released: the lock is free, or another holder has it by now.',
    unconfirmed:
      'Not released: the process of the holder does not answer, and the store does not know its token exactly.',
  };
  return words[outcome];
}

function nextTokenOf({ outcome, tokenBefore }: ReleaseAnswer): string | undefined {
  return outcome === 'unconfirmed' ? tokenBefore : undefined;
}
