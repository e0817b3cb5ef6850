import { inRootContext } from '../../../core/async/root-context.js';
import { EtcdSession } from './etcd-session.js';
import type { SessionContext } from './etcd-session.js';

/** The one session of a store. It is opened when it is first needed, and again when it is needed after a loss. */
export class EtcdSessions {
  readonly #context: SessionContext;
  #current: Promise<EtcdSession> | undefined;
  #isClosed = false;

  constructor(context: SessionContext) {
    this.#context = context;
  }

  async current(): Promise<EtcdSession> {
    const known = this.#current;
    if (known) {
      const session = await known;
      if (!session.isLost) return session;
      if (this.#current === known) this.#current = undefined;
      return this.current();
    }
    if (this.#isClosed) throw new Error('the store was closed');
    const opening = inRootContext(() => EtcdSession.open(this.#context));
    this.#current = opening;
    opening.catch(() => {
      if (this.#current === opening) this.#current = undefined;
    });
    return opening;
  }

  /** Never rejects. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const session = await this.#current?.catch(() => undefined);
    await session?.close();
  }
}
