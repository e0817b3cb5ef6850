import type { IncomingMessage } from 'node:http';
import { Refusal } from './answers.js';

const MOST_BYTES = 16_384;
const WRONG = 'LOCK_DASHBOARD_BODY_INVALID';

/** The body, parsed by the application (`parsed`) or here. Rejects with `Refusal`. */
export async function jsonBody(request: IncomingMessage, parsed: unknown): Promise<object> {
  const isRead = request.readableEnded || hasFields(parsed);
  const body = isRead ? parsed : parse(await readText(request));
  if (typeof body === 'object' && body !== null && !Array.isArray(body)) return body;
  throw new Refusal(400, WRONG, 'The body must be a JSON object');
}

async function readText(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MOST_BYTES) throw new Refusal(413, WRONG, 'The body is too long');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Refusal(400, WRONG, 'The body must be JSON');
  }
}

/** A parser of Express 4 that was not concerned leaves an empty object. */
function hasFields(parsed: unknown): boolean {
  return typeof parsed === 'object' && parsed !== null && Object.keys(parsed).length > 0;
}
