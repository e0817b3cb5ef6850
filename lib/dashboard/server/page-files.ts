import { createHash } from 'node:crypto';
import { builtPage } from '../built-page.js';
import { send } from './answers.js';
import { pageHtml } from './page-html.js';
import type { Visit } from './visit.js';

interface PageFile {
  readonly type: string;
  readonly body: Buffer;
  /** Of its content: another content has another address. */
  readonly hash: string;
}

/** They are behind the guards, so only the browser may keep them. */
const FOR_EVER = 'private, max-age=31536000, immutable';

const FILES = {
  'page.js': fileOf('text/javascript; charset=utf-8', builtPage.script),
  'page.css': fileOf('text/css; charset=utf-8', builtPage.style),
};

export function sendPage({ response, url }: Visit): void {
  const addressOf = (name: keyof typeof FILES) => `${name}?${FILES[name].hash}`;
  const html = pageHtml(url, addressOf('page.js'), addressOf('page.css'));
  send(response, 200, 'text/html; charset=utf-8', html);
}

/** The address of another version, which an old page asks for, is not kept. */
export function sendFile({ response, url }: Visit, name: keyof typeof FILES): void {
  const { type, body, hash } = FILES[name];
  send(response, 200, type, body, url.endsWith(`?${hash}`) ? FOR_EVER : undefined);
}

function fileOf(type: string, text: string): PageFile {
  const hash = createHash('sha256').update(text).digest('base64url').slice(0, 16);
  return { type, body: Buffer.from(text), hash };
}
