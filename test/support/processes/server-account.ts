import { execFileSync } from 'node:child_process';
import { chmod, chown } from 'node:fs/promises';

/** Whose process a server is. */
export interface Account {
  readonly uid: number;
  readonly gid: number;
}

/** The account of a server that refuses to run as root. `undefined` when we are not root and run it as ourselves. */
export function accountFor(user: string): Account | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const id = (flag: string) => Number(execFileSync('id', [flag, user], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}

export async function giveTo(directory: string, account: Account | undefined): Promise<void> {
  if (!account) return;
  await chown(directory, account.uid, account.gid);
  await chmod(directory, 0o700);
}
