/** The part of the syntax tree of `luaparse` that our scripts need. */
export interface Identifier {
  readonly type: 'Identifier';
  readonly name: string;
}

interface Vararg {
  readonly type: 'VarargLiteral';
}

export type Expression =
  | Identifier
  | Vararg
  | { readonly type: 'StringLiteral'; readonly raw: string }
  | { readonly type: 'NumericLiteral'; readonly value: number }
  | { readonly type: 'BooleanLiteral'; readonly value: boolean }
  | { readonly type: 'NilLiteral' }
  | { readonly type: 'UnaryExpression'; readonly operator: string; readonly argument: Expression }
  | Operation<'BinaryExpression'>
  | Operation<'LogicalExpression'>
  | {
      readonly type: 'MemberExpression';
      readonly base: Expression;
      readonly identifier: Identifier;
    }
  | { readonly type: 'IndexExpression'; readonly base: Expression; readonly index: Expression }
  | { readonly type: 'TableConstructorExpression'; readonly fields: readonly Field[] }
  | Call;

interface Operation<Type> {
  readonly type: Type;
  readonly operator: string;
  readonly left: Expression;
  readonly right: Expression;
}

interface Call {
  readonly type: 'CallExpression';
  readonly base: Expression;
  readonly arguments: readonly Expression[];
}

type Field =
  | { readonly type: 'TableValue'; readonly value: Expression }
  | { readonly type: 'TableKeyString'; readonly key: Identifier; readonly value: Expression };

type Body = readonly Statement[];

export type Statement =
  | {
      readonly type: 'LocalStatement';
      readonly variables: readonly Identifier[];
      readonly init: readonly Expression[];
    }
  | {
      readonly type: 'AssignmentStatement';
      readonly variables: readonly Expression[];
      readonly init: readonly Expression[];
    }
  | { readonly type: 'CallStatement'; readonly expression: Expression }
  | {
      readonly type: 'FunctionDeclaration';
      readonly identifier: Identifier;
      readonly parameters: readonly (Identifier | Vararg)[];
      readonly body: Body;
    }
  | { readonly type: 'ReturnStatement'; readonly arguments: readonly Expression[] }
  | { readonly type: 'IfStatement'; readonly clauses: readonly Clause[] }
  | {
      readonly type: 'ForNumericStatement';
      readonly variable: Identifier;
      readonly start: Expression;
      readonly end: Expression;
      readonly step: Expression | null;
      readonly body: Body;
    }
  | {
      readonly type: 'ForGenericStatement';
      readonly variables: readonly Identifier[];
      readonly iterators: readonly Expression[];
      readonly body: Body;
    }
  | { readonly type: 'WhileStatement'; readonly condition: Expression; readonly body: Body }
  | { readonly type: 'BreakStatement' };

type Clause =
  | {
      readonly type: 'IfClause' | 'ElseifClause';
      readonly condition: Expression;
      readonly body: Body;
    }
  | { readonly type: 'ElseClause'; readonly body: Body };
