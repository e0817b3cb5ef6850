import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync } from 'node:fs';
import { connect } from 'node:net';

/** The program, or an error that says what is missing. */
export function needed(program, what) {
  if (program === undefined) throw new Error(`${what} is not installed`);
  return program;
}

/** `15.18` of whatever else a program says of itself. */
export function versionOf(program) {
  return versionIn(execFileSync(program, ['--version'], { encoding: 'utf8' }));
}

export const versionIn = (text) => /\d+\.\d+(\.\d+)?/.exec(text)?.[0] ?? '';

/** Of a server that refuses to run as root. `undefined` when we are not root and run it as ourselves. */
export function accountFor(user) {
  if (process.getuid?.() !== 0) return undefined;
  const id = (flag) => Number(execFileSync('id', [flag, user], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}

export function giveTo(folder, account) {
  if (!account) return;
  chownSync(folder, account.uid, account.gid);
  chmodSync(folder, 0o700);
}

/** What a server on this port says first, after `words`. */
export function firstWords(port, words) {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(words));
    socket.setTimeout(1_000, () => socket.destroy(new Error('no answer')));
    socket.once('data', (data) => {
      resolve(data.toString('latin1'));
      socket.destroy();
    });
    socket.once('error', reject);
    socket.once('close', () => reject(new Error('closed')));
  });
}
