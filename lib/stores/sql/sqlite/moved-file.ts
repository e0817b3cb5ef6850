import { statSync } from 'node:fs';

/**
 * The file behind a connection. The connection goes on to use it after it was deleted, or another file was put in its place.
 * Processes that open the file by its name then lock in another file.
 */
export class MovedFile {
  readonly #pathOf: () => string;
  #known: { readonly path: string; readonly inode: string | undefined } | undefined;

  /** `pathOf` is asked once, when the connection is used first. It is empty if there is no file. */
  constructor(pathOf: () => string) {
    this.#pathOf = pathOf;
  }

  /** Throws when the file is another one than at first. */
  check(): void {
    if (!this.#known) {
      const path = this.#pathOf();
      this.#known = { path, inode: inodeOf(path) };
    }
    const { path, inode } = this.#known;
    if (inode === undefined || inodeOf(path) === inode) return;
    throw new Error(
      'the file of the database was deleted or replaced: other processes lock in another one. Open it anew',
    );
  }
}

/** `undefined` if there is no file. The number stays that of the file as long as a process has it open. */
function inodeOf(path: string): string | undefined {
  const stat = path === '' ? undefined : statSync(path, { bigint: true, throwIfNoEntry: false });
  return stat && `${stat.dev}:${stat.ino}`;
}
