import { pathOf } from './visit.js';

/** `script` and `style` are addresses relative to the base. `url` is that of the request. */
export function pageHtml(url: string, script: string, style: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<base href="${escaped(baseOf(url))}">
<title>Locks</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${style}">
<script type="module" src="${script}"></script>
</head>
<body>
<div id="app"></div>
<noscript>This page shows locks as they are taken and freed. It needs JavaScript.</noscript>
</body>
</html>
`;
}

/**
 * Relative to the address in the browser, of which the server may not know the front: a proxy may have taken a prefix off. The end
 * is the same for both.
 */
export function baseOf(url: string): string {
  const last = pathOf(url).split('/').at(-1)!;
  return last === '' ? './' : `./${last}/`;
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
