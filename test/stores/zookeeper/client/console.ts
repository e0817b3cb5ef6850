import { ACL, type Client, Id, Permission, createClient } from 'node-zookeeper-client';

/** A session of an operator with other tools. */
export class ZooKeeperConsole implements AsyncDisposable {
  readonly #client: Client;
  readonly #connected: Promise<void>;

  constructor(servers: string, user?: string) {
    this.#client = createClient(servers, { sessionTimeout: 5_000 });
    if (user !== undefined) this.#client.addAuthInfo('digest', Buffer.from(user));
    this.#connected = new Promise((resolve) => this.#client.once('connected', resolve));
    this.#client.connect();
  }

  /** Rejects with the error of the client. */
  async children(path: string): Promise<string[]> {
    return this.#ask((done) => this.#client.getChildren(path, done));
  }

  async exists(path: string): Promise<boolean> {
    return (await this.#ask((done) => this.#client.exists(path, done))) !== null;
  }

  async data(path: string): Promise<string> {
    return String(await this.#ask<Buffer>((done) => this.#client.getData(path, done)));
  }

  async acl(path: string): Promise<ACL[]> {
    return this.#ask((done) => this.#client.getACL(path, done));
  }

  /** Forbids all clients to delete nodes below this one, or allows it again. */
  async freeze(path: string, isFrozen = true): Promise<void> {
    const { ALL, DELETE } = Permission;
    const acl = [new ACL(isFrozen ? ALL & ~DELETE : ALL, new Id('world', 'anyone'))];
    await this.#ask((done) => this.#client.setACL(path, acl, -1, done));
  }

  async create(path: string): Promise<string> {
    return this.#ask((done) => this.#client.create(path, done));
  }

  async write(path: string, data: string): Promise<void> {
    await this.#ask((done) => this.#client.setData(path, Buffer.from(data), done));
  }

  async remove(path: string): Promise<void> {
    await this.#ask<unknown>((done) =>
      this.#client.remove(path, (error) => done(error, undefined)),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#connected;
    const closed = new Promise<void>((resolve) => this.#client.once('disconnected', resolve));
    this.#client.close();
    await closed;
  }

  async #ask<T>(send: (done: (error: unknown, answer: T) => void) => void): Promise<T> {
    await this.#connected;
    return new Promise((resolve, reject) =>
      send((error, answer) => (error instanceof Error ? reject(error) : resolve(answer))),
    );
  }
}
