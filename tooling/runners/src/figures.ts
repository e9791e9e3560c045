/** A figure as people read it: three or four significant digits, thousands apart. */
export function figure(value: number | undefined): string {
  if (value === undefined) return "";
  if (!Number.isFinite(value)) return String(value);
  const size = Math.abs(value);
  if (size >= 1000) return Math.round(value).toLocaleString("en-US").replaceAll(",", " ");
  return size >= 100
    ? value.toFixed(0)
    : size >= 10
      ? value.toFixed(1)
      : size >= 0.01 || size === 0
        ? value.toFixed(2)
        : value.toExponential(1);
}
