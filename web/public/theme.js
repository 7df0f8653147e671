// Runs before the first paint (the CSP forbids inline scripts): "light", "dark" or the system's choice.
(() => {
  let choice = null;
  try {
    choice = localStorage.getItem("tidewatch.theme");
  } catch {}
  const dark = choice === "dark" || (choice !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
  document.documentElement.dataset.theme = dark ? "dark" : "light";
})();
