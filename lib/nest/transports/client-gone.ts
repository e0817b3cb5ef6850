import { HttpException } from '@nestjs/common';
import type { ExecutionContext } from '@nestjs/common';
import { isClosed } from '../../http/closed-response.js';
import type { ClosableResponse } from '../../http/closed-response.js';
import { handlesEvent } from './event-handler.js';

/** nginx' status for a client that went away; no client reads it, and Nest does not log it as an error. */
const CLIENT_CLOSED_REQUEST = 499;

/** The caller went away while its lock was awaited. */
export class ClientGoneException extends HttpException {
  constructor() {
    super('Client closed request', CLIENT_CLOSED_REQUEST);
  }
}

/** A response, or the connection of one caller: an object that tells when its caller has left. */
export interface ClientConnection extends ClosableResponse {
  once(event: string, listener: () => void): unknown;
  /** Of `ws`: 2 and 3 are closing and closed. Node's sockets have words. */
  readonly readyState?: number | string;
  /** Of Socket.IO. */
  readonly disconnected?: boolean;
  readonly handshake?: unknown;
}

/** Listeners of waiting calls, by connection, which has one listener itself, however many of its calls wait. */
const leavers = new WeakMap<ClientConnection, Set<() => void>>();

/** `undefined` where the transport cannot tell. */
export function clientConnection(context: ExecutionContext): ClientConnection | undefined {
  const connection = connectionOf(context);
  return typeof connection?.once === 'function' ? (connection as ClientConnection) : undefined;
}

/** Calls `leave` when the client goes away, or has gone already. The result ends that. */
export function onceClientGone(connection: ClientConnection, leave: () => void): () => void {
  if (isGone(connection)) leave();
  const waiting = leavers.get(connection) ?? listenTo(connection);
  waiting.add(leave);
  return () => void waiting.delete(leave);
}

function listenTo(connection: ClientConnection): Set<() => void> {
  const waiting = new Set<() => void>();
  leavers.set(connection, waiting);
  connection.once(farewell(connection), () => waiting.forEach((leave) => leave()));
  return waiting;
}

function connectionOf(context: ExecutionContext): Partial<ClientConnection> | undefined {
  switch (context.getType<string>()) {
    case 'http':
      return raw(context.switchToHttp().getResponse<Response>());
    case 'graphql':
      return graphqlConnection(context.getArgs<[unknown, unknown, GraphqlContext?]>()[2]);
    case 'ws':
      return context.switchToWs().getClient<Partial<ClientConnection> | undefined>();
    case 'rpc':
      return tcpSocket(context);
    default:
      return undefined;
  }
}

/**
 * The response is in the context by convention only. Express' request knows it, Fastify's its socket. Of `graphql-ws`, its
 * WebSocket is behind `extra`.
 */
function graphqlConnection(
  context: GraphqlContext | undefined,
): Partial<ClientConnection> | undefined {
  const upgrade = context?.extra ?? context?.req?.extra;
  if (upgrade?.socket) return upgrade.socket;
  const request = context?.req ?? context?.request;
  const response = context?.res ?? context?.reply ?? request?.res;
  return response ? raw(response) : request?.socket;
}

/**
 * Only TCP has a connection for each client; the others have a broker between. The sender of an event may leave at once: it is
 * to be handled all the same.
 */
function tcpSocket(context: ExecutionContext): Partial<ClientConnection> | undefined {
  if (handlesEvent(context)) return undefined;
  return context.switchToRpc().getContext<TcpContext | undefined>()?.getSocketRef?.().netSocket;
}

/** Fastify's reply has Node's response inside. */
function raw(response: Response | undefined): Partial<ClientConnection> | undefined {
  return response?.raw ?? response;
}

function isGone(connection: ClientConnection): boolean {
  const { disconnected, readyState } = connection;
  return isClosed(connection) || disconnected === true || Number(readyState) >= 2;
}

/** On a socket of Socket.IO, `close` would be a message of its client. */
function farewell(connection: ClientConnection): string {
  return connection.handshake === undefined ? 'close' : 'disconnect';
}

type Response = Partial<ClientConnection> & { readonly raw?: Partial<ClientConnection> };

interface Upgrade {
  readonly socket?: Partial<ClientConnection>;
}

interface Request {
  readonly res?: Response;
  readonly extra?: Upgrade;
  readonly socket?: Partial<ClientConnection>;
}

interface GraphqlContext {
  readonly req?: Request;
  readonly request?: Request;
  readonly extra?: Upgrade;
  readonly res?: Response;
  readonly reply?: Response;
}

interface TcpContext {
  getSocketRef?(): { readonly netSocket?: Partial<ClientConnection> };
}
