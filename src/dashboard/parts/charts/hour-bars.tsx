import { Link } from 'wouter'
import { formatCount } from '../../words/format.ts'

/** Runs of one hour. */
interface Hour {
  at: string
  completed: number
  failed: number
  other: number
}

const HEIGHT = 56
const BAR = 20
const GAP = 4

/** Runs by hour as bars, failures on top. A bar opens the runs of its hour. */
export function HourBars({ hours }: { hours: readonly Hour[] }) {
  const most = Math.max(1, ...hours.map((hour) => hour.completed + hour.failed + hour.other))
  return (
    <nav aria-label="Runs by hour">
      <svg className="hours" viewBox={`0 0 ${hours.length * (BAR + GAP)} ${HEIGHT}`} preserveAspectRatio="none">
        <title>Runs by hour</title>
        {hours.map((hour, index) => (
          <Link key={hour.at} href={linkTo(hour)} aria-label={describe(hour)}>
            <title>{describe(hour)}</title>
            <rect className="hit" x={index * (BAR + GAP)} width={BAR + GAP} height={HEIGHT} />
            <Stack hour={hour} x={index * (BAR + GAP) + GAP / 2} scale={(HEIGHT - 2) / most} />
          </Link>
        ))}
      </svg>
    </nav>
  )
}

function Stack({ hour, x, scale }: { hour: Hour; x: number; scale: number }) {
  const parts = [
    { kind: 'completed', count: hour.completed },
    { kind: 'open', count: hour.other },
    { kind: 'failed', count: hour.failed },
  ]
  let bottom = HEIGHT
  return parts.map(({ kind, count }) => {
    const height = count === 0 ? 0 : Math.max(count * scale, 1.5)
    bottom -= height
    return <rect key={kind} className={`bar ${kind}`} x={x} y={bottom} width={BAR} height={height} />
  })
}

function linkTo({ at }: Hour): string {
  const until = new Date(Date.parse(at) + 3_600_000).toISOString()
  return `/runs?since=${encodeURIComponent(at)}&until=${encodeURIComponent(until)}`
}

function describe({ at, completed, failed, other }: Hour): string {
  const time = at.slice(11, 16)
  return `${time} UTC: ${formatCount(completed)} completed, ${formatCount(failed)} failed, ${formatCount(other)} other`
}
