import { KeyTemplate } from '../../core/keys/key-template.js';
import { withLabel } from '../../core/text/with-label.js';
import { LockKeyError } from '../../core/contract/lock-errors.js';
import type { LockKeys } from '../../core/keys/lock-keys.js';
import { show } from '../../core/options/option-values.js';
import { mayBeForeign, refuseForeignNotation } from './foreign-notation.js';
import { REQUEST, refuseRenamed, refuseRequest, unknownName } from './name-refusals.js';
import { methodSignature } from './parameter-names.js';
import type { MethodSignature } from './parameter-names.js';
import type { ParameterMarks } from './parameter-marks.js';

/** A template, several of them (all or nothing), or a function of the method's arguments. */
export type LockKeySource<Args extends unknown[] = unknown[]> =
  string | readonly string[] | ((...args: Args) => LockKeys);

/** Gives the keys of one call. `request` is called only when a placeholder asks for it. */
export type MethodKey = (args: readonly unknown[], request: () => unknown) => LockKeys;

interface Decorated {
  /** How messages name the method. */
  readonly label: string;
  readonly method: Function;
  readonly marks: ParameterMarks;
  /** `true` where the arguments do not exist yet (`before: 'pipes'`). */
  readonly requestOnly: boolean;
}

/** Resolves every placeholder when the class is defined, so that a misspelt or minified name fails right there. */
export function methodKey(source: LockKeySource<never[]>, decorated: Decorated): MethodKey {
  if (typeof source === 'function') {
    if (decorated.requestOnly) throw requestOnlyError(decorated, 'a function');
    return (args) => (source as (...all: unknown[]) => LockKeys)(...args);
  }
  if (typeof source === 'string') return templateKey(source, decorated);
  if (!isListOfStrings(source)) {
    throw new TypeError(
      `${decorated.label}: the key must be a template, a list of templates that is not empty, or a function, got ${show(source)}`,
    );
  }
  const keys = source.map((each) => templateKey(each, decorated));
  return (args, request) => keys.map((key) => key(args, request));
}

function isListOfStrings(source: unknown): source is readonly string[] {
  const isList = Array.isArray(source) && source.length > 0;
  return isList && source.every((each) => typeof each === 'string');
}

function templateKey(source: string, decorated: Decorated) {
  const { label, method, marks } = decorated;
  const template = withLabel(label, () => new KeyTemplate(source));
  const { placeholders } = template;
  const isRead = placeholders.length > 0 || mayBeForeign(source);
  const signature = isRead ? methodSignature(method) : undefined;
  refuseForeignNotation(
    label,
    template,
    (name) => marks.keys.has(name) || positionOf(name, signature) !== undefined,
  );
  const readers = new Map(
    placeholders.map((each) => [each.root, reader(each, template, signature, decorated)]),
  );
  return (args: readonly unknown[], request: () => unknown): string =>
    template.render((root) => readers.get(root)!(args, request));
}

/** A placeholder that names a parameter by its position. */
const POSITION = /^\d+$/;

/** The name in a placeholder. */
type Named = KeyTemplate['placeholders'][number];

type Reader = (args: readonly unknown[], request: () => unknown) => unknown;

function reader(
  placeholder: Named,
  template: KeyTemplate,
  signature: MethodSignature | undefined,
  decorated: Decorated,
): Reader {
  const { root } = placeholder;
  const site = { label: decorated.label, template, signature };
  if (root === REQUEST) {
    refuseRequest(placeholder, site, decorated.requestOnly);
    return (_args, request) => request();
  }
  if (decorated.requestOnly) throw requestOnlyError(decorated, `<${root}>`);
  const marked = decorated.marks.keys.get(root);
  const index = marked ?? positionOf(root, signature);
  if (index === undefined) throw unknownName(placeholder, site);
  if (marked === undefined && !POSITION.test(root)) refuseRenamed(root, site);
  const parameter = signature?.parameters[index];
  if (POSITION.test(root)) return (args) => args[index];
  if (parameter?.kind === 'rest') return (args) => args.slice(index);
  if (parameter?.kind !== 'default') return (args) => args[index];
  return (args) => args[index] ?? refuseDefault(args[index], root, template, decorated);
}

function positionOf(root: string, signature: MethodSignature | undefined): number | undefined {
  const parameters = signature?.parameters ?? [];
  if (!POSITION.test(root)) {
    const index = parameters.findIndex(({ name }) => name === root);
    return index < 0 ? undefined : index;
  }
  const hasRest = !signature || parameters.at(-1)?.kind === 'rest';
  return hasRest || Number(root) < parameters.length ? Number(root) : undefined;
}

/** The method would go on with its default, which the key cannot see. */
function refuseDefault(
  value: unknown,
  root: string,
  template: KeyTemplate,
  { label }: Decorated,
): unknown {
  if (value === null) return value;
  throw new LockKeyError(
    `${label}: <${root}> of "${template.source}" was not passed, and its default value is not visible to the key: ` +
      'pass the argument, or write the key as a function with the same default',
    template.source,
  );
}

function requestOnlyError({ label }: Decorated, found: string): TypeError {
  return new TypeError(
    `${label}: before: 'pipes' locks before the arguments exist, so its key may only read <request.…>, found ${found}`,
  );
}
