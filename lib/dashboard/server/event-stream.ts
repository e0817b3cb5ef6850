import type { ServerResponse } from 'node:http';
import type { Cancel, Clock } from '../../core/async/clock.js';
import { isClosed } from '../../http/closed-response.js';
import { sendHead } from './answers.js';

export const STREAM_TYPE = 'text/event-stream; charset=utf-8';
/** Milliseconds between two comments, so that no proxy takes the connection for dead. */
const HEARTBEAT = 15_000;
/** Milliseconds after which a reader that takes nothing is given up. */
const LONGEST_PAUSE = 60_000;
/** Milliseconds for the last event to be sent. */
const LAST_WORDS = 1_000;

/**
 * Server-sent events to one browser. A slow reader skips events: only the last one waits for it, so that nothing piles up.
 */
export class EventStream {
  readonly #response: ServerResponse;
  readonly #clock: Clock;
  #isBlocked = false;
  #pending: string | undefined;
  #cancelHeartbeat: Cancel = () => undefined;
  #cancelPause: Cancel = () => undefined;

  constructor(response: ServerResponse, clock: Clock) {
    this.#response = response;
    this.#clock = clock;
    sendHead(response, 200, STREAM_TYPE);
    response.setHeader('x-accel-buffering', 'no'); // nginx would wait for a full buffer
    response.on('drain', this.#unblock);
    response.on('close', this.#stop);
    response.on('error', this.#stop);
    response.flushHeaders();
    this.#heartbeat();
  }

  /** `data` has no line break. */
  send(event: string, data: string): void {
    const text = `event: ${event}\ndata: ${data}\n\n`;
    if (this.#isBlocked) this.#pending = text;
    else this.#write(text);
  }

  /** Says goodbye. A reader that takes nothing is cut off. */
  end(event?: string): void {
    this.#stop();
    if (isClosed(this.#response)) return;
    if (this.#isBlocked) return void this.#response.destroy();
    this.#response.end(event && `event: ${event}\ndata: {}\n\n`);
    const cancel = this.#clock.schedule(LAST_WORDS, () => this.#response.destroy(), true);
    this.#response.once('close', cancel);
  }

  /** Without a goodbye. */
  cut(): void {
    this.#response.destroy();
  }

  #write(text: string): void {
    if (isClosed(this.#response) || this.#response.write(text)) return;
    this.#isBlocked = true;
    this.#cancelPause = this.#clock.schedule(LONGEST_PAUSE, () => this.#response.destroy(), true);
  }

  readonly #unblock = (): void => {
    this.#isBlocked = false;
    this.#cancelPause();
    const text = this.#pending;
    this.#pending = undefined;
    if (text !== undefined) this.#write(text);
  };

  #heartbeat(): void {
    this.#cancelHeartbeat = this.#clock.schedule(
      HEARTBEAT,
      () => {
        if (!this.#isBlocked) this.#write(':\n\n');
        this.#heartbeat();
      },
      true,
    );
  }

  readonly #stop = (): void => {
    this.#cancelHeartbeat();
    this.#cancelPause();
    this.#response.off('drain', this.#unblock);
  };
}
