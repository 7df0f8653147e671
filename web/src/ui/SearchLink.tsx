// A link to the current page with changed search parameters. The router would mark every such link as current, so the
// caller sets it.
import { useLinkProps } from "@tanstack/react-router";
import type { ReactNode } from "react";

interface Props {
  change: Record<string, unknown>;
  current?: boolean;
  replace?: boolean;
  className?: string;
  label?: string;
  children: ReactNode;
}

export function SearchLink({ change, current, replace, className, label, children, ...rest }: Props) {
  const search = (old: Record<string, unknown>) => ({ ...old, ...change });
  const link = useLinkProps({ to: ".", search, replace, preload: false } as never) as Record<string, unknown>;
  return (
    // biome-ignore lint/a11y/useAriaPropsSupportedByRole: href is given, so this is a link
    <a
      {...rest}
      {...link}
      className={className}
      aria-label={label}
      aria-current={current ? "page" : undefined}
      data-status={undefined}
    >
      {children}
    </a>
  );
}
