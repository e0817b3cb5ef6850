import { ReportedKeys } from '../../../../lib/stores/redlock/list/reported-keys';

const MOST_LISTS = 8;
const MOST_KEYS = 100_000;

describe('The keys that a list has told', () => {
  it('are known in that list, until it is forgotten', () => {
    const keys = new ReportedKeys();
    keys.add('one', 'a');
    expect(['a', 'b'].map((key) => keys.has('one', key))).toEqual([true, false]);
    expect(keys.has('two', 'a')).toBe(false);
    keys.forget('one');
    expect(keys.has('one', 'a')).toBe(false);
  });

  it('are forgotten with the list that was used longest ago', () => {
    const keys = new ReportedKeys();
    for (let list = 0; list < MOST_LISTS; list++) keys.add(`${list}`, 'a');
    keys.add('0', 'b');
    keys.add('one more', 'a');
    expect(keys.has('0', 'a') && keys.has('0', 'b')).toBe(true);
    expect(keys.has('1', 'a')).toBe(false);
    for (let list = 2; list < MOST_LISTS; list++) expect(keys.has(`${list}`, 'a')).toBe(true);
    expect(keys.has('one more', 'a')).toBe(true);
  });

  it('are no more than a hundred thousand', () => {
    const keys = new ReportedKeys();
    for (let key = 0; key <= MOST_KEYS; key++) keys.add('one', `${key}`);
    expect(keys.has('one', `${MOST_KEYS - 1}`)).toBe(true);
    expect(keys.has('one', `${MOST_KEYS}`)).toBe(false);
  });
});
