import { Menu } from "@base-ui/react/menu";
import { useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { Building2, Check, LogOut, Monitor, Moon, Sun, UserRound } from "lucide-react";
import { bundleQuery, useBundle } from "../api/account";
import { signOut } from "../api/account-me";
import { request } from "../api/client";
import { setTheme, type ThemeChoice } from "../api/theme";
import { showToast } from "../model/toasts";
import { useThemeChoice } from "../ui/theme";

const THEMES: { value: ThemeChoice; label: string; icon: typeof Sun }[] = [
  { value: "light", label: "Light", icon: Sun },
  { value: "dark", label: "Dark", icon: Moon },
  { value: "system", label: "As the system", icon: Monitor },
];

export function UserMenu() {
  const user = useBundle()?.user;
  const theme = useThemeChoice();
  const navigate = useNavigate();
  const client = useQueryClient();
  const choose = (theme: ThemeChoice) => {
    setTheme(theme);
    if (!user?.theme) return;
    // Stored in the account for other browsers. If that fails, it still applies to this browser.
    client.setQueryData(bundleQuery.queryKey, (old) => old && { ...old, user: { ...old.user, theme } });
    request("PUT", "/api/me", { body: { theme } }).catch(() => {});
  };
  const initials = (user?.name || user?.email || "?")
    .split(/\s+/)
    .slice(0, 2)
    .map((word) => word[0])
    .join("");
  return (
    <Menu.Root>
      <Menu.Trigger className="btn btn-ghost btn-icon" aria-label="Account and theme">
        <span
          aria-hidden
          data-letters={initials}
          className="grid size-6 place-items-center rounded-full bg-ink font-semibold text-[10px] text-bg uppercase before:content-[attr(data-letters)]"
        />
      </Menu.Trigger>
      <Menu.Portal>
        <Menu.Positioner sideOffset={4} align="end" className="z-50">
          <Menu.Popup className="menu appear w-56">
            <div className="px-2 py-1.5">
              <div className="truncate font-medium">{user?.name}</div>
              <div className="truncate text-dense text-ink2">{user?.email}</div>
            </div>
            <Menu.Separator className="my-1 border-line border-t" />
            <Menu.Item className="menu-item" render={<Link to="/account" />}>
              <UserRound size={14} aria-hidden className="text-ink2" /> Account
            </Menu.Item>
            <Menu.Item className="menu-item" render={<Link to="/organization" />}>
              <Building2 size={14} aria-hidden className="text-ink2" /> Organization
            </Menu.Item>
            <Menu.Separator className="my-1 border-line border-t" />
            <Menu.RadioGroup value={theme} onValueChange={choose} aria-label="Theme">
              {THEMES.map(({ value, label, icon: Icon }) => (
                <Menu.RadioItem key={value} value={value} className="menu-item" closeOnClick={false}>
                  <Icon size={14} aria-hidden className="text-ink2" />
                  <span className="flex-1">{label}</span>
                  {value === theme && <Check size={14} aria-hidden className="text-accent" />}
                </Menu.RadioItem>
              ))}
            </Menu.RadioGroup>
            <Menu.Separator className="my-1 border-line border-t" />
            <Menu.Item
              className="menu-item"
              onClick={async () => {
                await signOut().catch(() =>
                  showToast("The server could not be told: the session lasts there until it expires."),
                );
                client.clear();
                navigate({ to: "/login" });
              }}
            >
              <LogOut size={14} aria-hidden className="text-ink2" /> Sign out
            </Menu.Item>
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  );
}
