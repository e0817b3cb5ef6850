import { parse } from 'acorn';
import type { Function as FunctionNode, Options, Pattern } from 'acorn';

/** One parameter as it stands in the source. */
export interface MethodParameter {
  /** Missing for a destructured one. */
  readonly name: string | undefined;
  readonly kind: 'plain' | 'default' | 'rest' | 'destructured';
}

export interface MethodSignature {
  readonly parameters: readonly MethodParameter[];
  /** `pay(id, { amount })`, for messages. */
  readonly text: string;
  /** `true` where another decorator has put a function with parameters of its own in place of the method. */
  readonly isHidden: boolean;
}

/** Reads the parameters from the method's source text, with a real parser. `undefined` when the text is not JavaScript of its own. */
export function methodSignature(method: Function): MethodSignature | undefined {
  const source = Function.prototype.toString.call(method);
  const found = parseAs(`({${source}})`) ?? parseAs(`(${source})`);
  if (!found) return undefined;
  const { node, code } = found;
  const first = node.params[0];
  const list = first ? code.slice(first.start, node.params.at(-1)!.end).replace(/\s+/g, ' ') : '';
  const parameters = node.params.map(parameter);
  const isHidden = first ? parameters[0]!.kind === 'rest' : /\barguments\b/.test(source);
  return { parameters, text: `${method.name}(${list})`, isHidden };
}

/** A method uses what its class declares, and `import.meta` where its file is a module. */
const PARSER_OPTIONS: Options = {
  ecmaVersion: 'latest',
  checkPrivateFields: false,
  allowImportExportEverywhere: true,
};

function parseAs(code: string): { node: FunctionNode; code: string } | undefined {
  try {
    const [statement] = parse(code, PARSER_OPTIONS).body;
    if (statement?.type !== 'ExpressionStatement') return undefined;
    const { expression } = statement;
    const [property] = expression.type === 'ObjectExpression' ? expression.properties : [];
    const node = property?.type === 'Property' ? property.value : expression;
    const isFunction =
      node.type === 'FunctionExpression' || node.type === 'ArrowFunctionExpression';
    return isFunction ? { node, code } : undefined;
  } catch {
    return undefined; // native code, or a form that only the other attempt can read
  }
}

function parameter(pattern: Pattern): MethodParameter {
  switch (pattern.type) {
    case 'Identifier':
      return { name: pattern.name, kind: 'plain' };
    case 'AssignmentPattern':
      return {
        ...parameter(pattern.left),
        kind: pattern.left.type === 'Identifier' ? 'default' : 'destructured',
      };
    case 'RestElement':
      return { ...parameter(pattern.argument), kind: 'rest' };
    default:
      return { name: undefined, kind: 'destructured' };
  }
}
