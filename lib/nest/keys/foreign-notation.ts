import type { KeyTemplate } from '../../core/keys/key-template.js';
import { REQUEST } from './name-refusals.js';

/**
 * `{id}` and `{0}`, `#id` and `$id`, `:id` where a path has it, and `user.id` as a part of its own. Behind one colon, a single
 * name is a part of many keys.
 */
const PLACEHOLDERS_ELSEWHERE =
  /\{([\w.$]+)\}|(?:^|[:/])(:)([A-Za-z_$][\w$]*)|([#$])([A-Za-z_]\w*(?:\.\w+)*)|(?:^|[:/])([A-Za-z_$][\w$]*(?:\.[\w$]+)+)/g;

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
  for (const [found, inBraces, ...marked] of text.matchAll(PLACEHOLDERS_ELSEWHERE)) {
    const [colon, name, sign, signed, bare] = marked;
    const path = inBraces ?? name ?? signed ?? bare!;
    const [root = '', next] = path.split('.');
    const isRead = isParameter(root) || (root === REQUEST && next !== undefined);
    if (!isRead || placeholders.some((each) => each.root === root)) continue;
    const notation = inBraces === undefined ? `${colon ?? sign ?? ''}${path}` : found;
    const what = root === REQUEST ? 'the request of a handler' : 'a parameter';
    throw new TypeError(
      `${label}: ${notation} in "${source}" is no placeholder, though ${root} is ${what}. Write <${path}>, ` +
        'or a key function where it is meant as text',
    );
  }
}

/** Of a text that has no such thing, nothing needs to be known. */
export function mayBeForeign(source: string): boolean {
  return source.search(PLACEHOLDERS_ELSEWHERE) >= 0;
}
