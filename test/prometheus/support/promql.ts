import { parser } from '@prometheus-io/lezer-promql';

type Node = ReturnType<typeof parser.parse>['topNode'];

export interface Matcher {
  readonly label: string;
  readonly operator: string;
  readonly value: string;
}

/** One metric of an expression, with its labels. */
export interface Selector {
  readonly metric: string;
  readonly matchers: readonly Matcher[];
  /** Labels by which the aggregations around it group. */
  readonly grouping: readonly string[];
}

/** The selectors of an expression, by the grammar of Prometheus. Throws `SyntaxError`. */
export function selectorsOf(expression: string): Selector[] {
  const selectors: Selector[] = [];
  parser.parse(expression).iterate({
    enter(ref) {
      if (ref.type.isError) throw new SyntaxError(`${expression}, at ${ref.from}`);
      if (ref.name === 'VectorSelector') selectors.push(selectorOf(ref.node, expression));
    },
  });
  return selectors;
}

function selectorOf(node: Node, expression: string): Selector {
  const text = ({ from, to }: Node) => expression.slice(from, to);
  const matchers = below(node, 'UnquotedLabelMatcher').map((each) => ({
    label: text(each.getChild('LabelName')!),
    operator: text(each.getChild('MatchOp')!),
    value: text(each.getChild('StringLiteral')!).slice(1, -1),
  }));
  const aggregations = above(node).flatMap((each) => each.getChild('AggregateModifier') ?? []);
  const grouping = aggregations.flatMap((each) => below(each, 'LabelName').map(text));
  return { metric: text(node.getChild('Identifier')!), matchers, grouping };
}

function above(node: Node): Node[] {
  return node.parent ? [node.parent, ...above(node.parent)] : [];
}

function below(node: Node, name: string): Node[] {
  const found: Node[] = [];
  node.cursor().iterate((ref) => void (ref.name === name && found.push(ref.node)));
  return found;
}
