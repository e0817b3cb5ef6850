import { UnknownAnswerError } from '../../../core/contract/unknown-answer.js';
import { CreateMode } from './zookeeper-client.js';
import type { ConnectionManager, OutgoingRequest } from './zookeeper-client.js';

/** `ConnectionManager.STATES`. */
const DISCONNECTED = 0;
const CONNECTING = 1;
const CONNECTED = 2;
/** Where the first reply of a connection has the session's timeout, and more than any server grants to those who ask for less. */
const TIMEOUT_AT = 8;
const LONGEST_TIMEOUT = 60_000;
/** Where it has the length of the session's password, and what every server writes there. */
const PASSWORD_LENGTH_AT = 20;
const PASSWORD_LENGTH = 16;
/** The opcode for containers, which the client does not know, after four bytes of length and four of the request's number. */
const CREATE_CONTAINER = 19;
const OPCODE_AT = 8;

/**
 * Makes `node-zookeeper-client` 1.1 fit for locks, from outside:
 *
 * - it throws in its data handler, and so ends the process, at error codes that it does not know (-118, session moved): the
 *   connection is cut instead, and made anew
 * - it believes each length of a session's password: one damaged byte, and the next connection sends a gigabyte, which takes the
 *   process a minute
 * - it believes each timeout of a session, also one of ten days by a damaged byte, for which it would wait for a connection
 * - half a reply that was there when a connection ended would come before the first reply of the next connection
 * - requests that a lost connection has not sent yet would be sent by the next one, although they have been reported as failed
 * - it knows no containers
 * - it does not say why it cannot connect: `failed` is called with the error, and with `undefined` once it has connected
 */
export function repair(
  manager: ConnectionManager,
  failed: (error: unknown) => void = () => undefined,
): void {
  const receive = manager.onSocketData.bind(manager);
  const send = manager.queue.bind(manager);
  const longest = Math.max(10 * manager.sessionTimeout, LONGEST_TIMEOUT);
  manager.onSocketData = (bytes) => {
    try {
      if (manager.state === CONNECTING) checkGreeting(manager.pendingBuffer, bytes, longest);
      receive(bytes);
    } catch {
      cut(manager);
    }
  };
  const fail = manager.onSocketError.bind(manager);
  manager.onSocketError = (error) => {
    failed(error);
    fail(error);
  };
  manager.queue = (request, done) => {
    if (request.payload?.flags === CreateMode.container) askForContainer(request);
    send(request, done);
  };
  manager.on('state', (state) => {
    if (state === CONNECTED) failed(undefined);
    if (state !== DISCONNECTED) return;
    manager.pendingBuffer = null;
    manager.packetQueue.queue.length = 0;
  });
}

/** Ends the connection, or the attempt to make one. The client goes on with the next server. */
export function cut(manager: ConnectionManager): void {
  clearTimeout(manager.connectTimeoutHandler ?? undefined); // this would end the next attempt
  manager.socket?.destroy();
}

/** Ends the client for good, even between two attempts, where `close` does not stop it. */
export function retire(manager: ConnectionManager): void {
  manager.connect = () => {};
  manager.onSocketConnected = () => cut(manager);
  cut(manager);
}

/** Throws for the first reply of a connection if it is damaged. */
function checkGreeting(before: Buffer | null, bytes: Buffer, longest: number): void {
  const greeting = before ? Buffer.concat([before, bytes]) : bytes;
  if (greeting.length < PASSWORD_LENGTH_AT + 4) return;
  const isLong = greeting.readInt32BE(TIMEOUT_AT) > longest;
  if (isLong || greeting.readInt32BE(PASSWORD_LENGTH_AT) !== PASSWORD_LENGTH)
    throw new UnknownAnswerError('a session', greeting);
}

function askForContainer(request: OutgoingRequest): void {
  const toBuffer = request.toBuffer.bind(request);
  request.toBuffer = () => {
    const bytes = toBuffer();
    bytes.writeInt32BE(CREATE_CONTAINER, OPCODE_AT);
    return bytes;
  };
}
