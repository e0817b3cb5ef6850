import { type Entry, type Granted, type ProcessHistory, READERS, violations } from './history.js';
import { seeded } from './history-random.js';
import { wokenTogether } from './history-wake-ups.js';

const KEY = 'a';

const CLAIMED: Entry = { is: 'claimed', key: KEY };
const CONTENDED: Entry = { is: 'contended', key: KEY };
const RENEWING: Entry = { is: 'renewing', key: KEY };
const AWAITED: Entry = { is: 'renewed', key: KEY, isContended: true };
const RETURNED: Entry = { is: 'returned', key: KEY };

function asked(ask: number, key = KEY): Entry {
  return { is: 'asked', ask, key, at: 0 };
}

/** A grant whose number is its ask and its token. */
function granted(number: number, at: number, until: number, rest: Partial<Granted> = {}): Entry {
  return { is: 'granted', ask: number, key: KEY, token: number, at, until, from: 'line', ...rest };
}

function released(ask: number, at: number): Entry {
  return { is: 'released', ask, at };
}

/** A grant that lives as long as a session, and when its holder saw that it still had the lock. */
function session(number: number, at: number, ...seen: readonly number[]): Entry[] {
  const sights = seen.map((each): Entry => ({ is: 'seen', ask: number, at: each }));
  return [granted(number, at, 0, { until: undefined }), ...sights];
}

/** A sharer of the key from `at` to `to`. */
function shares(ask: number, at: number, to: number, permits = READERS): Entry[] {
  const grant: Entry = { is: 'granted', ask, key: KEY, permits, at, from: 'attempt' };
  return [grant, { is: 'seen', ask, at: to }, released(ask, to)];
}

function downgraded(ask: number, at: number): Entry {
  return { is: 'downgraded', ask, at };
}

function wants(ask: number, permits?: number): Entry {
  return { is: 'asked', ask, key: KEY, permits, at: 0 };
}

function of(process: string, entries: readonly Entry[], killedAt?: number): ProcessHistory {
  return { process, entries, killedAt };
}

describe('The history checker accepts', () => {
  it.each<[string, ProcessHistory[]]>([
    ['one after the other', [of('p', [granted(1, 10, 90), released(1, 20)]), of('q', [granted(2, 20, 90)])]], // prettier-ignore
    ['two keys at once', [of('p', [granted(1, 10, 90)]), of('q', [granted(2, 20, 90, { key: 'b' })])]], // prettier-ignore
    ['a grant after a validity has ended', [of('p', [granted(1, 10, 20), released(1, 50)]), of('q', [granted(2, 30, 90)])]], // prettier-ignore
    ['a grant after a loss', [of('p', [granted(1, 10, 90), { is: 'lost', ask: 1, at: 20 }]), of('q', [granted(2, 30, 90)])]], // prettier-ignore
    ['a grant after a kill', [of('p', [granted(1, 10, 90)], 20), of('q', [granted(2, 30, 90)])]],
    ['a late grant that was used up', [of('p', [granted(1, 50, 50)]), of('q', [granted(2, 30, 90)])]], // prettier-ignore
    ['a grant after a session was last seen', [of('p', [...session(1, 10, 11, 20), { is: 'lost', ask: 1, at: 40 }]), of('q', session(2, 30, 31))]], // prettier-ignore
    ['those in line before others', [of('p', [asked(1), asked(2), granted(1, 1, 2), granted(2, 3, 4)])]], // prettier-ignore
    ['others where the first was cancelled', [of('p', [asked(1), asked(2), { is: 'cancelled', ask: 1, at: 0 }, granted(2, 1, 2)])]], // prettier-ignore
    ['others where the first was refused', [of('p', [asked(1), asked(2), { is: 'refused', ask: 1, at: 0, why: 'held' }, granted(2, 1, 2)])]], // prettier-ignore
    ['readers at once', [of('p', shares(1, 10, 30)), of('q', [...shares(2, 20, 40), ...shares(3, 25, 28)])]], // prettier-ignore
    ['as many as there are permits', [of('p', shares(1, 10, 30, 2)), of('q', [...shares(2, 20, 40, 2), ...shares(3, 31, 50, 2)])]], // prettier-ignore
    ['a writer between readers', [of('p', shares(1, 10, 20)), of('q', [granted(2, 20, 30), released(2, 30)]), of('r', shares(3, 30, 40))]], // prettier-ignore
    ['readers after a downgrade', [of('p', [granted(1, 10, 50), downgraded(1, 20), released(1, 50)]), of('q', shares(2, 20, 40))]], // prettier-ignore
    ['readers who came in together, in any order', [of('p', [wants(1, READERS), wants(2, READERS), ...shares(2, 1, 2), ...shares(1, 1, 2)])]], // prettier-ignore
    ['others for another key', [of('p', [asked(1), asked(2, 'b'), granted(2, 1, 2, { key: 'b' })])]], // prettier-ignore
  ])('%s', (_, histories) => {
    expect(violations(histories)).toEqual([]);
  });

  it.each<[string, Entry[]]>([
    ['as many as there may be', [CLAIMED, CONTENDED, ...passes(8)]],
    ['any number where no caller waits', [CLAIMED, ...passes(50)]],
    ['any number where another key is awaited', [CLAIMED, { is: 'contended', key: 'b' }, ...passes(50)]], // prettier-ignore
    ['as many as there may be, twice', [CLAIMED, CONTENDED, ...passes(8), RETURNED, CLAIMED, CONTENDED, ...passes(8)]], // prettier-ignore
    ['any number after a new attempt', [CLAIMED, CONTENDED, granted(1, 1, 2, { from: 'attempt' }), ...passes(50)]], // prettier-ignore
    ['a notice that came too early', [CONTENDED, RENEWING, ...passes(50)]],
  ])('passes: %s', (_, entries) => {
    expect(violations([of('p', entries)])).toEqual([]);
  });
});

describe('The history checker finds', () => {
  it.each<[string, RegExp, ProcessHistory[]]>([
    ['two at once by sessions', /^two at once/, [of('p', session(1, 10, 11, 40)), of('q', session(2, 30, 31))]], // prettier-ignore
    ['two at once', /^two at once/, [of('p', [granted(1, 10, 30), released(1, 25)]), of('q', [granted(2, 24, 90)])]], // prettier-ignore
    ['two at once in one process', /^two at once/, [of('p', [granted(1, 10, 30), granted(2, 29, 90)])]], // prettier-ignore
    ['one within another', /^two at once/, [of('p', [granted(1, 10, 90)]), of('q', [granted(2, 20, 30)])]], // prettier-ignore
    ['one within another that is not the one before', /^two at once: a 1 .* a 3/, [of('p', [granted(1, 10, 90)]), of('q', [granted(2, 20, 25), granted(3, 30, 40)])]], // prettier-ignore
    ['a reader and a writer', /^two at once/, [of('p', shares(1, 10, 30)), of('q', [granted(2, 20, 40)])]], // prettier-ignore
    ['a writer and a reader', /^two at once/, [of('p', [granted(1, 10, 30)]), of('q', shares(2, 20, 40))]], // prettier-ignore
    ['a reader before a downgrade', /^two at once/, [of('p', [granted(1, 10, 50), downgraded(1, 30), released(1, 50)]), of('q', shares(2, 20, 40))]], // prettier-ignore
    ['a writer after a downgrade', /^two at once/, [of('p', [granted(1, 10, 50), downgraded(1, 20), released(1, 50)]), of('q', [granted(2, 30, 40)])]], // prettier-ignore
    ['different permits', /^two at once/, [of('p', shares(1, 10, 30, 3)), of('q', shares(2, 20, 40, 2))]], // prettier-ignore
    ['more than there are permits', /^too many at once/, [of('p', shares(1, 10, 30, 2)), of('q', [...shares(2, 20, 40, 2), ...shares(3, 25, 50, 2)])]], // prettier-ignore
    ['a reader who overtook a writer', /^out of order/, [of('p', [wants(1), wants(2, READERS), ...shares(2, 1, 2), granted(1, 3, 4)])]], // prettier-ignore
    ['a writer who overtook a reader', /^out of order/, [of('p', [wants(1, READERS), wants(2), granted(2, 1, 2), ...shares(1, 3, 4)])]], // prettier-ignore
    ['two at once after an extension', /^two at once/, [of('p', [granted(1, 10, 30), { is: 'extended', key: KEY, token: 1, until: 60 }]), of('q', [granted(2, 50, 90)])]], // prettier-ignore
    ['two at once before a kill', /^two at once/, [of('p', [granted(1, 10, 90)], 40), of('q', [granted(2, 30, 90)])]], // prettier-ignore
    ['a token that was given twice', /^no growth/, [of('p', [granted(1, 10, 20)]), of('q', [granted(1, 30, 40)])]], // prettier-ignore
    ['a token that went back', /^no growth/, [of('p', [granted(5, 10, 20)]), of('q', [granted(4, 30, 40)])]], // prettier-ignore
    ['a token that went back behind the one before', /^no growth: a 5 .* a 4/, [of('p', [granted(5, 10, 20), granted(4, 30, 40)])]], // prettier-ignore
    ['one who was served out of turn', /^out of order: p served 2 before 1/, [of('p', [asked(1), asked(2), granted(2, 1, 2), granted(1, 3, 4)])]], // prettier-ignore
    ['one who was served before another who gave up later', /^out of order/, [of('p', [asked(1), asked(2), granted(2, 1, 2), { is: 'cancelled', ask: 1, at: 9 }])]], // prettier-ignore
  ])('%s', (_, violation, histories) => {
    expect(violations(histories)).toContainEqual(expect.stringMatching(violation));
  });

  it.each<[string, Entry[]]>([
    ['after a notice', [CLAIMED, CONTENDED, ...passes(9)]],
    ['after some without a waiter', [CLAIMED, ...passes(5), CONTENDED, ...passes(9)]],
    ['after a reply that says that others wait', [CLAIMED, RENEWING, AWAITED, ...passes(9)]],
    ['of which the first is known with its reply', [RENEWING, AWAITED, ...passes(8)]],
    ['of which the first is known by a notice', [RENEWING, CONTENDED, AWAITED, ...passes(8)]],
  ])('too many passes %s', (_, entries) => {
    expect(violations([of('p', entries)])).toEqual([expect.stringMatching(/^too often/)]);
  });

  it('two that were woken together, unless one was dead', () => {
    const woken = [{ queue: 'a', woken: [1, 2] }];
    expect(wokenTogether(woken, new Set())).toHaveLength(1);
    expect(wokenTogether(woken, new Set([1]))).toEqual([]);
  });

  it.each([1, 2, 3])('one changed grant in a long history (seed %d)', (seed) => {
    const random = seeded(seed);
    const entries = Array.from({ length: 200 }, (_, n) => [
      asked(n),
      granted(n, 10 * n, 10 * n + 8),
      released(n, 10 * n + 5),
    ]).flat();
    expect(violations([of('p', entries)])).toEqual([]);
    const changed = 3 * (1 + Math.floor(random() * 198)) + 1;
    const grant = entries[changed] as Granted;
    for (const change of [{ at: grant.at - 6 }, { token: grant.token! + 1 }]) {
      const others = entries.with(changed, { ...grant, ...change });
      expect(violations([of('p', others)])).not.toEqual([]);
    }
  });
});

function passes(count: number): Entry[] {
  return Array.from({ length: count }, () => ({ is: 'passing', key: KEY }));
}
