import { CSPProvider } from "@base-ui/react/csp-provider";
import { Tooltip } from "@base-ui/react/tooltip";
import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { whenSessionExpires } from "./api/client";
import { queryClient } from "./api/query-client";
import { StepUp } from "./parts/StepUp";
import { router } from "./router";
import "./styles/app.css";
import { ToastArea } from "./ui/Toasts";

/** Pages that need no session. An expired session does not redirect from them to the login page. */
const OPEN = new Set([
  "/login",
  "/setup",
  "/register",
  "/forgot-password",
  "/reset-password",
  "/accept-invitation",
  "/auth/callback",
]);
whenSessionExpires(() => {
  if (OPEN.has(location.pathname)) return;
  queryClient.clear();
  router.navigate({ to: "/login", search: { next: location.pathname + location.search } });
});

// A stale tab may request a chunk that a newer server no longer has. Reloads the page once.
addEventListener("vite:preloadError", () => location.reload());

createRoot(document.getElementById("root")!).render(
  <StrictMode>
    <CSPProvider disableStyleElements>
      <QueryClientProvider client={queryClient}>
        <Tooltip.Provider delay={350}>
          <RouterProvider router={router} />
          <StepUp />
          <ToastArea />
        </Tooltip.Provider>
      </QueryClientProvider>
    </CSPProvider>
  </StrictMode>,
);
