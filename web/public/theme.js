// Runs before the first paint (no inline script under our CSP): "light", "dark" or the system's choice.
(() => {
  let choice = null;
  try {
    choice = localStorage.getItem("tidewatch.theme");
  } catch {}
  const dark = choice === "dark" || (choice !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
  document.documentElement.dataset.theme = dark ? "dark" : "light";
})();
