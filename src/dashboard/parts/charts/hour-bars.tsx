import { useState } from 'react'
import { Link } from 'wouter'
import { useZone } from '../../state/settings.ts'
import { formatCount } from '../../words/format.ts'
import { ceilingOf, nameHour } from '../../words/hours.ts'

interface Hour {
  at: string
  completed: number
  failed: number
  other: number
}

const HEIGHT = 96
const BAR = 20
const GAP = 4
/** From the bottom of a bar to its top, with their words in the legend. */
const KINDS = [
  ['completed', 'completed'],
  ['other', 'open, skipped or canceled'],
  ['failed', 'failed'],
] as const
const STATES = { completed: 'completed', other: 'idle', failed: 'failed' } as const
/** Every third hour has its name below. */
const NAMED = 3

/** Runs by hour as bars, failures on top. A bar opens the runs of its hour; a table has the numbers. */
export function HourBars({ hours }: { hours: readonly Hour[] }) {
  const [pointed, setPointed] = useState<string | null>(null)
  const { isUtc } = useZone()
  const top = ceilingOf(Math.max(...hours.map(sumOf)))
  const shown = hours.find(({ at }) => at === pointed)
  return (
    <figure className="chart">
      <figcaption className="row small">
        <span>Runs by hour, {isUtc ? 'UTC' : 'local time'}</span>
        <Legend />
        <span className="push pointed">
          {shown ? describe(shown, isUtc) : <span className="quiet">Point at an hour</span>}
        </span>
      </figcaption>
      <div className="plot">
        <ol className="scale quiet small" aria-hidden="true">
          {[top, top / 2, 0].map((count) => (
            <li key={count}>{formatCount(count)}</li>
          ))}
        </ol>
        <nav aria-label="Runs by hour">
          <svg className="hours" viewBox={`0 0 ${hours.length * (BAR + GAP)} ${HEIGHT}`} preserveAspectRatio="none">
            <title>Runs by hour</title>
            {[0, 1, 2].map((line) => (
              <line key={line} className="grid" x2="100%" y1={(line * HEIGHT) / 2} y2={(line * HEIGHT) / 2} />
            ))}
            {hours.map((hour, index) => (
              <Link
                key={hour.at}
                href={linkTo(hour)}
                aria-label={describe(hour, isUtc)}
                onPointerEnter={() => setPointed(hour.at)}
                onPointerLeave={() => setPointed(null)}
                onFocus={() => setPointed(hour.at)}
                onBlur={() => setPointed(null)}
              >
                <rect className="hit" x={index * (BAR + GAP)} width={BAR + GAP} height={HEIGHT} />
                <Stack hour={hour} x={index * (BAR + GAP) + GAP / 2} scale={HEIGHT / top} />
              </Link>
            ))}
          </svg>
        </nav>
        <ol className="hours-named quiet small" aria-hidden="true">
          {hours.map(({ at }, index) => (
            <li key={at}>{index % NAMED === 0 && nameHour(at, isUtc)}</li>
          ))}
        </ol>
      </div>
      <Numbers hours={hours} isUtc={isUtc} />
    </figure>
  )
}

function Legend() {
  return (
    <ul className="legend row">
      {KINDS.map(([kind, words]) => (
        <li key={kind}>
          <svg aria-hidden="true" viewBox="0 0 10 10">
            <rect data-state={STATES[kind]} width="10" height="10" rx="2" />
          </svg>
          {words}
        </li>
      ))}
    </ul>
  )
}

function Stack({ hour, x, scale }: { hour: Hour; x: number; scale: number }) {
  let bottom = HEIGHT
  return KINDS.map(([kind]) => {
    const height = hour[kind] === 0 ? 0 : Math.max(hour[kind] * scale, 1.5)
    bottom -= height
    return <rect key={kind} data-state={STATES[kind]} x={x} y={bottom} width={BAR} height={height} />
  })
}

/** The same numbers for everybody whom a picture does not serve. */
function Numbers({ hours, isUtc }: { hours: readonly Hour[]; isUtc: boolean }) {
  return (
    <details className="small">
      <summary>As a table</summary>
      <table className="numbers">
        <thead>
          <tr>
            <th scope="col">Hour</th>
            {KINDS.map(([kind, words]) => (
              <th key={kind} scope="col" className="number">
                {words}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {hours.map((hour) => (
            <tr key={hour.at}>
              <th scope="row">
                <Link href={linkTo(hour)}>{nameHour(hour.at, isUtc)}</Link>
              </th>
              {KINDS.map(([kind]) => (
                <td key={kind} className="number">
                  {formatCount(hour[kind])}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  )
}

function sumOf({ completed, failed, other }: Hour): number {
  return completed + failed + other
}

function linkTo({ at }: Hour): string {
  const until = new Date(Date.parse(at) + 3_600_000).toISOString()
  return `/runs?since=${encodeURIComponent(at)}&until=${encodeURIComponent(until)}&skipped=shown`
}

function describe({ at, completed, failed, other }: Hour, isUtc: boolean): string {
  const counts = `${formatCount(completed)} completed, ${formatCount(failed)} failed, ${formatCount(other)} other`
  return `${nameHour(at, isUtc)}: ${counts}`
}
