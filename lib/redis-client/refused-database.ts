/** The part of an ioredis client that it needs. */
interface LeavableClient {
  on(event: 'error', listener: (error: Error & { readonly command?: { readonly name: string } }) => void): unknown; // prettier-ignore
  disconnect(reconnect: boolean): void;
}

/**
 * Where a server refuses the database of a client, ioredis goes on in database 0. With this it disconnects, and tries again: its
 * calls fail, with the server's refusal as their cause.
 */
export function leaveOtherDatabase(client: LeavableClient): void {
  client.on('error', ({ name, command }) => {
    if (name === 'ReplyError' && command?.name === 'select') client.disconnect(true);
  });
}
