import type { StoreNotice } from '../../core/contract/lock-store.js';

/** Follows the holder in its node. An older version takes it for a part of the holder. */
const ASKED = /\nasked to stop within (\d{1,15}) ms$/;
/** A node has one holder: whatever its token is, that one is meant. */
const ANY_TOKEN = 2n ** 64n;

/** The text of a node: its holder, and what an eviction asks of it. */
export interface HolderText {
  readonly holder: string;
  /** Milliseconds within which it is asked to stop. Missing: it is not. */
  readonly grace?: number;
}

export function readHolder(text: string): HolderText {
  const asked = ASKED.exec(text);
  return asked ? { holder: text.slice(0, asked.index), grace: Number(asked[1]) } : { holder: text };
}

/** The text that asks the holder to stop within `grace` ms. */
export function askingText(holder: string, grace: number): string {
  return `${holder}\nasked to stop within ${grace} ms`;
}

/** For the holder of `key` in this process, which has read such a text. */
export function askedNotice(key: string, grace: number): StoreNotice {
  return { type: 'revoked', key, upTo: ANY_TOKEN, grace };
}
