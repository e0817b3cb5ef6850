import { Readable } from 'node:stream';
import { Injectable, StreamableFile } from '@nestjs/common';
import { LockService } from 'nest-holdfast';
import { from, of } from 'rxjs';
import { Deferred } from './deferred.js';

/** The stream of a handler: two rows, the second when the test wants, and a clean-up that takes as long as the test wants. */
@Injectable()
export class Rows {
  /** How often it was begun, is at work, and was at most at the same time. */
  begun = 0;
  inside = 0;
  most = 0;
  /** Whether its clean-up runs, or has run. */
  isClosing = false;
  /** The key of the lock that its steps see. */
  key: string | undefined;
  /** Resolved, unless a test delays it. */
  first = new Deferred();
  second = new Deferred();
  cleanUp = new Deferred();

  constructor(readonly locks: LockService) {
    this.reset();
  }

  reset(): void {
    this.begun = 0;
    this.inside = 0;
    this.most = 0;
    this.isClosing = false;
    this.key = undefined;
    this.first = new Deferred();
    this.first.resolve();
    this.second = new Deferred();
    this.cleanUp = new Deferred();
    this.second.promise.catch(() => {});
  }

  /** All is sent, and cleaned up, without the test. */
  flow(): void {
    this.second.resolve();
    this.cleanUp.resolve();
  }

  async *read(): AsyncGenerator<string> {
    this.begun++;
    this.most = Math.max(this.most, ++this.inside);
    try {
      this.key = this.locks.current()?.key;
      await this.first.promise;
      yield 'first\n';
      await this.second.promise;
      yield 'second\n';
    } finally {
      this.isClosing = true;
      await this.cleanUp.promise;
      this.inside--;
    }
  }
}

/** As streams of other libraries: neither a generator nor a Node stream. */
export function customIterable(rows: Rows): AsyncIterable<string> {
  return {
    [Symbol.asyncIterator]() {
      const iterator = rows.read();
      return { next: () => iterator.next(), return: () => iterator.return(undefined) };
    },
  };
}

export const webStream = (rows: Rows) => ReadableStream.from(rows.read());

/** The results of handlers, by the way of sending them. */
export const BODIES = {
  iterable: (rows: Rows) => rows.read(),
  custom: customIterable,
  readable: (rows: Rows) => Readable.from(rows.read()),
  web: webStream,
  response: (rows: Rows) => new Response(webStream(rows) as never, { status: 203 }),
  file: (rows: Rows) => new StreamableFile(Readable.from(rows.read())),
  'observable-file': (rows: Rows) => of(new StreamableFile(Readable.from(rows.read()))),
  'observable-iterable': (rows: Rows) => from([rows.read()]),
};

export type BodyName = keyof typeof BODIES;
