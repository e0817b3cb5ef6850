import { generateKeyPairSync } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../../../support/processes/free-port.js';
import { EtcdServer } from '../../../support/servers/etcd-server.js';
import { startOnFreePort } from '../../../support/processes/server-process.js';

const BELOW_HOLDFAST = { key: base64('holdfast/'), range_end: base64('holdfast0') };
const GRANT = { name: 'locks', perm: { permType: 'READWRITE', ...BELOW_HOLDFAST } };

/**
 * An etcd that wants a login. It is good for one or two seconds: `simple`, unless it is used; `jwt`, also then, and until
 * any user or role is changed.
 */
export class EtcdAuthServer extends EtcdServer {
  readonly #tokens: 'simple' | 'jwt';

  constructor(tokens: 'simple' | 'jwt', ...rest: ConstructorParameters<typeof EtcdServer>) {
    super(...rest);
    this.#tokens = tokens;
  }

  static async demanding(tokens: 'simple' | 'jwt'): Promise<EtcdAuthServer> {
    const peerPort = await freePort();
    const members = `n0=http://127.0.0.1:${peerPort}`;
    const server = await startOnFreePort(
      (port) => new EtcdAuthServer(tokens, port, { name: 'n0', peerPort, members }),
    );
    await server.#demandLogins();
    return server;
  }

  protected override commandLine(directory: string): ReturnType<EtcdServer['commandLine']> {
    const command = super.commandLine(directory);
    const { privateKey, publicKey } = this.#keys(directory);
    const jwt = `jwt,pub-key=${publicKey},priv-key=${privateKey},sign-method=RS256,ttl=2s`;
    const how = this.#tokens === 'jwt' ? `--auth-token=${jwt}` : '--auth-token-ttl=1';
    return { ...command, args: [...command.args, how] };
  }

  /** Asks as `root`. */
  async askAsRoot(path: string, body: object): Promise<void> {
    const login = { name: 'root', password: 'secret' };
    for (;;) {
      const { token } = (await this.ask('/v3/auth/authenticate', login)) as { token: string };
      const headers = { authorization: token };
      const options = { method: 'POST', headers, body: JSON.stringify(body) };
      const response = await fetch(this.url + path, options);
      if (response.ok) return;
      const answer = await response.text();
      if (!answer.includes('invalid auth token')) throw new Error(`${path}: ${answer}`); // else it has run out already
    }
  }

  /** Whether `locker` may use what is below `holdfast/`. */
  async permit(isAllowed: boolean): Promise<void> {
    if (isAllowed) await this.askAsRoot('/v3/auth/role/grant', GRANT);
    else await this.askAsRoot('/v3/auth/role/revoke', { role: 'locks', ...BELOW_HOLDFAST });
  }

  #keys(directory: string): { readonly privateKey: string; readonly publicKey: string } {
    const files = { privateKey: join(directory, 'key'), publicKey: join(directory, 'key.pub') };
    if (existsSync(files.privateKey)) return files;
    const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    writeFileSync(files.privateKey, privateKey.export({ type: 'pkcs1', format: 'pem' }));
    writeFileSync(files.publicKey, publicKey.export({ type: 'spki', format: 'pem' }));
    return files;
  }

  /** `root` may do everything, `locker` what the locks below `holdfast/` need. */
  async #demandLogins(): Promise<void> {
    await this.ask('/v3/auth/role/add', { name: 'root' });
    await this.ask('/v3/auth/role/add', { name: 'locks' });
    await this.ask('/v3/auth/role/grant', GRANT);
    for (const [name, role] of [
      ['root', 'root'],
      ['locker', 'locks'],
    ]) {
      await this.ask('/v3/auth/user/add', { name, password: 'secret' });
      await this.ask('/v3/auth/user/grant', { user: name, role });
    }
    await this.ask('/v3/auth/enable');
  }
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}
