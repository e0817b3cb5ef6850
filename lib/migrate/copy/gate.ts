import type { AdminServer } from './admin-client.js';

/** The rights of a user by which a copy takes them away, and gives them back. */
interface Rights {
  readonly isOn: boolean;
  /** As `ACL SETUSER` takes them: `-@all +evalsha …`. */
  readonly commands: string;
  /** Rights besides those (Redis 7): the gate does not close them. */
  readonly hasSelectors: boolean;
}

/** Permissions to take away, so that no lock is taken or freed: those of our scripts, and `SET NX` of programs in other languages. */
const CLOSED = ['-@scripting', '-@write'];

/** The user by which the applications reach a server. */
export class Gate {
  readonly #server: AdminServer;
  readonly #user: string;

  constructor(server: AdminServer, user: string) {
    this.#server = server;
    this.#user = user;
  }

  /** `undefined`: the server has no such user. */
  async rights(): Promise<Rights | undefined> {
    const reply = await this.#server.call('ACL', 'GETUSER', this.#user);
    if (!reply) return undefined;
    const fields = fieldsOf(reply);
    const [flags, selectors] = [fields.get('flags'), fields.get('selectors')];
    return {
      isOn: Array.isArray(flags) && flags.includes('on'),
      commands: String(fields.get('commands')),
      hasSelectors: Array.isArray(selectors) && selectors.length > 0,
    };
  }

  /** Also for connections that are open. Nothing of the user is under way once the server has answered. */
  async close(): Promise<void> {
    await this.#set(...CLOSED);
  }

  /** Gives `commands` back. */
  async reopen(commands: string): Promise<void> {
    await this.#set(...commands.split(' '));
  }

  async switchOn(): Promise<void> {
    await this.#set('on');
  }

  async isOn(): Promise<boolean> {
    return (await this.rights())?.isOn === true;
  }

  /** `false` at the old server of an earlier copy. Redis 6 does not say. */
  async mayRunScripts(): Promise<boolean> {
    const dryRun = this.#server.call('ACL', 'DRYRUN', this.#user, 'EVALSHA', 'none', 0);
    return dryRun.then(
      (answer) => answer === 'OK',
      () => true,
    );
  }

  async connections(): Promise<number> {
    const clients = await this.#server.text('CLIENT', 'LIST');
    return clients.split('\n').filter((line) => line.includes(` user=${this.#user} `)).length;
  }

  /** Its connections end, and no new one is let in. */
  async retire(): Promise<void> {
    await this.#set('off');
    await this.#server.call('CLIENT', 'KILL', 'USER', this.#user);
  }

  async #set(...rules: readonly string[]): Promise<void> {
    await this.#server.call('ACL', 'SETUSER', this.#user, ...rules);
  }
}

/** Of a list of names and values, or of RESP3's map. */
function fieldsOf(reply: unknown): Map<unknown, unknown> {
  if (reply instanceof Map) return reply;
  if (!Array.isArray(reply)) return new Map(Object.entries(reply as object));
  const fields = new Map<unknown, unknown>();
  for (let at = 0; at < reply.length; at += 2) fields.set(reply[at], reply[at + 1]);
  return fields;
}
