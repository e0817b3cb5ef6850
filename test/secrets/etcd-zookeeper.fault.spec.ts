import { ZooKeeperLockStore } from 'nest-holdfast/zookeeper';
import { LockService } from 'nest-holdfast/core';
import { EtcdAuthServer } from '../stores/etcd/client/auth-server.js';
import { freePort } from '../support/processes/free-port.js';
import { ZooKeeperServer } from '../support/servers/zookeeper-server.js';
import { SECRET, expectNoLeaks, leaks, linesOf, play } from './support/play.js';

jest.setTimeout(180_000);

const HOST = '127.0.0.1';
const BAD_KEY = `-----BEGIN PRIVATE KEY-----\n${SECRET}\n-----END PRIVATE KEY-----`;

describe('No secret of etcd is printed, logged, told or answered', () => {
  let server: EtcdAuthServer;

  beforeAll(async () => {
    server = await EtcdAuthServer.demanding('simple');
    await server.askAsRoot('/v3/auth/user/add', { name: 'confined', password: SECRET });
    await server.askAsRoot('/v3/auth/user/add', { name: 'other', password: SECRET });
    await server.askAsRoot('/v3/auth/user/grant', { user: 'other', role: 'locks' });
  });
  afterAll(() => server.remove());

  const as = (username: string) => ({ username, password: SECRET });

  it('while no lock can be taken', async () => {
    const nobody = await freePort();
    const hosts = server.url;
    const credentials = { rootCertificate: BAD_KEY, privateKey: BAD_KEY, certChain: BAD_KEY };
    await expectNoLeaks({
      refused: [{ store: { etcd: { hosts, auth: as('locker') } } }, /authentication failed/],
      confined: [{ store: { etcd: { hosts, auth: as('confined') } } }, /permission denied/],
      down: [{ hangs: true, store: { etcd: { hosts: `${HOST}:${nobody}`, auth: as('locker') } } }, /UNAVAILABLE|no answer/], // prettier-ignore
      tls: [{ hangs: true, store: { etcd: { hosts: `https://${HOST}:${server.port}`, credentials } } }, /LOCK_STORE_FAILED|open\]/], // prettier-ignore
      'a user in the URL': [{ hangs: true, store: { etcd: { hosts: `http://u:${SECRET}@${HOST}:${server.port}` } } }, /LOCK_STORE_FAILED|open\]/], // prettier-ignore
      'a URL': [{ store: { etcd: `https://u:${SECRET}@h` as never } }, /expects hosts/],
      'a list of objects': [{ store: { etcd: { hosts: [{ url: `https://u:${SECRET}@h` }] as never } } }, /expects hosts/], // prettier-ignore
      'auth of text': [{ store: { etcd: { hosts, auth: `u:${SECRET}` as never } } }, /LOCK_STORE_FAILED|open\]/], // prettier-ignore
    });
  });

  it('when the user is deleted while locks are held and awaited', async () => {
    const store = { etcd: { hosts: server.url, auth: as('other') } };
    const output = await play(
      { deleted: { store, whileHeld: true } },
      { deleted: () => server.askAsRoot('/v3/auth/user/delete', { name: 'other' }) },
    );
    expect(leaks(output)).toEqual([]);
    expect(linesOf(output, 'deleted')).toMatch(/authentication failed|permission denied|invalid auth/); // prettier-ignore
  });

  it('when the server dies while locks are held and awaited', async () => {
    const store = { etcd: { hosts: server.url, auth: { username: 'locker', password: 'secret' } } };
    await server.askAsRoot('/v3/auth/user/changepw', { name: 'locker', password: SECRET });
    const output = await play(
      {
        killed: {
          store: { etcd: { ...store.etcd, auth: as('locker') } },
          hangs: true,
          whileHeld: true,
        },
      },
      { killed: () => server.kill() },
    );
    expect(leaks(output)).toEqual([]);
    expect(linesOf(output, 'killed')).toMatch(/ lost\].*LOCK_LOST/);
  });
});

describe('No secret of ZooKeeper is printed, logged, told or answered', () => {
  let server: ZooKeeperServer;

  beforeAll(async () => {
    server = await ZooKeeperServer.start();
    const auth = { scheme: 'digest', credential: 'other:another' };
    const store = new ZooKeeperLockStore(server.url, { root: '/theirs', auth });
    const locks = new LockService(store);
    await locks.withLock('a', () => {});
    await locks.close();
  });
  afterAll(() => server.stop());

  const auth = { scheme: 'digest', credential: `locker:${SECRET}` };

  it('while no lock can be taken', async () => {
    const nobody = await freePort();
    const { url } = server;
    const opening = (zookeeper: string, options: object = {}) => ({
      store: { zookeeper, options: { auth, ...options } },
    });
    await expectNoLeaks({
      confined: [opening(url, { root: '/theirs' }), /NO_AUTH|-102/],
      down: [{ ...opening(`${HOST}:${nobody}`), hangs: true }, /no connection|no answer/],
      scheme: [opening(url, { auth: { scheme: 'none', credential: SECRET } }), /LOCK_STORE_FAILED/], // prettier-ignore
      'a URL': [opening(`zk://u:${SECRET}@h:2181`), /expects servers/],
      'no user': [opening(url, { auth: { scheme: 'digest', credential: SECRET } }), /auth.credential must be/], // prettier-ignore
      'auth of text': [opening(url, { auth: `u:${SECRET}` }), /auth must be/],
      'an ACL of text': [opening(url, { acl: `u:${SECRET}` }), /acl must be/],
      'an unknown option': [opening(url, { [`u:${SECRET}@h`]: 1 }), /unknown option/],
      'a root of a URL': [opening(url, { root: `zk://u:${SECRET}@h/locks` }), /root must be/],
    });
  });

  it('when the server dies while locks are held and awaited', async () => {
    const options = { auth, sessionTimeout: 1_000 };
    const output = await play(
      { killed: { store: { zookeeper: server.url, options }, hangs: true, whileHeld: true } },
      { killed: () => server.kill() },
    );
    expect(leaks(output)).toEqual([]);
    expect(linesOf(output, 'killed')).toMatch(/ lost\].*LOCK_LOST/);
  });
});
