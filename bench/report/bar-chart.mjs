import { colourOf, rectangle, short, svg, text, WIDTH } from './svg.mjs';

const LEFT = 260;
/** For the figure behind the longest bar. */
const RIGHT = 160;
const ROW = 22;

/** `panels`: `[{ label, bars: [{ name, colour, value, figure }] }]`, one below the other, each on its own linear scale from 0. */
export function barChart({ title, panels }) {
  const content = [];
  let y = 56;
  for (const { label, bars } of panels) {
    content.push(text(16, y, label, { size: 13, weight: 600 }));
    const top = Math.max(...bars.map(({ value }) => value), Number.MIN_VALUE);
    for (const bar of bars) {
      y += ROW;
      content.push(...drawBar(bar, y, ((WIDTH - LEFT - RIGHT) * bar.value) / top));
    }
    y += ROW + 18;
  }
  return svg(y, title, content);
}

function drawBar({ name, colour, value, figure = short(value) }, y, length) {
  return [
    text(LEFT - 10, y, name, { anchor: 'end' }),
    rectangle(LEFT, y - 12, Math.max(1, length), 15, colourOf(colour)),
    text(LEFT + length + 6, y, figure),
  ];
}
