import { Link } from "@tanstack/react-router";
import { BellPlus } from "lucide-react";
import { useMayWrite } from "../api/account";
import { useProjectId } from "../api/hooks";
import type { Config } from "../model/config-fields";

/** Opens the form of a new rule about a subject; nothing for readers. */
export function AlertOnThis({ type, config, name }: { type: string; config: Config; name: string }) {
  const pid = useProjectId();
  if (!useMayWrite()) return null;
  return (
    <Link
      to="/p/$pid/alerts/rules"
      params={{ pid }}
      search={{ new: type, config: JSON.stringify(config), name: name.slice(0, 100) }}
      className="btn"
    >
      <BellPlus size={14} aria-hidden /> Alert on this
    </Link>
  );
}
