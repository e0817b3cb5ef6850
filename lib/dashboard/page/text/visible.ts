/** Control characters, marks that turn the direction of a text, and characters without a width. */
const UNSEEN =
  /[\p{Cc}\p{Zl}\p{Zp}\p{Cs}\u00ad\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff]/gu;
/** Spaces that a browser does not draw, or draws as one. */
const LOST_SPACES = /^ +| +$| {2,}/g;

/** `text` as it can be seen, so that two keys that differ look different: `\u202e` for a mark, `␣` for a space that gets lost. */
export function visible(text: string): string {
  return text.replace(UNSEEN, escaped).replace(LOST_SPACES, (spaces) => '␣'.repeat(spaces.length));
}

function escaped(character: string): string {
  return String.raw`\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
