import { ZooKeeperLockStore, type ZooKeeperLockStoreOptions } from 'nest-holdfast/zookeeper';

function refusal(servers: unknown, options?: unknown): unknown {
  try {
    return new ZooKeeperLockStore(servers as string, options as ZooKeeperLockStoreOptions);
  } catch (error) {
    return error;
  }
}

describe('ZooKeeperLockStore refuses', () => {
  it.each([
    [undefined, 'got undefined'],
    ['', 'the string ""'],
    [['a:2181'], 'an array'],
    ['a:2181,,b:2181', 'a:2181,,b:2181'],
    ['a:b', 'a:b'],
    ['a:65536', 'a:65536'],
    ['a:2181,b:0', 'b:0'],
    ['zk://a:2181', 'for a path, set the option root'],
    ['a:2181/app', 'for a path, set the option root'],
  ])('servers %j', (servers, message) => {
    const error = refusal(servers);
    expect(error).toBeInstanceOf(TypeError);
    expect(error).toMatchObject({ message: expect.stringContaining(message) });
  });

  it.each<[object, string, RegExp]>([
    [
      { rot: '/x' },
      'TypeError',
      /unknown option "rot" \(did you mean root\?\); known options are root,/,
    ],
    [{ root: 5 }, 'TypeError', /root must be a path .* got 5/],
    [{ root: '/' }, 'TypeError', /root must be a path such as '\/holdfast'/],
    [{ root: 'x' }, 'TypeError', /root/],
    [{ root: '/x/' }, 'TypeError', /root/],
    [{ root: '/a/../b' }, 'TypeError', /root/],
    [{ root: '/zookeeper/locks' }, 'TypeError', /outside '\/zookeeper'/],
    [{ sessionTimeout: 99 }, 'RangeError', /sessionTimeout must be a whole number of ms from 100/],
    [{ sessionTimeout: '5s' }, 'TypeError', /sessionTimeout .* got the string "5s"/],
    [{ connectTimeout: 0 }, 'RangeError', /connectTimeout .* got 0/],
    [{ auth: null }, 'TypeError', /auth must be an object, such as \{ scheme/],
    [{ auth: { scheme: 'digest' } }, 'TypeError', /auth.credential must be a string, got none/],
    [{ auth: { scheme: 'digest', credential: 'user' } }, 'TypeError', /'user:password'/],
    [{ acl: 'creator' }, 'TypeError', /acl: 'creator' needs the option auth/],
    [{ acl: 'all' }, 'TypeError', /acl must be 'open', 'creator' or a list/],
    [{ acl: [] }, 'TypeError', /acl must be/],
    [{ acl: [{ scheme: 'world', id: 'anyone', permissions: ['toString'] }] }, 'TypeError', /acl\[0\].permissions must be/], // prettier-ignore
  ])('%j', (options, name, message) => {
    expect(refusal('a:2181', options)).toMatchObject({ name, message: expect.stringMatching(message) }); // prettier-ignore
  });

  it('names no credential', () => {
    const error = refusal('a:2181', { auth: { scheme: 5, credential: 'user:secret' } });
    expect(String(error)).not.toContain('secret');
  });
});

it('ZooKeeperLockStore takes hosts with and without a port, and connects to none before it is used', async () => {
  const store = new ZooKeeperLockStore('a,b.c:2182,127.0.0.1:1', { root: '/app/locks' });
  await store.close();
  await expect(store.inspect('order:42')).rejects.toThrow('the ZooKeeperLockStore was closed');
});

it('ZooKeeperLockStore says what to install when its client is not there', async () => {
  const missing = jest.fn(() => {
    throw new Error("Cannot find module 'node-zookeeper-client'");
  });
  jest.doMock('node-zookeeper-client', missing);
  const store = new ZooKeeperLockStore('127.0.0.1:1');
  for (let times = 1; times <= 2; times += 1) {
    await expect(store.inspect('a')).rejects.toThrow('npm install node-zookeeper-client');
    expect(missing).toHaveBeenCalledTimes(times); // it may have been installed meanwhile
  }
});
