import type { ComponentChildren, Ref } from 'preact';
import { hrefOf } from '../live/route.js';
import type { Go, Route } from '../live/route.js';

interface RouteLinkProps {
  readonly to: Route;
  readonly go: Go;
  readonly class?: string;
  readonly title?: string;
  readonly 'data-key'?: string;
  readonly children: ComponentChildren;
  readonly link?: Ref<HTMLAnchorElement>;
}

/** A link within the page; with Ctrl or the middle button it opens a tab, as any link does. */
export function RouteLink({ to, go, link, children, ...others }: RouteLinkProps) {
  const follow = (event: MouseEvent) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    go(to);
  };
  return (
    <a {...others} ref={link} href={hrefOf(to)} onClick={follow}>
      {children}
    </a>
  );
}
