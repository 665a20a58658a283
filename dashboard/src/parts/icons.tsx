/**
 * The page's icons: drawn in the text's colour and hidden from screen readers, because there is always a word beside
 * them or in the name of their control.
 */

const PATHS = {
  running: "M8 2.2a5.8 5.8 0 1 1-5.8 5.8",
  resumed: "M13.4 8A5.4 5.4 0 1 1 11.6 4M11.9 1.6v2.7H9.2",
  completed: "M2.9 8.6l3.3 3.2 6.9-7.4",
  error: "M4 4l8 8M12 4l-8 8",
  cancelled: "M8 2.2a5.8 5.8 0 1 1 0 11.6A5.8 5.8 0 0 1 8 2.2zM4 4l8 8",
  waiting: "M5.2 7V5a2.8 2.8 0 0 1 5.6 0v2M3.6 7h8.8v6.4H3.6z",
  question:
    "M8 1.8a6.2 6.2 0 1 1 0 12.4A6.2 6.2 0 0 1 8 1.8zM6.2 6.4a1.8 1.8 0 1 1 2.6 1.6c-.6.3-.8.6-.8 1.2M8 11.4h.01",
  retrying: "M2.6 8a5.4 5.4 0 0 1 9.3-3.7L13.4 6M13.4 2.6V6H10M13.4 8a5.4 5.4 0 0 1-9.3 3.7L2.6 10M2.6 13.4V10H6",
  stalled: "M8 2.2a5.8 5.8 0 1 1 0 11.6A5.8 5.8 0 0 1 8 2.2zM8 4.9V8l2 1.6",
  batch: "M2.5 4.2h7M4.5 8h8.5M2.5 11.8h5",
  search: "M7 2.4a4.6 4.6 0 1 1 0 9.2 4.6 4.6 0 0 1 0-9.2zM10.4 10.4l3.4 3.4",
  plus: "M8 3v10M3 8h10",
  signOut: "M6.4 2.8H3v10.4h3.4M6.8 8h7M10.8 5l3 3-3 3",
  bell: "M3.2 11.4h9.6c-1-1-1.4-2-1.4-4.6a3.4 3.4 0 0 0-6.8 0c0 2.6-.4 3.6-1.4 4.6zM6.7 13.6h2.6",
  light:
    "M8 5.2a2.8 2.8 0 1 1 0 5.6 2.8 2.8 0 0 1 0-5.6zM8 1v1.6M8 13.4V15M1 8h1.6M13.4 8H15M3 3l1.2 1.2M11.8 11.8L13 13M13 3l-1.2 1.2M4.2 11.8L3 13",
  dark: "M13.2 9.6A5.6 5.6 0 0 1 6.4 2.8a5.6 5.6 0 1 0 6.8 6.8z",
  auto: "M2.2 3.2h11.6v7.6H2.2zM5.6 13.4h4.8M8 10.8v2.6",
  copy: "M5.6 5.6h7.2v7.6H5.6zM10.4 5.6V2.8H3.2v7.6h2.4",
  close: "M4 4l8 8M12 4l-8 8",
  back: "M9.8 3.4L5.2 8l4.6 4.6",
  chevron: "M6 3.8L10.2 8 6 12.2",
  tool: "M9.6 2.6a3.4 3.4 0 0 0-3 4.9l-4 4 1.9 1.9 4-4a3.4 3.4 0 0 0 4.5-4.3L11 7.1 8.9 5 11 2.9c-.4-.2-.9-.3-1.4-.3z",
  thought: "M4.6 10.6A3.2 3.2 0 0 1 4 4.4a4 4 0 0 1 7.4.6 2.9 2.9 0 0 1-.4 5.6zM5.4 13.4h.01",
  file: "M4 2.2h5l3 3v8.6H4zM9 2.2v3h3",
  board: "M2.2 3h3.2v10H2.2zM6.4 3h3.2v6.6H6.4zM10.6 3h3.2v8.2h-3.2z",
  branch:
    "M5 4.8v6.4M5 11.2a1.6 1.6 0 1 1 0 3.2 1.6 1.6 0 0 1 0-3.2zM5 1.6a1.6 1.6 0 1 1 0 3.2 1.6 1.6 0 0 1 0-3.2zM11.4 3.2a1.6 1.6 0 1 1 0 3.2 1.6 1.6 0 0 1 0-3.2zM11.4 6.4c0 2.6-3 2.8-6.2 3.6",
  move: "M2.4 8h11.2M10.6 5l3 3-3 3M5.4 5l-3 3 3 3",
  edit: "M3 13l.6-2.8 7-7 2.2 2.2-7 7zM9.2 4.6l2.2 2.2",
  toFirst: "M3.4 2.8h9.2M8 13.4V5.8M4.6 9L8 5.6 11.4 9",
  toNewest: "M3.4 13.2h9.2M8 2.6v7.6M4.6 7L8 10.4 11.4 7",
  warning: "M8 2.4l6.2 10.8H1.8zM8 6.4v3.2M8 11.4h.01",
  keyboard: "M1.8 4h12.4v8H1.8zM4.4 6.6h.01M7 6.6h.01M9.6 6.6h.01M12 6.6h.01M5 9.6h6",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name, className = "" }: { name: IconName; className?: string }) {
  return (
    <svg
      viewBox="0 0 16 16"
      aria-hidden="true"
      className={`size-4 shrink-0 ${className}`}
      fill="none"
      stroke="currentColor"
      strokeWidth="1.5"
      strokeLinecap="round"
      strokeLinejoin="round"
    >
      <path d={PATHS[name]} />
    </svg>
  );
}
