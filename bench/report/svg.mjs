/** The few pieces of SVG that the charts are made of. */
export const WIDTH = 940;
export const FONT = 'font-family="system-ui, sans-serif"';

const COLOURS = {
  'nest-holdfast': '#c0392b',
  'nest-holdfast, strict': '#e59866',
  'raw ioredis': '#222222',
  'redlock 4': '#0072b2',
  'redlock 5': '#56b4e9',
  'redis-semaphore': '#009e73',
  'redlock-universal': '#cc79a7',
  'simple-redis-mutex': '#b8860b',
  '@anchan828/nest-redlock': '#6a51a3',
  '@huangang/nestjs-simple-redis-lock': '#7f7f7f',
};

/** Rules of a style sheet have precedence over attributes. */
const DARK = `<style>@media (prefers-color-scheme: dark) {
  [fill="#ffffff"] { fill: #0d1117; }
  text { fill: #e6edf3; }
  [fill="#222222"] { fill: #c9d1d9; }
  [stroke="#222222"] { stroke: #c9d1d9; }
  [stroke="#dddddd"] { stroke: #30363d; }
}</style>`;

export const colourOf = (name) => COLOURS[name] ?? '#999999';

export function svg(height, title, content) {
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img">`,
    `<title>${escape(title)}</title>`,
    DARK,
    `<rect width="${WIDTH}" height="${height}" fill="#ffffff"/>`,
    text(16, 26, title, { size: 16, weight: 600 }),
    ...content,
    '</svg>\n',
  ].join('\n');
}

export function text(
  x,
  y,
  label,
  { size = 12, anchor = 'start', weight = 400, fill = '#333333' } = {},
) {
  return `<text x="${round(x)}" y="${round(y)}" ${FONT} font-size="${size}" font-weight="${weight}" text-anchor="${anchor}" fill="${fill}">${escape(label)}</text>`;
}

export function line(x1, y1, x2, y2, { stroke = '#dddddd', width = 1 } = {}) {
  return `<line x1="${round(x1)}" y1="${round(y1)}" x2="${round(x2)}" y2="${round(y2)}" stroke="${stroke}" stroke-width="${width}"/>`;
}

export function rectangle(x, y, width, height, fill) {
  return `<rect x="${round(x)}" y="${round(y)}" width="${round(width)}" height="${round(height)}" fill="${fill}"/>`;
}

/** A line with a dot at each of its points. */
export function path(points, { stroke, width }) {
  const at = points.map(([x, y]) => `${round(x)},${round(y)}`);
  const dots = at.map((point) => {
    const [x, y] = point.split(',');
    return `<circle cx="${x}" cy="${y}" r="${width + 1}" fill="${stroke}"/>`;
  });
  const track = `<polyline points="${at.join(' ')}" fill="none" stroke="${stroke}" stroke-width="${width}"/>`;
  return [track, ...dots].join('\n');
}

/** Short figures for axes and bars. */
export function short(value) {
  if (value === 0) return '0';
  if (value >= 10_000) return `${Number((value / 1_000).toPrecision(3))}k`;
  return String(Number(value.toPrecision(3)));
}

const round = (value) => Math.round(value * 10) / 10;

function escape(label) {
  return label.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
