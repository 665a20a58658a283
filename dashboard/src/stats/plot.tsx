/**
 * A uPlot chart that fits its width and is recreated when its options change, as with the theme. The data can change
 * without that.
 */
import { useEffect, useRef } from "react";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";

const HEIGHT = 220;

export type PlotOptions = Omit<uPlot.Options, "width" | "height">;

interface PlotProps {
  label: string;
  options: PlotOptions;
  data: uPlot.AlignedData;
}

export function Plot({ label, options, data }: PlotProps) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const newestData = useRef(data);
  newestData.current = data;
  useEffect(() => {
    const element = place.current;
    if (!element) return;
    const made = new uPlot({ ...options, width: element.clientWidth, height: HEIGHT }, newestData.current, element);
    plot.current = made;
    const fit = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height: HEIGHT }));
    fit.observe(element);
    return () => {
      fit.disconnect();
      made.destroy();
      plot.current = null;
    };
  }, [options]);
  useEffect(() => plot.current?.setData(data), [data]);
  return (
    <div ref={place} role="img" aria-label={label} className="min-w-0 overflow-hidden" style={{ height: HEIGHT }} />
  );
}
