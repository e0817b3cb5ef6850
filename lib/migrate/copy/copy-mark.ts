import type { AdminServer } from './admin-client.js';

const NAME = '{holdfast}:closed';

/** A key of `from`, from its close to the end of the copy: the rights that were taken from the user. */
export class CopyMark {
  readonly #from: AdminServer;

  constructor(from: AdminServer) {
    this.#from = from;
  }

  /** `false`: another copy has begun. */
  async leave(rights: string): Promise<boolean> {
    return (await this.#from.call('SET', NAME, rights, 'NX')) !== null;
  }

  /** `undefined`: no copy has begun, or it has ended. */
  async rights(): Promise<string | undefined> {
    const rights = await this.#from.call('GET', NAME);
    return typeof rights === 'string' ? rights : undefined;
  }

  async remove(): Promise<void> {
    await this.#from.call('DEL', NAME);
  }
}
