import { readFileSync } from 'node:fs';
import { join } from 'node:path';

interface DataSource {
  readonly type: string;
  readonly uid: string;
}

export interface Target {
  readonly refId: string;
  readonly datasource: DataSource;
  readonly expr: string;
  readonly legendFormat: string;
}

export interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly description?: string;
  readonly datasource?: DataSource;
  readonly gridPos: {
    readonly x: number;
    readonly y: number;
    readonly w: number;
    readonly h: number;
  };
  readonly targets?: readonly Target[];
}

export interface Variable {
  readonly name: string;
  readonly type: string;
  readonly datasource?: DataSource;
  readonly query: string | { readonly query: string };
  readonly current: { readonly value: unknown };
  readonly allValue?: string;
}

/** The part of the model of a dashboard that Grafana asks for when it imports one. */
export interface Dashboard {
  readonly __inputs: readonly {
    readonly name: string;
    readonly type: string;
    readonly pluginId: string;
  }[];
  readonly __requires: readonly { readonly type: string; readonly id: string }[];
  readonly id: null;
  readonly uid: string;
  readonly title: string;
  readonly schemaVersion: number;
  readonly panels: readonly Panel[];
  readonly templating: { readonly list: readonly Variable[] };
}

const DOCS = join(__dirname, '..', '..', '..', 'docs');

export function readDashboard(): Dashboard {
  return JSON.parse(readFileSync(join(DOCS, 'grafana', 'holdfast.json'), 'utf8'));
}

/** With values for the variables, as Grafana sends it. */
export function interpolated(expression: string): string {
  return expression
    .replaceAll(/\$__(rate_interval|range)\b/g, '5m')
    .replaceAll(/\$(store|name)\b/g, '.*');
}

/** The `expr` of each alert of the page about observability. */
export function readAlerts(): string[] {
  const page = readFileSync(join(DOCS, 'observability.md'), 'utf8');
  return [...page.matchAll(/^ *expr: (?:\|\n((?: {4}.+\n)+)|(.+)$)/gm)].map(
    ([, block, line]) => block ?? line!,
  );
}
