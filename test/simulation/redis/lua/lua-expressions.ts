import type { Expression, Identifier } from './lua-syntax.js';
import { GIVE_SEVERAL, LIBRARY } from './lua-library.js';

type Of<Type extends Expression['type']> = Extract<Expression, { type: Type }>;

const ARITHMETIC = ['+', '-', '*', '/'];
const COMPARISONS = ['<', '<=', '>', '>='];
const GIVEN = ['KEYS', 'ARGV', 'redis'];

export function nameOf({ name }: Identifier): string {
  return GIVEN.includes(name) ? `$${name}` : `$$${name}`;
}

/** One value. */
export function valueOf(expression: Expression): string {
  switch (expression.type) {
    case 'StringLiteral':
      return JSON.stringify(literalOf(expression));
    case 'NumericLiteral':
    case 'BooleanLiteral':
      return String(expression.value);
    case 'NilLiteral':
      return 'undefined';
    case 'Identifier':
      return expression.name in LIBRARY ? `$lib.${expression.name}` : nameOf(expression);
    case 'VarargLiteral':
      return '$rest[0]';
    case 'UnaryExpression':
      return unaryOf(expression);
    case 'BinaryExpression':
      return binaryOf(expression);
    case 'LogicalExpression':
      return logicalOf(expression);
    case 'MemberExpression':
      return memberOf(expression);
    case 'IndexExpression':
      return `$.index(${valueOf(expression.base)}, ${valueOf(expression.index)})`;
    case 'TableConstructorExpression':
      return tableOf(expression);
    case 'CallExpression':
      return givesSeveral(expression) ? `$.one(${callOf(expression)})` : callOf(expression);
    default:
      throw new Error(`no ${String((expression as { type: unknown }).type)} is known`);
  }
}

/** A call with all its results. */
export function callOf(expression: Expression): string {
  if (expression.type !== 'CallExpression') throw new Error(`${expression.type} is no call`);
  return `${valueOf(expression.base)}(${argumentsOf(expression.arguments)})`;
}

/** Whether there may be more or less than one result. */
export function givesSeveral(expression: Expression): boolean {
  if (expression.type !== 'CallExpression') return false;
  const { base } = expression;
  if (base.type === 'Identifier')
    return !(base.name in LIBRARY) || GIVE_SEVERAL.includes(base.name);
  return base.type === 'MemberExpression' && GIVE_SEVERAL.includes(base.identifier.name);
}

/** The last one with all its results. */
export function argumentsOf(list: readonly Expression[]): string {
  return list
    .map((each, index) => {
      if (index < list.length - 1) return valueOf(each);
      if (each.type === 'VarargLiteral') return '...$rest';
      return givesSeveral(each) ? `...$.all(${callOf(each)})` : valueOf(each);
    })
    .join(', ');
}

/** Without escapes: our scripts have none. */
function literalOf({ raw }: { readonly raw: string }): string {
  return raw.slice(1, -1);
}

function unaryOf({ operator, argument }: Of<'UnaryExpression'>): string {
  const value = valueOf(argument);
  if (operator === 'not') return `!$.truthy(${value})`;
  if (operator === '#') return `$.length(${value})`;
  return `(-$.number(${value}))`;
}

function binaryOf({ operator, left, right }: Of<'BinaryExpression'>): string {
  const [one, other] = [valueOf(left), valueOf(right)];
  if (operator === '==') return `(${one} === ${other})`;
  if (operator === '~=') return `(${one} !== ${other})`;
  if (operator === '..') return `($.text(${one}) + $.text(${other}))`;
  if (operator === '%') return `$.modulo(${one}, ${other})`;
  if (ARITHMETIC.includes(operator)) return `($.number(${one}) ${operator} $.number(${other}))`;
  if (COMPARISONS.includes(operator)) return `($.compare(${one}, ${other}) ${operator} 0)`;
  throw new Error(`no operator ${operator} is known`);
}

function logicalOf({ operator, left, right }: Of<'LogicalExpression'>): string {
  const [one, other] = [valueOf(left), valueOf(right)];
  const [yes, no] = operator === 'and' ? [other, '$v'] : ['$v', other];
  return `(($v) => ($.truthy($v) ? ${yes} : ${no}))(${one})`;
}

function memberOf({ base, identifier }: Of<'MemberExpression'>): string {
  if (base.type !== 'Identifier' || (!(base.name in LIBRARY) && base.name !== 'redis'))
    return `$.index(${valueOf(base)}, ${JSON.stringify(identifier.name)})`;
  return `${valueOf(base)}.${identifier.name}`;
}

function tableOf({ fields }: Of<'TableConstructorExpression'>): string {
  const list = fields.flatMap((field) => (field.type === 'TableValue' ? [field.value] : []));
  const named = fields.flatMap(
    (field) =>
    field.type === 'TableKeyString' ? [`[${JSON.stringify(field.key.name)}, ${valueOf(field.value)}]`] : [], // prettier-ignore
  );
  const table = `new $.LuaTable([${argumentsOf(list)}])`;
  return named.length === 0 ? table : `$.withFields(${table}, [${named.join(', ')}])`;
}
