import { useState } from "react";
import { Dialog } from "../ui/Dialog";
import { setShortcuts, shortcutsOn } from "../ui/keys";
import { Switch } from "../ui/Switch";
import { NAV, NAV_LOW } from "./nav";

const GROUPS: [string, [string, string][]][] = [
  [
    "Everywhere",
    [
      ["Ctrl K", "Jump to a page, project, endpoint, issue or trace id"],
      ["/", "Search on this page"],
      ["j  k", "Next, previous row"],
      ["Enter", "Summary of the row; Ctrl Enter opens its page"],
      ["[  ]", "Summary of the row before, after"],
      ["r", "Refresh"],
      ["y", "Copy a link with the times fixed"],
      ["Shift T", "Time range"],
      ["<  >", "One range earlier, later"],
      ["-  +", "Wider, narrower range"],
      ["t", "Charts as tables"],
      ["?", "This help"],
    ],
  ],
  [
    "Trace",
    [
      ["↑ ↓", "Previous, next span"],
      ["← →", "Collapse, expand; then parent, child"],
      ["w s", "Zoom in, out"],
      ["a d", "Pan left, right"],
      ["z", "Zoom to the selected span"],
      ["0", "Whole trace"],
      ["f", "Filter spans"],
      ["!", "Next error"],
      ["\\", "Critical path"],
      ["Esc", "Close the span"],
    ],
  ],
  [
    "Logs",
    [
      ["l", "Live on, off"],
      ["p", "Pause, resume the live list"],
      ["f", "Follow the live list"],
    ],
  ],
  [
    "Issue",
    [
      ["n p", "Next, previous occurrence"],
      ["e", "Archive"],
      ["v", "Resolve"],
      ["x", "Select the row"],
    ],
  ],
  [
    "Session",
    [
      ["Space", "Play, pause"],
      ["← →", "5 seconds back, on"],
      ["<  >", "Slower, faster"],
      ["f", "Full screen"],
    ],
  ],
];

export function Help({ open, onOpenChange }: { open: boolean; onOpenChange: (open: boolean) => void }) {
  const [on, setOn] = useState(shortcutsOn);
  const groups: typeof GROUPS = [
    ...GROUPS,
    ["Go to", [...NAV, ...NAV_LOW].map((item) => [`g ${item.key}`, item.label])],
  ];
  return (
    <Dialog open={open} onOpenChange={onOpenChange} title="Keyboard shortcuts" wide>
      <div className="columns-1 gap-8 sm:columns-2">
        {groups.map(([title, keys]) => (
          <section key={title} className="mb-4 break-inside-avoid">
            <h3 className="mb-1 font-semibold">{title}</h3>
            <dl>
              {keys.map(([key, label]) => (
                <div key={key} className="flex items-baseline justify-between gap-4 py-0.5">
                  <dd className="text-ink2">{label}</dd>
                  <dt className="shrink-0 font-mono text-dense">{key}</dt>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
      <Switch
        label="Single-key shortcuts"
        hint="Turn off when a voice or switch device types by accident. Ctrl K stays."
        checked={on}
        onChange={(next) => {
          setShortcuts(next);
          setOn(next);
        }}
      />
    </Dialog>
  );
}
