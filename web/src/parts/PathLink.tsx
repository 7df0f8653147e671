import { useRouter } from "@tanstack/react-router";
import type { AnchorHTMLAttributes, MouseEvent } from "react";

interface Props extends Omit<AnchorHTMLAttributes<HTMLAnchorElement>, "href" | "onClick"> {
  /** A path of this site with its query string, as the server writes it. */
  path: string;
  onFollow?: () => void;
}

/** A link to a path of the server, opened without loading the page again. */
export function PathLink({ path, onFollow, children, ...anchor }: Props) {
  const router = useRouter();
  const follow = (event: MouseEvent) => {
    if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    onFollow?.();
    router.history.push(path);
  };
  return (
    <a href={path} onClick={follow} {...anchor}>
      {children}
    </a>
  );
}
