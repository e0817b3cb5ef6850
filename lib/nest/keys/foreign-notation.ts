import type { KeyTemplate } from '../../core/keys/key-template.js';

/** `{id}`, or `:id` where a path has it. Behind one colon, a name is a part of many keys. */
const PLACEHOLDERS_ELSEWHERE = /\{([\w.$]+)\}|(?:^|[:/]):([A-Za-z_$][\w$]*)/g;

/**
 * Refuses what is a placeholder in other notations and names a parameter: as mere text, it would be one key for all calls.
 * A name that the template also has as a placeholder is text indeed, such as the hash tag of `{order}:<order.id>`.
 */
export function refuseForeignNotation(
  label: string,
  { source, placeholders }: KeyTemplate,
  isParameter: (name: string) => boolean,
): void {
  const text = source.replaceAll(/<[^<>]*>/g, '<>');
  for (const [found, inBraces, afterColon] of text.matchAll(PLACEHOLDERS_ELSEWHERE)) {
    const path = inBraces ?? afterColon!;
    const [root = ''] = path.split('.');
    const isText = !isParameter(root) || placeholders.some((each) => each.root === root);
    if (isText) continue;
    const notation = inBraces === undefined ? `:${path}` : found;
    throw new TypeError(
      `${label}: ${notation} in "${source}" is no placeholder, though ${root} is a parameter. Write <${path}>, ` +
        'or a key function where it is meant as text',
    );
  }
}

/** Of a text that has no such thing, nothing needs to be known. */
export function mayBeForeign(source: string): boolean {
  return source.search(PLACEHOLDERS_ELSEWHERE) >= 0;
}
