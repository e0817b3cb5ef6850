import type { Expression, Statement } from './lua-syntax.js';
import { GIVE_SEVERAL } from './lua-library.js';
import { argumentsOf, callOf, givesSeveral, nameOf, valueOf } from './lua-expressions.js';

type Of<Type extends Statement['type']> = Extract<Statement, { type: Type }>;

export function blockOf(statements: readonly Statement[]): string {
  return statements.map(statementOf).join('\n');
}

function statementOf(statement: Statement): string {
  switch (statement.type) {
    case 'LocalStatement':
      return assignmentOf(statement.variables.map(nameOf), statement.init, (name, value) => `let ${name} = ${value};`); // prettier-ignore
    case 'AssignmentStatement':
      return assignedOf(statement);
    case 'CallStatement':
      return `${callOf(statement.expression)};`;
    case 'FunctionDeclaration':
      return `const ${nameOf(statement.identifier)} = ${functionOf(statement)};`;
    case 'ReturnStatement':
      return `return ${resultOf(statement.arguments)};`;
    case 'IfStatement':
      return ifOf(statement);
    case 'ForNumericStatement':
      return forOf(statement);
    case 'ForGenericStatement':
      return forEachOf(statement);
    case 'WhileStatement':
      return `while ($.truthy(${valueOf(statement.condition)})) {\n${blockOf(statement.body)}\n}`;
    case 'BreakStatement':
      return 'break;';
    default:
      throw new Error(`no ${String((statement as { type: unknown }).type)} is known`);
  }
}

function assignmentOf(
  targets: readonly string[],
  init: readonly Expression[],
  assign: (target: string, value: string) => string,
): string {
  const last = init.at(-1);
  if (last && init.length === 1 && targets.length > 1 && givesSeveral(last)) {
    const each = targets.map((target, index) => assign(target, `$.nth($results, ${index})`));
    const [first] = each;
    if (!first!.startsWith('let '))
      return `{ const $results = ${callOf(last)};\n${each.join('\n')} }`;
    const lists = targets.map((target, index) => `${target} = $.nth($results, ${index})`);
    return `let ${targets.join(', ')};\n{ const $results = ${callOf(last)};\n${lists.join(';\n')}; }`;
  }
  const known = init.map(valueOf);
  if (targets.length === 1) return assign(targets[0]!, known[0] ?? 'undefined');
  const list = targets.map((_, index) => known[index] ?? 'undefined').join(', ');
  const isNew = assign('', '').startsWith('let');
  return `${isNew ? 'let ' : ''}[${targets.join(', ')}] = [${list}];`;
}

function assignedOf({ variables, init }: Of<'AssignmentStatement'>): string {
  const [variable] = variables;
  if (variables.length === 1 && variable?.type === 'IndexExpression')
    return placed(variable, valueOf(init[0]!));
  if (variables.length > 1 && variables.every(({ type }) => type === 'IndexExpression')) {
    const each = variables.map((target, index) => placed(target, `$.nth($results, ${index})`));
    return `{ const $results = ${callOf(init[0]!)};\n${each.join('\n')} }`;
  }
  const names = variables.map((each) => {
    if (each.type !== 'Identifier') throw new Error(`no assignment to ${each.type} is known`);
    return nameOf(each);
  });
  return `;${assignmentOf(names, init, (name, value) => `${name} = ${value};`)}`;
}

function placed(target: Expression, value: string): string {
  if (target.type !== 'IndexExpression') throw new Error(`${target.type} is no place in a table`);
  return `$.assign(${valueOf(target.base)}, ${valueOf(target.index)}, ${value});`;
}

export function functionOf({ parameters, body }: Of<'FunctionDeclaration'>): string {
  const names = parameters.map((each) => (each.type === 'Identifier' ? nameOf(each) : '...$rest'));
  return `(${names.join(', ')}) => {\n${blockOf(body)}\n}`;
}

function resultOf(results: readonly Expression[]): string {
  if (results.length === 0) return 'undefined';
  if (results.length === 1) return givesSeveral(results[0]!) ? callOf(results[0]!) : valueOf(results[0]!); // prettier-ignore
  return `$.several(${argumentsOf(results)})`;
}

function ifOf({ clauses }: Of<'IfStatement'>): string {
  const parts = clauses.map((clause) => {
    const body = `{\n${blockOf(clause.body)}\n}`;
    return clause.type === 'ElseClause' ? body : `if ($.truthy(${valueOf(clause.condition)})) ${body}`; // prettier-ignore
  });
  return parts.join(' else ');
}

function forOf({ variable, start, end, step, body }: Of<'ForNumericStatement'>): string {
  const name = nameOf(variable);
  const by = step ? valueOf(step) : '1';
  const counter = `for (let $i = ${valueOf(start)}, $end = ${valueOf(end)}; $i <= $end; $i += ${by})`;
  return `${counter} {\nlet ${name} = $i;\n${blockOf(body)}\n}`;
}

/** `ipairs` only. */
function forEachOf({ variables, iterators, body }: Of<'ForGenericStatement'>): string {
  const [call] = iterators;
  if (call?.type !== 'CallExpression' || nameOf(call.base as never) !== '$$ipairs')
    throw new Error(`only ipairs is known, and what gives several: ${GIVE_SEVERAL.join(', ')}`);
  const [place, value] = variables.map(nameOf);
  const list = `${valueOf(call.arguments[0]!)}.list`;
  return `for (let [${place}, ${value}] of ${list}.entries()) {\n${place}++;\n${blockOf(body)}\n}`;
}
