/**
 * TypeScript names the file that it compiles to: `./name.js` is `./name.ts` here. Packages name what they have, and are not asked for
 * a `.ts`: as a rule of `moduleNameMapper`, which knows no folders, this was tried for each of their files, for each spec anew.
 */
module.exports = (request, options) => {
  const { basedir, defaultResolver } = options;
  const isOurs = /^\.{1,2}\/.*\.js$/.test(request) && !basedir.includes('/node_modules/');
  if (!isOurs) return defaultResolver(request, options);
  try {
    return defaultResolver(request.replace(/\.js$/, '.ts'), options);
  } catch {
    return defaultResolver(request, options);
  }
};
