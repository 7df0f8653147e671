import { usd } from "../../model/format";
import { Tip } from "../../ui/Tip";

/** US dollars; "≈" if estimated from the price table; "–" if unpriced (never zero). */
export function Cost({ value, estimated }: { value: number | null; estimated: boolean }) {
  if (value === null || value === undefined) return <span className="text-ink2">–</span>;
  if (!estimated) return <span>{usd(value)}</span>;
  return (
    <Tip text="Estimated from the built-in price table: the spans carried no cost of their own.">
      <span className="over-row">≈ {usd(value)}</span>
    </Tip>
  );
}
