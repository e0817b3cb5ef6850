import { createClient } from 'node-zookeeper-client';
import { cut, repair, retire } from '../../../../lib/stores/zookeeper/client/client-repairs.js';
import type { ConnectionManager } from '../../../../lib/stores/zookeeper/client/zookeeper-client.js';

/** As the client counts its states. */
const [DISCONNECTED, CONNECTING, CONNECTED] = [0, 1, 2];
/** The request was sent by a session that has moved to another server: a code that the client does not know. */
const SESSION_MOVED = -118;

interface Manager extends ConnectionManager {
  pendingQueue: unknown[];
  sessionPassword: Buffer;
  setState(state: number): void;
  onSocketClosed(): void;
}

/** The private state of a client that believes to be connected. */
function connected() {
  const client = createClient('127.0.0.1:1') as unknown as { connectionManager: Manager };
  const manager = client.connectionManager;
  const socket = { destroy: jest.fn(), write: jest.fn(() => true), setTimeout: jest.fn() };
  Object.assign(manager, { socket, state: CONNECTED });
  return { manager, socket };
}

/** A reply of the server that carries an error. */
function reply(code: number): Buffer {
  const bytes = Buffer.alloc(20);
  bytes.writeInt32BE(16, 0);
  bytes.writeInt32BE(code, 16);
  return bytes;
}

/** The first reply of a connection: a session, of ten seconds, with a password of so many bytes. */
function greeting(passwordLength: number, timeout = 10_000): Buffer {
  const bytes = Buffer.alloc(41);
  bytes.writeInt32BE(37, 0);
  bytes.writeInt32BE(timeout, 8);
  bytes.writeInt32BE(passwordLength, 20);
  return bytes;
}

describe('node-zookeeper-client', () => {
  it('throws at an error code that it does not know, which ends the process; repaired, it cuts the connection', () => {
    const { manager, socket } = connected();
    manager.pendingQueue.push({ request: { header: { xid: 0 } }, callback: () => {} });
    expect(() => manager.onSocketData(reply(SESSION_MOVED))).toThrow('Unknown code');
    manager.pendingBuffer = null;
    repair(manager);
    manager.pendingQueue.push({ request: { header: { xid: 0 } }, callback: () => {} });
    manager.onSocketData(reply(SESSION_MOVED));
    expect(socket.destroy).toHaveBeenCalledTimes(1);
  });

  it.each([
    ['keeps', false],
    ['repaired, forgets', true],
  ])(
    '%s half a reply, and requests that were not sent, when its connection ends',
    (_, isRepaired) => {
      const { manager } = connected();
      if (isRepaired) repair(manager);
      manager.onSocketData(reply(0).subarray(0, 10));
      manager.packetQueue.queue.push({});
      manager.setState(DISCONNECTED);
      expect([manager.pendingBuffer === null, manager.packetQueue.queue.length === 0]).toEqual([isRepaired, isRepaired]); // prettier-ignore
    },
  );

  /** It would send the password with its next request for a connection: up to 2 GB, byte by byte. */
  it.each([
    ['takes', false, 1_000_000, 0],
    ['repaired, cuts the connection before it takes', true, 16, 1],
  ])('%s a password of a damaged length', (_, isRepaired, length, cuts) => {
    const { manager, socket } = connected();
    manager.state = CONNECTING;
    if (isRepaired) repair(manager);
    const bytes = greeting(1_000_000);
    manager.onSocketData(bytes.subarray(0, 22));
    manager.onSocketData(bytes.subarray(22));
    expect(manager.sessionPassword).toHaveLength(length);
    expect(socket.destroy).toHaveBeenCalledTimes(cuts);
  });

  /** It would wait for so long for each connection, and for the end of the session. */
  it.each([
    ['takes', false, 872_425_232, 872_425_232],
    ['repaired, cuts the connection before it takes', true, 872_425_232, undefined],
    ['repaired, takes', true, 60_000, 60_000], // the least that a server may grant
  ])('%s a timeout of %p: %d ms', (_, isRepaired, timeout, taken) => {
    const { manager, socket } = connected();
    const before = manager.sessionTimeout;
    manager.state = CONNECTING;
    if (isRepaired) repair(manager);
    manager.onSocketData(greeting(16, timeout));
    expect(manager.sessionTimeout).toBe(taken ?? before);
    expect(socket.destroy).toHaveBeenCalledTimes(taken === undefined ? 1 : 0);
  });

  it('repaired, takes the session of a reply that is whole', () => {
    const { manager, socket } = connected();
    manager.state = CONNECTING;
    repair(manager);
    manager.onSocketData(greeting(16));
    expect(manager.state).toBe(CONNECTED);
    expect(socket.destroy).not.toHaveBeenCalled();
  });

  it.each([
    ['reconnects', false, 1],
    ['retired, does not reconnect', true, 0],
  ])('%s when its connection is cut', (_, isRetired, connects) => {
    const { manager, socket } = connected();
    const connect = jest.spyOn(manager, 'connect').mockReturnValue();
    if (isRetired) retire(manager);
    else cut(manager);
    expect(socket.destroy).toHaveBeenCalled();
    manager.onSocketClosed();
    expect(connect).toHaveBeenCalledTimes(connects);
  });

  it('retired while it connects, ends the connection that it gets', () => {
    const { manager, socket } = connected();
    retire(manager);
    socket.destroy.mockClear();
    manager.onSocketConnected();
    expect(socket.destroy).toHaveBeenCalledTimes(1);
    expect(socket.write).not.toHaveBeenCalled();
  });
});
