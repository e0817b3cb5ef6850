import { builtPage } from '../../lib/dashboard/built-page.js';

it('the page is one script and one style sheet, as texts', () => {
  expect(builtPage).toEqual({ script: expect.any(String), style: expect.any(String) });
});
