import { colourOf, rectangle, short, svg, text, WIDTH } from './svg.mjs';

const LEFT = 230;
const ROW = 22;

/** `panels`: `[{ label, bars: [{ name, colour, value }] }]`, one below the other, each on its own linear scale from 0. */
export function barChart({ title, panels }) {
  const content = [];
  let y = 56;
  for (const { label, bars } of panels) {
    content.push(text(16, y, label, { size: 13, weight: 600 }));
    const top = Math.max(...bars.map(({ value }) => value), Number.MIN_VALUE);
    for (const bar of bars) {
      y += ROW;
      content.push(...drawBar(bar, y, ((WIDTH - LEFT - 90) * bar.value) / top));
    }
    y += ROW + 18;
  }
  return svg(y, title, content);
}

function drawBar({ name, colour, value }, y, length) {
  return [
    text(LEFT - 10, y, name, { anchor: 'end' }),
    rectangle(LEFT, y - 12, Math.max(1, length), 15, colourOf(colour)),
    text(LEFT + length + 6, y, short(value)),
  ];
}
