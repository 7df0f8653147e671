// Text beside ASCII: columns are counted in UTF-16 units. 🛒 é
const grüße = { de: 'Grüße 🛒', ja: 'カート', en: 'Hello' };

export const greeting = (language) => grüße[language] ?? grüße.en; /* 🛒 */ export const languages = () => Object.keys(grüße);

export function table(rows) {
  const widths = rows.reduce((most, row) => row.map((cell, i) => Math.max(most[i] ?? 0, `${cell}`.length)), []);
  return rows
    .map((row) => row.map((cell, i) => `${cell}`.padEnd(widths[i])).join(' │ '))
    .join('\n');
}
