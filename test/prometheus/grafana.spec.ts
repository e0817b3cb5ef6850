import { METRICS } from '../../lib/metrics/definitions';
import { prometheusName } from '../../lib/prometheus/prometheus-names';
import { fullScrape } from './support/full-scrape';
import { interpolated, readAlerts, readDashboard } from './support/grafana-dashboard';
import type { Panel, Target } from './support/grafana-dashboard';
import { selectorsOf } from './support/promql';
import type { Selector } from './support/promql';

const dashboard = readDashboard();
const { panels, __inputs: inputs, __requires: requires } = dashboard;
const variables = dashboard.templating.list;
const charts = panels.filter(({ type }) => type !== 'row');
const targets = charts.flatMap(({ title, targets: all = [] }) =>
  all.map((target): [string, Target] => [`${title}, ${target.refId}`, target]),
);
/** The metric and the label of `label_values(metric{…}, label)`. */
const LABEL_VALUES = /^label_values\((.+), (\w+)\)$/;
const queries = variables.flatMap(({ query }) => (typeof query === 'string' ? [] : [query.query]));

describe('the Grafana dashboard', () => {
  it('asks for its data source when it is imported, and uses no other', () => {
    expect(inputs).toMatchObject([
      { name: 'DS_PROMETHEUS', type: 'datasource', pluginId: 'prometheus' },
    ]);
    const [source, ...others] = variables;
    expect(source).toMatchObject({ name: 'datasource', type: 'datasource', query: 'prometheus' });
    expect(source!.current.value).toBe('${DS_PROMETHEUS}');
    const used = { type: 'prometheus', uid: '${datasource}' };
    for (const { datasource } of [...charts, ...others, ...targets.map(([, target]) => target)]) {
      expect(datasource).toEqual(used);
    }
  });

  it('has no id of another Grafana, and names the plugins that it needs', () => {
    expect(dashboard).toMatchObject({ id: null, uid: 'nest-holdfast', title: expect.any(String) });
    expect(dashboard.schemaVersion).toBeGreaterThanOrEqual(36); // from which on data sources are objects
    const required = requires.filter(({ type }) => type === 'panel').map(({ id }) => id);
    expect(required.toSorted()).toEqual([...new Set(charts.map(({ type }) => type))].toSorted());
    expect(requires).toContainEqual(expect.objectContaining({ id: 'prometheus' }));
  });

  it('has panels with ids, titles and descriptions of their own', () => {
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    expect(new Set(panels.map(({ title }) => title)).size).toBe(panels.length);
    for (const { description, targets: all } of charts) {
      expect(description).toMatch(/\w.*\.$/);
      expect(new Set(all!.map(({ refId }) => refId)).size).toBe(all!.length);
    }
  });

  it('has panels in 24 columns, of which none lies over another', () => {
    const taken = new Map<string, Panel>();
    for (const panel of panels) {
      const { x, y, w, h } = panel.gridPos;
      expect(x).toBeGreaterThanOrEqual(0);
      expect(x + w).toBeLessThanOrEqual(24);
      for (let row = y; row < y + h; row++) {
        for (let column = x; column < x + w; column++) {
          expect(taken.get(`${row}/${column}`)?.title).toBeUndefined();
          taken.set(`${row}/${column}`, panel);
        }
      }
    }
  });

  it('has variables for stores and names, which also show locks without a name', () => {
    expect(variables.map(({ name }) => name)).toEqual(['datasource', 'store', 'name']);
    for (const { allValue } of variables.slice(1)) expect(allValue).toBe('.*'); // a missing label matches
  });
});

describe('the queries of the dashboard and the alerts', () => {
  let scraped: Awaited<ReturnType<typeof fullScrape>>;
  beforeAll(async () => (scraped = await fullScrape()));

  /** Metric, labels and the values that are compared. */
  function expectInScrape({ metric, matchers, grouping }: Selector): void {
    const labels = scraped.get(metric);
    expect([metric, labels !== undefined]).toEqual([metric, true]);
    for (const label of grouping) expect([...labels!.keys()]).toContain(label);
    for (const { label, operator, value } of matchers) {
      expect([...labels!.keys()]).toContain(label);
      const compared = operator.includes('~') ? value.split('|') : [value];
      const named = compared.filter((each) => each !== '' && each !== '.*');
      expect([...labels!.get(label)!]).toEqual(expect.arrayContaining(named));
    }
  }

  it.each(targets)('is in a scrape: %s', (_, { expr, legendFormat }) => {
    const selectors = selectorsOf(interpolated(expr));
    expect(selectors.length).toBeGreaterThan(0);
    selectors.forEach(expectInScrape);
    const shown = [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label]) => label);
    for (const { grouping } of selectors) expect(grouping).toEqual(expect.arrayContaining(shown));
  });

  it.each(targets)('is of the stores and names that are chosen: %s', (_, { expr }) => {
    const ofLocks = !expr.includes('holdfast_node_count');
    expect(expr).toContain('holdfast_store_name=~"$store"');
    expect(expr.includes('holdfast_lock_name=~"$name"')).toBe(ofLocks);
    expect(interpolated(expr)).not.toContain('$');
  });

  it.each(queries)('is in a scrape: %s', (query) => {
    const [, selector, label] = LABEL_VALUES.exec(interpolated(query))!;
    const [only, ...others] = selectorsOf(selector!);
    expect(others).toEqual([]);
    expectInScrape({ ...only!, grouping: [label!] });
  });

  it('has three alerts', () => expect(readAlerts()).toHaveLength(3));

  it.each(readAlerts())('is in a scrape: %s', (alert) => {
    const selectors = selectorsOf(alert);
    expect(selectors.length).toBeGreaterThan(0);
    selectors.forEach(expectInScrape);
  });

  it('is every metric that there is', () => {
    const asked = targets.flatMap(([, { expr }]) =>
      selectorsOf(interpolated(expr)).map(({ metric }) => metric.replace(/_(bucket|count)$/, '')),
    );
    const names = Object.values(METRICS).map(prometheusName);
    expect([...new Set(asked)].toSorted()).toEqual(
      names.map((name) => name.replace(/_count$/, '')).toSorted(),
    );
  });
});

describe('the parser', () => {
  it('refuses what Prometheus would refuse', () => {
    expect(() => selectorsOf('sum(rate(a[5m])')).toThrow(SyntaxError);
    expect(selectorsOf('sum by (b) (rate(a{c="d"}[5m]))')).toEqual([
      { metric: 'a', matchers: [{ label: 'c', operator: '=', value: 'd' }], grouping: ['b'] },
    ]);
  });
});
