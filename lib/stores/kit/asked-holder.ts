/** Follows the holder in its node. An older version takes it for a part of the holder. */
const ASKED = /\nasked to stop within (\d{1,15}) ms$/;

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
