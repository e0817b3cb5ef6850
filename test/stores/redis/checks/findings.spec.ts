import { findingsOf } from '../../../../lib/stores/redis/checks/findings.js';
import type { Denied } from '../../../../lib/stores/redis/checks/acl-check.js';
import type { ServerFacts } from '../../../../lib/stores/redis/checks/server-facts.js';

const FINE: ServerFacts = { eviction: 'noeviction', keepsFile: true, clockAhead: 0 };
const NOTHING: Denied = { commands: [], keys: [], channels: [] };
const ALONE = { replicas: 0, isOneOfSeveral: false };

function codes(facts: Partial<ServerFacts>, denied?: Partial<Denied>, reliance = {}): string[] {
  const found = findingsOf('Redis', { ...FINE, ...facts }, denied && { ...NOTHING, ...denied }, { ...ALONE, ...reliance }); // prettier-ignore
  return found.map(({ code }) => code.replace('HOLDFAST_REDIS_', ''));
}

const textOf = (facts: Partial<ServerFacts>, denied?: Denied) =>
  findingsOf('Redis', { ...FINE, ...facts }, denied, ALONE)[0]!.message;

describe('What a server is warned of', () => {
  it('is nothing where it loses no lock, or does not tell', () => {
    expect(codes({}, NOTHING)).toEqual([]);
    expect(codes({ eviction: undefined, keepsFile: undefined, clockAhead: undefined })).toEqual([]);
  });

  it('is that it evicts', () => {
    expect(codes({ eviction: 'allkeys-lru' })).toEqual(['EVICTION']);
    expect(textOf({ eviction: 'allkeys-lru' })).toMatch(/^Redis has the maxmemory-policy allkeys-lru: .*noeviction/); // prettier-ignore
  });

  it('is that it forgets, unless other servers have the lock', () => {
    const keepsFile = false;
    expect(codes({ keepsFile })).toEqual(['PERSISTENCE']);
    expect(codes({ keepsFile }, undefined, { replicas: 1 })).toEqual([]);
    expect(codes({ keepsFile }, undefined, { isOneOfSeveral: true })).toEqual([]);
    expect(textOf({ keepsFile })).toMatch(/^Redis keeps no append-only file .*appendfsync always/);
  });

  it.each([
    [1_001, '1001 ms ahead of'],
    [-1_001.4, '1001 ms behind'],
  ])('is that its clock is off by %d ms', (clockAhead, text) => {
    expect(codes({ clockAhead })).toEqual(['CLOCK']);
    expect(textOf({ clockAhead })).toContain(`The clock of Redis is ${text} that of this process`);
  });

  it.each([1_000, -1_000])('is not that its clock is off by %d ms', (clockAhead) => {
    expect(codes({ clockAhead })).toEqual([]);
  });

  it.each([
    ['commands', { commands: ['get', 'set'] }, 'the commands get, set', '+get +set'],
    ['keys', { keys: ['lock:*'] }, 'the keys lock:*', '~lock:*'],
    ['channels', { channels: ['holdfast:*'] }, 'the channels holdfast:*', '&holdfast:*'],
  ])('is that it denies %s', (_, denied, what, rule) => {
    expect(codes({}, denied)).toEqual(['ACL']);
    const text = textOf({}, { ...NOTHING, ...denied });
    expect(text).toMatch(new RegExp(`^Redis denies its user ${what.replace('*', '[*]')}: `));
    expect(text.endsWith(`Permit them: ACL SETUSER <user> ${rule}`)).toBe(true);
  });

  it('is all of it', () => {
    const denied = { commands: ['get'], keys: ['lock:*'], channels: ['holdfast:*'] };
    const facts = { eviction: 'allkeys-lru', keepsFile: false, clockAhead: 5_000 };
    expect(codes(facts, denied)).toEqual(['EVICTION', 'PERSISTENCE', 'CLOCK', 'ACL']);
    expect(textOf({}, denied)).toContain('the commands get and the keys lock:* and the channels holdfast:*: '); // prettier-ignore
    expect(textOf({}, denied)).toContain('~lock:* &holdfast:* +get');
  });
});
