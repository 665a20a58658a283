/**
 * The cost of each day as a stacked bar, with an axis of three round amounts. Days on which a price was missing carry a
 * mark. Only for the eye: the section has the same as a table.
 */
import { useIsNarrow } from "../browser/media.ts";
import { costText, counted } from "../wording/amounts.ts";
import { visibleText } from "../wording/hidden-characters.ts";
import { roundAbove } from "./round-above.ts";
import type { DailyUsage, UsageDay } from "./usage-days.ts";
import "./usage.css";

const dayText = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" });

export function UsageBars({ usage: { days } }: { usage: DailyUsage }) {
  const top = roundAbove(Math.max(...days.map(({ total }) => total.cost), 0));
  const every = Math.ceil(days.length / (useIsNarrow() ? 4 : 7));
  return (
    <div aria-hidden="true" className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-2 text-[11px] text-faint">
      <div className="flex h-44 flex-col justify-between text-right leading-none">
        {[top, top / 2, 0].map((amount) => (
          <span key={amount}>{costText(amount)}</span>
        ))}
      </div>
      <div className="relative h-44">
        {[0, 0.5, 1].map((place) => (
          <span key={place} className="absolute inset-x-0 h-px bg-line" style={{ top: `${place * 100}%` }} />
        ))}
        <div className="absolute inset-0 flex items-end gap-[2px]">
          {days.map((day) => (
            <Bar key={day.at} day={day} top={top} />
          ))}
        </div>
      </div>
      <span />
      <div className="mt-1.5 flex gap-[2px]">
        {days.map(({ at }, index) => (
          <span key={at} className="relative h-4 min-w-0 flex-1">
            {(days.length - 1 - index) % every === 0 && (
              <span
                className={`absolute top-0 whitespace-nowrap ${index === days.length - 1 ? "right-0" : index === 0 ? "left-0" : "left-1/2 -translate-x-1/2"}`}
              >
                {dayText.format(new Date(at))}
              </span>
            )}
          </span>
        ))}
      </div>
    </div>
  );
}

function Bar({ day, top }: { day: UsageDay; top: number }) {
  const { total } = day;
  const parts = day.models.filter(({ cost }) => cost > 0).map(({ model, cost }) => `${model} ${costText(cost)}`);
  const missing = total.unpriced > 0 ? [`${counted(total.unpriced, "task")} without a price`] : [];
  const title = [`${dayText.format(new Date(day.at))}: ${costText(total.cost)}`, ...parts, ...missing].join("\n");
  return (
    <span title={visibleText(title)} className="group relative flex h-full min-w-0 flex-1 flex-col justify-end">
      {total.unpriced > 0 && <span className="unpriced mb-px h-1.5 shrink-0 rounded-[2px]" />}
      <span
        className="flex flex-col-reverse overflow-hidden rounded-t-[3px] group-hover:brightness-110"
        style={{ height: `${(total.cost / top) * 100}%` }}
      >
        {day.models.map(({ model, cost }, index) =>
          cost === 0 ? null : (
            <span
              key={model}
              data-series={index}
              className="series min-h-px"
              style={{ flexGrow: cost, flexBasis: 0 }}
            />
          ),
        )}
      </span>
    </span>
  );
}
