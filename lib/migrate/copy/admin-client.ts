import { UnknownAnswerError } from '../../core/contract/unknown-answer.js';

/** A connection of an administrator to one Redis server: a client of ioredis, without a `keyPrefix`. */
export interface RedisAdmin {
  call(command: string, ...args: (string | number)[]): Promise<unknown>;
}

/** Questions to one server. */
export class AdminServer {
  readonly #client: RedisAdmin;

  constructor(client: RedisAdmin) {
    this.#client = client;
  }

  call(command: string, ...args: (string | number)[]): Promise<unknown> {
    return this.#client.call(command, ...args);
  }

  async text(command: string, ...args: (string | number)[]): Promise<string> {
    const reply = await this.call(command, ...args);
    if (typeof reply !== 'string') throw new UnknownAnswerError('a string', reply);
    return reply;
  }

  async list(command: string, ...args: (string | number)[]): Promise<readonly unknown[]> {
    const reply = await this.call(command, ...args);
    if (!Array.isArray(reply)) throw new UnknownAnswerError('a list', reply);
    return reply;
  }

  /** Milliseconds since 1970, by the server's clock. */
  async time(): Promise<number> {
    const [seconds, micros] = await this.list('TIME');
    return Number(seconds) * 1_000 + Number(micros) / 1_000;
  }

  /** One field of `INFO`. */
  async info(section: string, field: string): Promise<string | undefined> {
    const text = await this.text('INFO', section);
    return new RegExp(`^${field}:(.*?)\\r?$`, 'm').exec(text)?.[1];
  }
}
