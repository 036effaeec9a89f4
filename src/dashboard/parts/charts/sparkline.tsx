const WIDTH = 4
const HEIGHT = 20

/** Counts as small bars, oldest first. `label`: what a screen reader hears. */
export function Sparkline({ counts, label }: { counts: readonly number[]; label: string }) {
  const most = Math.max(1, ...counts)
  const bars = counts.map((count, part) => ({
    x: part * WIDTH,
    height: count === 0 ? 1 : Math.max(3, (count / most) * HEIGHT),
    kind: count === 0 ? 'none' : 'failed',
  }))
  return (
    <svg className="spark" role="img" aria-label={label} viewBox={`0 0 ${counts.length * WIDTH} ${HEIGHT}`}>
      <title>{label}</title>
      {bars.map(({ x, height, kind }) => (
        <rect key={x} className={`bar ${kind}`} x={x} y={HEIGHT - height} width={WIDTH - 1} height={height} />
      ))}
    </svg>
  )
}
