import type { KeyTemplate } from '../../core/keys/key-template.js';
import type { MethodSignature } from './parameter-names.js';

/** The root of placeholders that read the request. */
export const REQUEST = 'request';

/** The path of a placeholder: its first name, and the properties behind it. */
type Named = KeyTemplate['placeholders'][number];

/** Where a placeholder stands, for messages. */
interface Site {
  readonly label: string;
  readonly template: KeyTemplate;
  readonly signature: MethodSignature | undefined;
}

/** The name that bundlers give a parameter `request` where its file imports another `request`. */
const NUMBERED_REQUEST = /^request[_$]?\d+$/;

/** Names that minifiers give to parameters, and compilers for older targets (`_0`). A plain `_` is one that is not used. */
const MINIFIED = /^([A-Za-z$]|_\d+)$/;
const SHORT = /^[\w$]{1,2}$/;

/** Parts of a request that mean the request also where the names of the parameters are not known. */
const PARTS = new Set(
  'args body client cookies data headers hostname ip params query session user'.split(' '),
);

/** `<request.…>` reads the request in every build. Throws `TypeError` where it may mean a parameter of that name. */
export function refuseRequest({ path }: Named, site: Site, isBeforePipes: boolean): void {
  const { label, template, signature } = site;
  const parameters = signature?.parameters ?? [];
  const behind = behindRoot(path);
  const advice = (position: number) =>
    `Write the position of the parameter, <${position}${behind}>, or mark it with @LockKey('data') and write <data${behind}>`;
  const position = parameters.findIndex(
    ({ name }) => name !== undefined && (name === REQUEST || NUMBERED_REQUEST.test(name)),
  );
  if (position >= 0) {
    throw new TypeError(
      `${label}: <${REQUEST}${behind}> in "${template.source}" reads the request of a handler, and never a parameter ` +
        `(${found(signature)}), for builds rename parameters. ${advice(position)}. To read the request, rename the parameter`,
    );
  }
  const isUnknown = !signature || signature.isHidden || namesOf(signature).some(isMinified);
  if (isBeforePipes || !isUnknown || PARTS.has(path[0]!)) return;
  throw new TypeError(
    `${label}: <${REQUEST}${behind}> in "${template.source}" may mean a parameter that is called ${REQUEST} in the source: ` +
      `names are minified or hidden here (${found(signature)}). ${advice(0)}. To read the request, mark @Req() with ` +
      `@LockKey('req') and write <req${behind}>`,
  );
}

/** Throws `TypeError` for the name of a parameter that a build may give to another one. */
export function refuseRenamed(root: string, { label, template, signature }: Site): void {
  const why = signature && whyRenamed(root, signature);
  if (!why) return;
  throw new TypeError(
    `${label}: <${root}> in "${template.source}" may name another parameter in a build (${found(signature)}): ${why}. ` +
      `Write the position of the parameter, such as <0>, mark it with @LockKey('${root}'), or give it a longer name`,
  );
}

/** Where one parameter only has a name, the name can mean no other. */
function whyRenamed(root: string, signature: MethodSignature): string | undefined {
  const names = namesOf(signature);
  if (names.length < 2) return undefined;
  if (isMinified(root)) return 'minifiers give names of one letter to all parameters';
  if (!/\s/.test(signature.text) && names.every((name) => SHORT.test(name))) {
    return 'names are minified here';
  }
  const twin = names.find((name) => isNumbered(name, root) || isNumbered(root, name));
  return twin && `bundlers number names to tell them apart, and ${twin} differs by a number only`;
}

/** The names that compilers for older targets give parameters, destructured ones among them. */
function isLowered(name: string): boolean {
  return /^_\d+$/.test(name);
}

function isMinified(name: string): boolean {
  return MINIFIED.test(name);
}

/** `id2` and `id$1` may have been `id`. */
function isNumbered(name: string, stem: string): boolean {
  return name.startsWith(stem) && /^[_$]?\d+$/.test(name.slice(stem.length));
}

/** Why a placeholder names no parameter, and what to write instead. */
export function unknownName({ root, path }: Named, { label, template, signature }: Site) {
  const behind = behindRoot(path);
  return new TypeError(
    `${label}: <${root}> in "${template.source}" names no parameter (${found(signature)}). Where names are minified, or hidden by ` +
      `another decorator, write the position of the parameter, ${positions(root, behind, signature)}, ` +
      `mark it with @LockKey('${root}'), or use a key function. ` +
      `The request is read by <${inRequest([root, ...path])}>`,
  );
}

/** A destructured parameter has no name of its own, but that of its property. */
function positions(root: string, behind: string, signature: MethodSignature | undefined): string {
  const parameters = signature?.parameters ?? [];
  const destructured = parameters.findIndex(({ kind }) => kind === 'destructured');
  const property = `<${Math.max(destructured, 0)}.${root}${behind}>`;
  if (destructured >= 0 && parameters.length === 1) return property;
  const first = `<0${behind}> for the first`;
  if (destructured >= 0) return `${first} or ${property} for the destructured one`;
  const mayBeHidden = !signature || signature.isHidden || namesOf(signature).some(isLowered);
  return mayBeHidden ? `${first} or ${property} if that is destructured in the source` : first;
}

function namesOf(signature: MethodSignature | undefined): string[] {
  return (signature?.parameters ?? []).flatMap(({ name }) => name ?? []);
}

function behindRoot(path: readonly string[]): string {
  return path.map((each) => `.${each}`).join('');
}

function found(signature: MethodSignature | undefined): string {
  return signature ? `found ${signature.text}` : 'the parameters could not be read';
}

/** The field of a request that `<id>`, `<param.id>` or `<req.body.id>` may have meant. */
function inRequest(path: readonly string[]): string {
  const [part, ...rest] = path[0] === 'req' ? path.slice(1) : path;
  const isPart = ['query', 'body', 'headers', 'user'].includes(part!) && rest.length > 0;
  return isPart ? `request.${part}.${rest.join('.')}` : `request.params.${path.at(-1)}`;
}
