import { EtcdLockStore } from 'nest-holdfast/etcd';
import { EtcdKeys, isNodeOf, newNode } from '../../../lib/stores/etcd/keys/etcd-keys.js';

const HOSTS = { hosts: '127.0.0.1:1' };

describe('options of an EtcdLockStore', () => {
  it.each([
    [undefined, 'expects hosts'],
    [{}, 'got undefined'],
    [{ hosts: '' }, 'got the string ""'],
    [{ hosts: [] }, 'expects hosts'],
    [{ hosts: ['a:1', 2] }, 'expects hosts'],
    [{ ...HOSTS, auth: { username: 'a' } }, 'auth.password must be a string, got none'],
  ])('refuses servers %p', (servers, message) => {
    const make = () => new EtcdLockStore(servers as never);
    expect(make).toThrow(TypeError);
    expect(make).toThrow(message);
  });

  it.each([
    [{ prefix: 1 }, TypeError, 'prefix must be a string, got 1'],
    [{ prefix: 'a/@b/' }, TypeError, "prefix must be a string without '/@', got the string"],
    [{ sessionTimeout: 999 }, RangeError, 'sessionTimeout must be a whole number of ms from 1000'],
    [{ sessionTimeout: 1_000.5 }, RangeError, 'got 1000.5'],
    [{ sessionTimeout: '10s' }, TypeError, 'got the string "10s"'],
    [{ sessionTimeout: 1e9 }, RangeError, 'to 86400000'],
  ])('refuses %p', (options, type, message) => {
    const make = () => new EtcdLockStore(HOSTS, options as never);
    expect(make).toThrow(type);
    expect(make).toThrow(message);
  });

  it('connects when it is first used, and not before', async () => {
    const store = new EtcdLockStore({ hosts: ['127.0.0.1:1', 'http://127.0.0.1:2'] });
    await store.close();
    const request = { key: 'a', keys: ['a'], token: 'b', ttl: 1 };
    await expect(store.tryAcquire(request)).rejects.toThrow('the store was closed');
    const wait = store.acquire(request, new AbortController().signal);
    await expect(wait).rejects.toThrow('the store was closed');
  });
});

describe('the name of a lock in etcd', () => {
  const KEYS = [
    'a',
    'a/',
    '@',
    'a/@',
    'a/b',
    'a%2Fb',
    '/',
    '//',
    'a~b',
    'ä',
    'a\0',
    '\u{1F512}',
    '%',
    ' ',
    'A',
    '*',
  ];

  it('gives each key a range of its own, in which all its nodes are', () => {
    const keys = new EtcdKeys('p/');
    for (const key of KEYS) {
      const node = newNode(keys.queue(key), 'token');
      const around = KEYS.filter((other) => {
        const { range } = keys.queue(other);
        return range.key.compare(node) <= 0 && node.compare(range.range_end) < 0;
      });
      expect(around).toEqual([key]);
    }
  });

  it('knows whose a node is, and calls no two by the same name', () => {
    const queue = new EtcdKeys('').queue('key');
    const nodes = Array.from({ length: 100 }, () => newNode(queue, 'to~ken'));
    expect(nodes.every((node) => isNodeOf(queue, 'to~ken', node))).toBe(true);
    expect(nodes.some((node) => isNodeOf(queue, 'to', node))).toBe(false);
    expect(new Set(nodes.map(String)).size).toBe(100);
  });

  it('keeps what guards a session apart from all keys', () => {
    const keys = new EtcdKeys('p/');
    const guard = keys.guard('1');
    for (const key of ['', ...KEYS]) {
      const { range } = keys.queue(key);
      expect(range.key.compare(guard) <= 0 && guard.compare(range.range_end) < 0).toBe(false);
    }
  });
});
