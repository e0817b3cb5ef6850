import { request } from 'node:http';
import type { RequestListener } from 'node:http';
import express5 from 'express';
import { LockService, MemoryLockStore } from 'nest-holdfast/core';
import { lockDashboard } from 'nest-holdfast/dashboard';
import { ask, Events } from '../support/browser-requests.js';
import { serve } from '../support/served.js';
import type { Served } from '../support/served.js';

/** Sends what comes for `prefix` on to `origin`, with `instead` in place of the prefix. */
function proxy(prefix: string, origin: string, instead: string): RequestListener {
  return (incoming, outgoing) => {
    if (!incoming.url!.startsWith(prefix)) return void outgoing.writeHead(404).end();
    const url = origin + instead + incoming.url!.slice(prefix.length);
    const { method, headers } = incoming;
    const forwarded = request(url, { method, headers, agent: false }, (answer) => {
      outgoing.writeHead(answer.statusCode!, answer.headers);
      answer.pipe(outgoing);
    });
    outgoing.on('close', () => forwarded.destroy());
    incoming.pipe(forwarded);
    return undefined;
  };
}

describe('The page behind a proxy', () => {
  const locks = new LockService(new MemoryLockStore());
  const page = lockDashboard({ locks, authorize: 'public' });
  let served: Served;

  beforeAll(async () => {
    served = await serve(express5().use('/locks', page));
  });
  afterAll(async () => {
    page.close();
    await served.close();
    await locks.close();
  });

  it.each([
    ['that takes a prefix off', '/tools', '', '/tools/locks'],
    ['that takes a prefix off, with a slash at the end', '/tools', '', '/tools/locks/'],
    ['that has another prefix', '/a/b/c', '/locks', '/a/b/c/'],
    ['that adds a prefix', '', '', '/locks'],
  ])('%s finds its files, its data and its events', async (_, prefix, instead, path) => {
    const front = await serve(proxy(prefix, served.origin, instead));
    const at = front.origin + path;
    const { body } = await ask(at);
    const base = new URL(/<base href="([^"]+)">/.exec(body)![1]!, at).href;
    const files = [...body.matchAll(/(?:src|href)="(page[^"]+)"/g)].map(([, file]) => file!);
    for (const file of [...files, 'api/snapshot']) {
      expect((await ask(new URL(file, base).href)).status).toBe(200);
    }
    expect(files).toHaveLength(2);
    const events = await Events.open(new URL('api/events', base).href);
    await events.until(() => true);
    events.close();
    await front.close();
  });
});
