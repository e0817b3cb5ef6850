import { baseOf, pageHtml } from '../../../lib/dashboard/server/page-html.js';

describe('the HTML of the page', () => {
  it.each([
    ['/locks', './locks/'],
    ['/locks/', './'],
    ['/', './'],
    ['/a/b/locks?search=/x/', './locks/'],
    ['/a%20b', './a%20b/'],
  ])('at %s has the base %s', (url, base) => {
    expect(baseOf(url)).toBe(base);
  });

  it('takes nothing of the address as HTML', () => {
    const html = pageHtml(`/lo"><script src=x><b title='&'>?x="><i>`, 'page.js?1', 'page.css?1');
    expect(html).not.toMatch(/<b |<i>|title='/);
    expect(html.match(/<script/g)).toHaveLength(1);
    expect(html).toContain('<base href="./lo&#34;&#62;&#60;script');
  });

  it('has neither script nor style in it, and names no other host', () => {
    const html = pageHtml('/locks', 'page.js?1', 'page.css?1');
    expect(html).not.toMatch(/<style|style=|\son\w+=|https?:|\/\//);
    expect(html).toMatch(/<script type="module" src="page\.js\?1"><\/script>/);
  });
});
