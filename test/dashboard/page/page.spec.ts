import { builtPage } from '../../../lib/dashboard/built-page.js';
import { startChromium } from '../../support/browser/chromium.js';

it('renders', async () => {
  const browser = await startChromium();
  const page = await browser.newPage();
  await page.setContent('<div id="app"></div>');
  await page.addScriptTag({ content: builtPage.script, type: 'module' });
  expect(await page.textContent('#app')).toBe('Locks');
  await browser.close();
});
