import type { Connection } from '../client/connection.js';
import { pathElement, readerMark } from './node-names.js';
import { checkPath } from '../client/zookeeper-answers.js';
import { Code, CreateMode } from '../client/zookeeper-client.js';
import { isRefusal } from '../client/zookeeper-errors.js';

const NOTHING = Buffer.alloc(0);
/** A node that is no container may be removed between its creation and that of a node in it. */
const ATTEMPTS = 20;

/** The node of each key, under the root. Its children are the queue: the holders and the waiters. */
export class KeyNodes {
  readonly root: string;
  readonly #acl: object[];
  #hasContainers = true;

  constructor(root: string, acl: object[]) {
    this.root = root;
    this.#acl = acl;
  }

  pathOf(key: string): string {
    return `${this.root}/${pathElement(key)}`;
  }

  /** Makes all nodes in one transaction. Resolves with their paths, to which the server has appended numbers. */
  async enter(connection: Connection, paths: readonly string[], data: Buffer): Promise<string[]> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await connection.createAll(paths, data, this.#acl, CreateMode.ephemeralSequential);
      } catch (error) {
        if (!isRefusal(error, Code.noNode) || attempt === ATTEMPTS) throw error;
        await Promise.all(paths.map((path) => this.#open(connection, parentOf(path))));
      }
    }
  }

  /** Turns writers into readers, all or none. Resolves `false` when one is gone. May be repeated. */
  async markReaders(
    connection: Connection,
    paths: readonly string[],
    data: Buffer,
  ): Promise<boolean> {
    try {
      return await connection.markAll(paths, readerMark, data, this.#acl);
    } catch (error) {
      if (isRefusal(error, Code.nodeExists)) return true;
      throw error;
    }
  }

  /** Removes a node, and makes one at the end of its queue, which gets a number. Resolves `undefined` when there is no such node. */
  async replace(connection: Connection, node: string, own: string, data: Buffer) {
    const { ephemeralSequential } = CreateMode;
    const results = await connection.change(
      node,
      (all, path) =>
        all
          .remove(path, -1)
          .create(own, data, this.#acl, ephemeralSequential)
          .setData(parentOf(path), NOTHING, -1),
      3,
    );
    const path = results?.[1]!.path;
    if (path !== undefined) checkPath(own)(path);
    return path;
  }

  /** The server removes empty containers by itself. Nodes that are no containers are removed here. */
  async tidy(connection: Connection, parent: string): Promise<void> {
    if (this.#hasContainers) return;
    try {
      await connection.remove(parent);
    } catch (error) {
      if (!isRefusal(error, Code.notEmpty)) throw error;
    }
  }

  /** A container, or an ordinary node where the server is older than 3.5.3. */
  async #open(connection: Connection, parent: string): Promise<void> {
    const { container, persistent } = CreateMode;
    try {
      await this.#make(connection, parent, this.#hasContainers ? container : persistent);
    } catch (error) {
      if (!isRefusal(error, Code.unimplemented)) throw error;
      this.#hasContainers = false;
    }
  }

  /** Makes missing parts of the path, too, and sends nothing for parts that exist. */
  async #make(connection: Connection, path: string, mode: number): Promise<void> {
    try {
      await connection.create(path, NOTHING, this.#acl, mode);
    } catch (error) {
      if (isRefusal(error, Code.nodeExists)) return;
      const parent = parentOf(path);
      if (!isRefusal(error, Code.noNode) || parent === '') throw error;
      await this.#make(connection, parent, CreateMode.persistent);
      await this.#make(connection, path, mode);
    }
  }
}

/** The path of a node. */
export function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/'));
}
