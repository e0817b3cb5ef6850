import type { HolderAnswer } from 'nest-holdfast/core';
import { agreedAnswer } from '../../../../lib/stores/redlock/evict/agreed-answer';

type State = HolderAnswer['state'];

const stateOf = (...states: State[]) =>
  agreedAnswer(
    states.map((state) => ({ state })),
    2,
  ).state;

describe('The joint answer of three nodes about a holder', () => {
  it.each<[joint: State, ...States: State[]]>([
    ['taken', 'taken', 'taken', 'other'],
    ['taken', 'taken', 'taken'],
    ['held', 'taken', 'held', 'other'],
    ['held', 'held', 'held', 'taken'],
    ['shared', 'shared', 'held', 'shared'],
    ['shared', 'shared', 'shared', 'unconfirmed'],
    ['unconfirmed', 'held', 'unconfirmed', 'other'],
    ['unconfirmed', 'taken', 'unconfirmed', 'shared'],
    ['unconfirmed', 'unconfirmed', 'unconfirmed'],
    ['other', 'taken', 'other', 'shared'],
    ['other', 'held', 'other', 'other'],
    ['other', 'unconfirmed', 'other', 'shared'],
    ['other', 'other', 'other', 'other'],
  ])('is `%s` of `%s`, `%s` and `%s`', (joint, ...states) => {
    expect(stateOf(...states)).toBe(joint);
    expect(stateOf(...states.toReversed())).toBe(joint);
  });

  it('names the holder that most nodes name, and the largest bound of its token', () => {
    const answer = agreedAnswer(
      [
        { state: 'other', holder: 'b', fencingToken: 900n },
        { state: 'held', holder: 'a', fencingToken: 6n },
        { state: 'held', holder: 'a', fencingToken: 8n },
        { state: 'held', holder: 'a' },
        { state: 'other' },
      ],
      3,
    );
    expect(answer).toEqual({ state: 'held', holder: 'a', fencingToken: 8n });
  });

  it('names none, and no token, where no node does', () => {
    const none = { state: 'other', holder: undefined, fencingToken: undefined };
    expect(agreedAnswer([{ state: 'other' }, { state: 'other' }], 2)).toEqual(none);
    const unknown = { state: 'held', holder: 'a' } as const;
    expect(agreedAnswer([unknown, unknown], 2)).toEqual({ ...unknown, fencingToken: undefined });
  });
});
