import type { Readable } from 'node:stream';
import { ended } from '../../http/sources.js';
import type { Sending } from './http-response.js';
import { LockedIterator } from './locked-iterator.js';
import type { CallScope } from './locked-iterator.js';

/** The part of a `StreamableFile` that is used here. */
interface File {
  getStream(): unknown;
}

/** A stream that a handler has returned. */
export interface SentBody extends Sending {
  /** The body for Nest to send: the stream itself, or one that tells when it has ended. */
  readonly value: unknown;
}

/**
 * Recognises what Nest and its adapters send as a stream: a `StreamableFile`, Node's streams, a web `Response` or
 * `ReadableStream`, and other async iterables. Nothing is read from it.
 */
export function sentBody(value: unknown, scope: CallScope): SentBody | undefined {
  if (isFile(value)) return fileBody(value);
  if (isNodeStream(value)) return nodeBody(value, value);
  if (isWebResponse(value)) return responseBody(value, scope);
  if (isWebStream(value)) return webBody(value, scope);
  if (isAsyncIterable(value)) return iterableBody(value, scope);
  return undefined;
}

/** A thenable, such as a query of Mongoose, stands for what it resolves to. */
export function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  const { [Symbol.asyncIterator]: iterate, then } = (value ?? {}) as Partial<
    AsyncIterable<unknown> & PromiseLike<unknown>
  >;
  return typeof iterate === 'function' && typeof then !== 'function';
}

/** What is not read yet, beside async iterables. */
export function unreadBody(value: unknown): 'a file' | 'a Response' | undefined {
  if (isFile(value)) return 'a file';
  return isWebResponse(value) && value.body !== null && !value.bodyUsed ? 'a Response' : undefined;
}

/** Nest answers 400 for a file that fails before it is sent: as if the client were at fault. */
function fileBody(file: File): SentBody | undefined {
  const body = nodeBody(file, file.getStream());
  return body && { ...body, failsQuietly: true };
}

function nodeBody(value: unknown, stream: unknown): SentBody | undefined {
  if (!isNodeStream(stream)) return undefined;
  let isOpen = true;
  const close = ended(stream).then(() => (isOpen = false));
  return { value, ended: close, stop: (error) => void (isOpen && stream.destroy?.(error)) };
}

function iterableBody(source: AsyncIterable<unknown>, scope: CallScope) {
  return iteratorBody(
    scope,
    scope.run(() => source[Symbol.asyncIterator]()),
  );
}

/** Its own iterator would end only after the read in progress, which a source that went quiet never answers. */
function webBody(source: ReadableStream<unknown>, scope: CallScope): SentBody | undefined {
  if (source.locked) return undefined; // Nest refuses it
  const reader = source.getReader();
  const body = iteratorBody(scope, {
    next: () => reader.read(),
    return: async (value?: unknown) => {
      await reader.cancel();
      return { done: true, value };
    },
  });
  return { ...body, value: ReadableStream.from(body.value) };
}

function iteratorBody(scope: CallScope, source: AsyncIterator<unknown, unknown>) {
  const value = new LockedIterator(scope, source);
  // Steps fail by themselves once the lock is lost.
  return { value, ended: value.ended, stop: () => void value.return().catch(() => {}) };
}

/** Of a copy, because the body of a `Response` cannot be replaced. */
function responseBody(response: Response, scope: CallScope): SentBody | undefined {
  const { body } = response;
  if (!isWebStream(body)) return nodeBody(response, body);
  const sent = webBody(body, scope);
  if (!sent) return undefined;
  const { status, statusText, headers, type, url, redirected } = response;
  const copy = new Response(sent.value as ReadableStream, { status, statusText, headers });
  for (const [name, value] of Object.entries({ type, url, redirected })) {
    Object.defineProperty(copy, name, { value }); // Nest looks whether `fetch` has decoded it
  }
  return { ...sent, value: copy };
}

function isFile(value: unknown): value is File {
  const { getStream, getHeaders } = (value ?? {}) as Partial<Record<string, unknown>>;
  return typeof getStream === 'function' && typeof getHeaders === 'function';
}

function isNodeStream(value: unknown): value is Readable {
  const { pipe, on } = (value ?? {}) as Partial<Readable>;
  return typeof pipe === 'function' && typeof on === 'function';
}

function isWebResponse(value: unknown): value is Response {
  return Object.prototype.toString.call(value) === '[object Response]';
}

function isWebStream(value: unknown): value is ReadableStream<unknown> {
  return typeof (value as Partial<ReadableStream> | null)?.getReader === 'function';
}
