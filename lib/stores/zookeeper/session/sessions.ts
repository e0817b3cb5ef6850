import { inRootContext } from '../../../core/async/root-context.js';
import { KeyNodes } from '../names/key-nodes.js';
import { Session } from './session.js';
import { clientAcls } from '../client/zookeeper-acl.js';
import { loadDriver } from '../client/zookeeper-client.js';
import type { ZooKeeperDriver } from '../client/zookeeper-client.js';
import { SessionEndedError } from '../client/zookeeper-errors.js';
import type { ResolvedZooKeeperOptions } from '../client/zookeeper-options.js';

/** The longest pause of the client between two rounds over all servers. */
const LONGEST_PAUSE = 1_000;

/** Work that a session does. */
export type InSession<T> = (session: Session, keyNodes: KeyNodes) => Promise<T>;

/** The session in use. After its end, neither it nor its client can be used: the next call gets a new session. */
export class Sessions {
  readonly #servers: string;
  readonly #options: ResolvedZooKeeperOptions;
  readonly #doubt: (reason: string) => void;
  #loading: Promise<ZooKeeperDriver> | undefined;
  #keyNodes: KeyNodes | undefined;
  #session: Session | undefined;
  #isClosed = false;

  constructor(servers: string, options: ResolvedZooKeeperOptions, doubt: (reason: string) => void) {
    this.#servers = servers;
    this.#options = options;
    this.#doubt = doubt;
  }

  /** If the session ends meanwhile, tries again in a new one. Not if there was no connection at all, or `auth` was refused. */
  async use<T>(work: InSession<T>): Promise<T> {
    for (;;) {
      const driver = await this.#load();
      const session = this.#current(driver);
      try {
        return await work(session, this.#keyNodes!);
      } catch (error) {
        const isWorthIt = session.isWorthAnother && !this.#isClosed;
        if (!(error instanceof SessionEndedError) || !isWorthIt) throw error;
      }
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#session?.close();
  }

  /** A package that could not be loaded may be installed by the time of the next call. */
  async #load(): Promise<ZooKeeperDriver> {
    this.#loading ??= inRootContext(loadDriver);
    try {
      return await this.#loading;
    } catch (error) {
      this.#loading = undefined;
      throw error;
    }
  }

  #current(driver: ZooKeeperDriver): Session {
    if (this.#isClosed) throw new Error('the ZooKeeperLockStore was closed');
    if (this.#session && !this.#session.isOver) return this.#session;
    const { root, acl, auth, sessionTimeout, clock } = this.#options;
    this.#keyNodes ??= new KeyNodes(root, clientAcls(acl, driver));
    const spinDelay = Math.min(LONGEST_PAUSE, Math.ceil(sessionTimeout / 10));
    const client = driver.createClient(this.#servers, { sessionTimeout, spinDelay, retries: 0 });
    if (auth) client.addAuthInfo(auth.scheme, Buffer.from(auth.credential));
    const context = { clock, servers: this.#servers, root, doubt: this.#doubt };
    this.#session = inRootContext(() => new Session(client, context));
    return this.#session;
  }
}
