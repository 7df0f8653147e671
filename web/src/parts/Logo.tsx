export function Logo({ size = 24 }: { size?: number }) {
  return (
    <svg width={size} height={size} viewBox="0 0 32 32" aria-hidden className="shrink-0">
      <rect width="32" height="32" rx="7" fill="#2f5fd0" />
      <path d="M4 20c4 0 4-5 8-5s4 5 8 5 4-5 8-5" fill="none" stroke="#fff" strokeWidth="2.6" strokeLinecap="round" />
      <path
        d="M4 26c4 0 4-5 8-5s4 5 8 5 4-5 8-5"
        fill="none"
        stroke="#fff"
        strokeOpacity=".55"
        strokeWidth="2.6"
        strokeLinecap="round"
      />
      <circle cx="22" cy="8" r="3" fill="#fff" />
    </svg>
  );
}
