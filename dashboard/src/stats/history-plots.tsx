/**
 * The plots of the history: tasks by start time, and the durations of runs. Loaded separately from the page, because
 * only the stats need them. Tables beside them show the same figures.
 */
import { useMemo } from "react";
import uPlot from "uplot";
import type { StatsHistory } from "../../../src/protocol/statistics.ts";
import type { Range } from "./history-ranges.ts";
import { durationLabels, STACK, stacked, startedSeries } from "./history-series.ts";
import { Plot, type PlotOptions } from "./plot.tsx";
import { type PlotColours, usePlotColours } from "./plot-colours.ts";

const FONT = "11px sans-serif";

export function StartedPlot({ history, range }: { history: StatsHistory; range: Range }) {
  const colours = usePlotColours();
  const options = useMemo(() => startedOptions(colours, range), [colours, range]);
  const data = useMemo(() => {
    const series = startedSeries(history);
    return { total: series.total, columns: [series.times, ...stacked(series)] as uPlot.AlignedData };
  }, [history]);
  return (
    <Plot
      label={`${data.total} tasks started in the last ${range.label}, by status`}
      options={options}
      data={data.columns}
    />
  );
}

export function DurationsPlot({ history }: { history: StatsHistory }) {
  const colours = usePlotColours();
  const labels = durationLabels(history).join("|");
  const options = useMemo(() => durationOptions(colours, labels.split("|")), [colours, labels]);
  const data = useMemo(() => {
    const places = history.durations.map((_, index) => index);
    return [places, history.durations.map(({ runs }) => runs)] as uPlot.AlignedData;
  }, [history]);
  const total = history.durations.reduce((sum, { runs }) => sum + runs, 0);
  return <Plot label={`How long ${total} ended runs took`} options={options} data={data} />;
}

function startedOptions(colours: PlotColours, range: Range): PlotOptions {
  const isLong = range.spanMs > 24 * 3_600_000;
  const words = new Intl.DateTimeFormat(
    undefined,
    isLong ? { day: "numeric", month: "short" } : { hour: "2-digit", minute: "2-digit", hourCycle: "h23" },
  );
  const bars = uPlot.paths.bars?.({ size: [0.78, 28], align: 1, radius: 0.08 });
  return {
    legend: { show: false },
    cursor: { show: false },
    padding: [8, 8, 0, 0],
    scales: { x: { time: true, range: (_, from, to) => [from, to + (to - from) / range.buckets] }, y: wholeCounts },
    axes: [
      {
        ...axis(colours),
        grid: { show: false },
        space: 64,
        values: (_, ticks) => ticks.map((tick) => words.format(tick * 1000)),
      },
      countAxis(colours),
    ],
    series: [
      {},
      ...STACK.toReversed().map((status) => ({
        label: status,
        fill: colours.statuses[status],
        width: 0,
        points: { show: false },
        ...(bars && { paths: bars }),
      })),
    ],
  };
}

function durationOptions(colours: PlotColours, labels: readonly string[]): PlotOptions {
  const bars = uPlot.paths.bars?.({ size: [0.7, 56], align: 0, radius: 0.06 });
  return {
    legend: { show: false },
    cursor: { show: false },
    padding: [8, 8, 0, 0],
    scales: { x: { time: false, range: () => [-0.6, labels.length - 0.4] }, y: wholeCounts },
    axes: [
      {
        ...axis(colours),
        grid: { show: false },
        space: 44,
        incrs: [1, 2, 3, 4],
        values: (_, ticks) => ticks.map((tick) => labels[tick] ?? ""),
      },
      countAxis(colours),
    ],
    series: [{}, { fill: colours.accent, width: 0, points: { show: false }, ...(bars && { paths: bars }) }],
  };
}

const wholeCounts: uPlot.Scale = { range: (_, __, most) => [0, Math.max(4, Math.ceil((most ?? 0) * 1.08))] };

function axis(colours: PlotColours): uPlot.Axis {
  return {
    stroke: colours.text,
    font: FONT,
    size: 30,
    ticks: { show: false },
    grid: { stroke: colours.line, width: 1 },
  };
}

function countAxis(colours: PlotColours): uPlot.Axis {
  const compact = new Intl.NumberFormat("en", { notation: "compact" });
  return {
    ...axis(colours),
    size: 44,
    incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000],
    values: (_, ticks) => ticks.map((tick) => compact.format(tick)),
  };
}
