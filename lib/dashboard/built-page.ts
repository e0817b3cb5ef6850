/** The script and the style sheet of the page. */
export interface BuiltPage {
  readonly script: string;
  readonly style: string;
}

/**
 * The files that the server serves as `page.js` and `page.css`. This is a placeholder: the build replaces the compiled module by
 * one with the bundle of `dashboard/page`, and the tests map it to one that they build.
 */
export const builtPage: BuiltPage = {
  script: `document.querySelector('#app').textContent = 'The page is not built: npm run build';`,
  style: '',
};
