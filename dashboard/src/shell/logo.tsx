/** The page's mark. */
export function Logo({ className = "size-6" }: { className?: string }) {
  return (
    <svg viewBox="0 0 32 32" className={className} aria-hidden="true">
      <rect width="32" height="32" rx="8" className="fill-accent" />
      <g className="fill-on-accent">
        <rect x="7" y="8.5" width="11" height="3.6" rx="1.8" />
        <rect x="11" y="14.2" width="14" height="3.6" rx="1.8" opacity=".8" />
        <rect x="8" y="19.9" width="9" height="3.6" rx="1.8" opacity=".55" />
      </g>
    </svg>
  );
}
