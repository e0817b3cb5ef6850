import type { HolderAnswer } from '../../../core/contract/lock-store.js';
import { largestToken } from '../../../core/store/many-keys.js';

/** The joint answer of the nodes that answered: the answer of a majority of all, else that the named holder has no majority. */
export function agreedAnswer(answers: readonly HolderAnswer[], majority: number): HolderAnswer {
  const count = (...states: HolderAnswer['state'][]) =>
    answers.filter(({ state }) => states.includes(state)).length;
  const seen = seenBy(answers);
  if (count('taken') >= majority) return { ...seen, state: 'taken' };
  if (count('held', 'taken') >= majority) return { ...seen, state: 'held' };
  if (count('shared') >= majority) return { ...seen, state: 'shared' };
  if (count('held', 'taken', 'unconfirmed') >= majority) return { ...seen, state: 'unconfirmed' };
  return { ...seen, state: 'other' };
}

/** The holder that most of them name, and the largest bound of its token. */
function seenBy(answers: readonly HolderAnswer[]): Omit<HolderAnswer, 'state'> {
  const holders = answers.flatMap(({ holder }) => holder ?? []);
  const votes = (holder: string) => holders.filter((each) => each === holder).length;
  const holder = holders.toSorted((a, b) => votes(b) - votes(a))[0];
  const bounds = answers.filter((each) => each.holder === holder);
  const tokens = bounds.flatMap(({ fencingToken }) => fencingToken ?? []);
  return { holder, fencingToken: tokens.length > 0 ? largestToken(tokens) : undefined };
}
