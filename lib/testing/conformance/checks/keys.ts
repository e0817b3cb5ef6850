import assert from 'node:assert/strict';
import { aKey, aRequest } from '../backend.js';
import { needing } from '../check.js';
import type { Check } from '../check.js';

/** Every character of Latin 1, control characters included, and what other systems choke on. */
const ODD_KEYS: readonly string[] = [
  ...Array.from({ length: 256 }, (_, code) => `odd:${String.fromCharCode(code)}:key`),
  `'; DROP TABLE locks; --`,
  '"',
  "'",
  '`',
  '\\',
  '$(id)',
  '{tag}',
  '{',
  '}',
  '{}',
  '}{',
  '{}{tag}',
  'a}b',
  ' ',
  '..',
  '/',
  '/a//b/',
  '*?[^x]',
  '%s%n',
  '漢字',
  'Å', // composed
  'A\u030A', // decomposed: another key
  '👩‍👩‍👧',
  '\u{10FFFF}',
  'undefined',
  '__proto__',
  'constructor',
  'CASE',
  'case',
];

/** Milliseconds: the first key is held while the last one is asked for, also on a store that is slow. */
const LONG = 600_000;

/** Keys are bytes to a store, and several are taken all or none. */
export const keyChecks: Record<string, Check> = {
  'survives keys with every odd character, and keeps them apart': async (backend) => {
    const [a, b] = await backend.stores();
    const suffix = aKey();
    const leases = [];
    for (const odd of ODD_KEYS)
      leases.push(await backend.hold(a, aRequest({ keys: [odd + suffix], ttl: LONG })));
    for (const odd of ODD_KEYS) {
      const seen = await b.tryAcquire(aRequest({ keys: [odd + suffix] }));
      assert.equal(seen, undefined, `key ${JSON.stringify(odd)} is held`);
    }
    for (const lease of leases) assert.equal(await lease.release(), true);
  },

  'takes a key of 512 bytes': async (backend) => {
    const [a, b] = await backend.stores();
    const keys = [aKey().padEnd(512, 'x')];
    await backend.hold(a, aRequest({ keys }));
    assert.equal(await b.tryAcquire(aRequest({ keys })), undefined);
    await backend.hold(b, aRequest({ keys: [keys[0]!.slice(0, -1)] }));
  },

  'takes several keys all or none': needing(['manyKeys'], async (backend) => {
    const [a, b] = await backend.stores();
    const [one, two, three] = [aKey(), aKey(), aKey()].toSorted() as [string, string, string];
    const both = await backend.hold(a, aRequest({ keys: [one, two] }));
    assert.equal(await b.tryAcquire(aRequest({ keys: [two, three] })), undefined);
    const third = await backend.hold(b, aRequest({ keys: [three] }));
    assert.equal(await both.extend(30_000), true);
    assert.equal(await both.release(), true);
    await third.release();
    const all = await backend.hold(b, aRequest({ keys: [one, two, three] }));
    assert.equal(await all.release(), true);
  }),

  'has one larger fencing token for several keys': needing(
    ['manyKeys', 'fencing'],
    async (backend) => {
      const [a, b] = await backend.stores();
      const [one, two, three] = [aKey(), aKey(), aKey()].toSorted() as [string, string, string];
      const both = await backend.hold(a, aRequest({ keys: [one, two] }));
      const third = await backend.hold(b, aRequest({ keys: [three] }));
      for (const lease of [both, third]) await lease.release();
      const all = await backend.hold(b, aRequest({ keys: [one, two, three] }));
      assert.ok(all.fencingToken! > both.fencingToken!);
      assert.ok(all.fencingToken! > third.fencingToken!);
    },
  ),
};
