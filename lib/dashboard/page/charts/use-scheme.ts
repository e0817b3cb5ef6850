import { useEffect, useState } from 'preact/hooks';

const DARK = matchMedia('(prefers-color-scheme: dark)');

/** The person's present preference. */
export function useScheme(): 'light' | 'dark' {
  const [isDark, setDark] = useState(DARK.matches);
  useEffect(() => {
    const read = () => setDark(DARK.matches);
    DARK.addEventListener('change', read);
    return () => DARK.removeEventListener('change', read);
  }, []);
  return isDark ? 'dark' : 'light';
}
